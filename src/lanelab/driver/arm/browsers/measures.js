// What a page says of its load, for each browser that can evaluate a script in it: calls `done` with it, once, when what
// was painted by then is known, or after `limit_ms`. Two frames are drawn, and the browser has said when content was on
// screen for the first time: it says so when the screen does, which may be after these frames.
(limit_ms, done) => {
  const plain = entry => entry && entry.toJSON();
  // How wide the page believes its window to be. On a phone a page that is wider than its screen widens `innerWidth`;
  // elsewhere the visual viewport lacks the scroll bar.
  const width = () => {
    const seen = window.visualViewport;
    if (!seen) return innerWidth;
    return (navigator.maxTouchPoints > 0 ? seen.width : innerWidth) * seen.scale;
  };
  const tell = () => {
    const paints = Object.fromEntries(performance.getEntriesByType('paint').map(e => [e.name, e.startTime]));
    let largest = null;
    try {
      const observer = new PerformanceObserver(() => {});
      observer.observe({type: 'largest-contentful-paint', buffered: true});
      for (const e of observer.takeRecords()) largest = e.startTime;
      observer.disconnect();
    } catch (error) {}
    done({navigation: plain(performance.getEntriesByType('navigation')[0]), paints, largest,
          view: {width: Math.round(width()), pixel_ratio: devicePixelRatio, touch_points: navigator.maxTouchPoints},
          origin: performance.timeOrigin, user_agent: navigator.userAgent, url: location.href});
  };
  let drawn = false, told = false;
  const painted = () => performance.getEntriesByName('first-contentful-paint').length > 0;
  const once = () => { if (!told) { told = true; observer.disconnect(); tell(); } };
  const when_known = () => { if (drawn && painted()) once(); };
  const observer = new PerformanceObserver(when_known);
  observer.observe({type: 'paint', buffered: true});
  setTimeout(once, limit_ms);
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { drawn = true; when_known(); }, 0)));
}
