// Puts the real images in place of their previews.
(function () {
  var images = document.getElementsByTagName('img');
  for (var i = 0; i < images.length; i++) {
    var source = images[i].getAttribute('pagespeed_high_res_src');
    if (source) {
      images[i].setAttribute('src', source);
    }
  }
})();
