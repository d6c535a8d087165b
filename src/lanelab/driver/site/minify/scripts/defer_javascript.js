// Runs the page's scripts when it has loaded, one after the other, in their order. Until then they are of a type that no
// browser runs. document.write puts its text before the script that writes. Listeners for the page's being ready or loaded
// that these scripts add are called when all of them have run.
(function () {
  var shared = window.pagespeed = window.pagespeed || {};
  var ready = [];
  var loaded = [];
  var queue = [];
  var next = 0;
  var current = null;
  var written = '';
  var state = 'waiting';
  var documentListen = document.addEventListener;
  var windowListen = window.addEventListener;
  var write = document.write;
  var writeln = document.writeln;
  var open = document.open;
  var close = document.close;

  function keep(element, name, listener, capture, listen) {
    if (state !== 'done' && name === 'DOMContentLoaded') {
      ready.push([element, listener]);
    } else if (state !== 'done' && name === 'load' && element === window) {
      loaded.push([element, listener]);
    } else {
      listen.call(element, name, listener, capture);
    }
  }

  function call(listeners) {
    for (var i = 0; i < listeners.length; i++) {
      try {
        var listener = listeners[i][1];
        (listener.handleEvent || listener).call(listener.handleEvent ? listener : listeners[i][0], new Event('load'));
      } catch (error) {
        if (window.console) { console.error(error); }
      }
    }
  }

  function isScript(node) {
    var type = node.getAttribute('type');
    return !type || /^(text|application)\/(x-)?(java|ecma|j|live)script/i.test(type);
  }

  function add(script, at) {
    queue.splice(at, 0, script);
  }

  // What was written goes before the script that wrote it; scripts in it are the next to run.
  function place() {
    if (!written) { return; }
    var holder = document.createElement('div');
    holder.innerHTML = '<div>_</div>' + written;
    holder.removeChild(holder.firstChild);
    written = '';
    var scripts = holder.getElementsByTagName('script');
    for (var i = 0; i < scripts.length; i++) {
      if (isScript(scripts[i])) {
        if (scripts[i].getAttribute('src')) { scripts[i].setAttribute('orig_src', scripts[i].getAttribute('src')); }
        scripts[i].removeAttribute('src');
        scripts[i].setAttribute('type', 'text/psajs');
        add(scripts[i], next + i);
      }
    }
    while (holder.firstChild) { current.parentNode.insertBefore(holder.firstChild, current); }
  }

  function run(script) {
    current = script;
    var real = document.createElement('script');
    real.setAttribute('type', 'text/javascript');
    var source = script.getAttribute('orig_src');
    if (source) {
      real.onload = real.onerror = step;
      real.setAttribute('src', source);
      script.parentNode.insertBefore(real, script);
    } else {
      real.text = script.text;
      script.parentNode.insertBefore(real, script);
      step();
    }
  }

  function step() {
    place();
    if (next < queue.length) {
      next += 1;
      run(queue[next - 1]);
    } else {
      end();
    }
  }

  function end() {
    delete document.readyState;
    document.addEventListener = documentListen;
    window.addEventListener = windowListen;
    document.write = write;
    document.writeln = writeln;
    document.open = open;
    document.close = close;
    call(ready);
    if (document.onreadystatechange) { call([[document, document.onreadystatechange]]); }
    state = 'done';
    call(loaded);
  }

  function begin() {
    state = 'running';
    var scripts = document.getElementsByTagName('script');
    for (var i = 0; i < scripts.length; i++) {
      if (scripts[i].getAttribute('type') === 'text/psajs') { queue.push(scripts[i]); }
    }
    Object.defineProperty(document, 'readyState', { configurable: true, get: function () { return 'loading'; } });
    document.addEventListener = function (name, listener, capture) {
      keep(document, name, listener, capture, documentListen);
    };
    window.addEventListener = function (name, listener, capture) {
      keep(window, name, listener, capture, windowListen);
    };
    document.write = function (text) { written += text; };
    document.writeln = function (text) { written += text + '\n'; };
    document.open = document.close = function () {};
    step();
  }

  shared.deferJs = {
    addOnloadListeners: function (element, listener) {
      if (state === 'done') { listener.call(element); } else { loaded.push([element, listener]); }
    }
  };
  windowListen.call(window, 'load', begin, false);
})();
