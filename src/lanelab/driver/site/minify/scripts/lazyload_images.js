// Loads an image when it comes into view. Each <img> has its address in pagespeed_lazy_src, a blank image in its place,
// and asks here when that blank image has loaded.
(function () {
  var shared = window.pagespeed = window.pagespeed || {};
  var waiting = [];
  var blank = '';

  function isVisible(image) {
    if (window.getComputedStyle && window.getComputedStyle(image, null).getPropertyValue('position') === 'relative') {
      return true;
    }
    var height = window.innerHeight || document.documentElement.clientHeight;
    var place = image.getBoundingClientRect();
    return place.top <= height && place.bottom >= 0;
  }

  function consider(image, always) {
    window.setTimeout(function () {
      var source = image.getAttribute('pagespeed_lazy_src');
      if (source === null) {
        return;
      }
      if ((always || isVisible(image)) && image.src === blank) {
        image.src = source;
        image.removeAttribute('pagespeed_lazy_src');
      } else {
        waiting.push(image);
      }
    }, 100);
  }

  function considerAll(always) {
    var images = waiting;
    waiting = [];
    for (var i = 0; i < images.length; i++) {
      consider(images[i], always);
    }
  }

  shared.lazyLoadImages = {
    loadIfVisible: function (image) { consider(image, false); },
    loadAllImages: function () { considerAll(true); }
  };
  shared.lazyLoadInit = function (afterLoad, blankImage) {
    blank = blankImage;
    window.addEventListener('load', function () {
      window.setTimeout(function () { considerAll(afterLoad); }, 200);
    }, false);
    if (!afterLoad) {
      window.addEventListener('scroll', function () { considerAll(false); }, false);
    }
  };
})();
