// Loads the style sheets in noscript elements of the class, once the page has been drawn.
(function () {
  function add() {
    var found = document.getElementsByClassName('psa_add_styles');
    for (var i = 0; i < found.length; i++) {
      if (found[i].nodeName === 'NOSCRIPT') {
        var sheets = document.createElement('div');
        sheets.innerHTML = found[i].textContent;
        for (var j = 0; j < sheets.childNodes.length; j++) {
          if (sheets.childNodes[j].removeAttribute) {
            sheets.childNodes[j].removeAttribute('id');
          }
        }
        document.body.appendChild(sheets);
      }
    }
  }
  var frame = window.requestAnimationFrame || window.webkitRequestAnimationFrame;
  if (frame) {
    frame(function () {
      window.setTimeout(add, 0);
    });
  } else {
    window.addEventListener('load', add);
  }
})();
