// Asks a page, after its load, what the browser kept of it by itself: entries of its performance timeline. Evaluated in
// a world of our own, where the page's scripts can neither see nor change it; nothing of it is there during the load.
// docs/reference/vitals.md says what is made of it.
(() => {
  "use strict";
  const MOST_TEXT = 80;
  const MOST_URL = 300;
  const LEAST_EVENT_MS = 16; // shorter ones the browser does not tell, except of the first interaction
  const LOOK_EVERY_MS = 20;
  const TOLD_AFTER_MS = 250; // entries of events come when their frame was shown, a few frames later on a busy machine
  const round = (number) => Math.round(number * 1000) / 1000;
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve()));
  const known = (type) => PerformanceObserver.supportedEntryTypes.includes(type);

  const described = (node) => {
    const element = node && node.nodeType !== Node.ELEMENT_NODE ? node.parentElement : node;
    if (!element) return null;
    const classes = [...element.classList].map((name) => `.${name}`).join("");
    return cut(element.localName + (element.id ? `#${element.id}` : "") + classes, MOST_TEXT);
  };
  const text = (element) => {
    const words = (element?.textContent ?? "").replace(/\s+/g, " ").trim();
    return words ? cut(words, MOST_TEXT) : null;
  };

  // Every kept entry of this type, and how many the browser had no room for: it only tells those that it calls back.
  const kept = async (type) => {
    if (!known(type)) return null;
    const taking = new PerformanceObserver(() => {});
    taking.observe({ type, buffered: true });
    const entries = taking.takeRecords();
    taking.disconnect();
    const dropped = await new Promise((resolve) => {
      if (!entries.length) return resolve(0);
      const counting = new PerformanceObserver((list, observer, options) => {
        counting.disconnect();
        resolve(options?.droppedEntriesCount ?? 0);
      });
      counting.observe({ type, buffered: true });
    });
    return { entries, dropped };
  };
  const told = async (type, form) => {
    const found = await kept(type);
    return found && { dropped: found.dropped, entries: found.entries.map(form) };
  };

  const read = async (after_ms) => {
    const loaded = performance.getEntriesByType("navigation")[0].loadEventEnd;
    const wait = loaded + after_ms - performance.now();
    if (wait > 0) await sleep(wait);
    await sleep(0);
    const painted = performance.getEntriesByType("paint").find((each) => each.name === "first-contentful-paint");
    return {
      loaded_ms: round(loaded),
      fcp_ms: painted ? round(painted.startTime) : null,
      shifts: await told("layout-shift", (each) => ({
        at_ms: round(each.startTime),
        value: each.value,
        after_input: each.hadRecentInput,
        moved: each.sources.map((source) => described(source.node)).filter((name) => name),
      })),
      paints: await told("largest-contentful-paint", (each) => ({
        at_ms: round(each.startTime),
        size: each.size,
        element: described(each.element),
        tag: each.element?.localName ?? null,
        url: each.url ? cut(each.url, MOST_URL) : null,
        text: each.url ? null : text(each.element),
      })),
      tasks: await told("longtask", (each) => ({
        from_ms: round(each.startTime),
        to_ms: round(each.startTime + each.duration),
      })),
    };
  };

  let heard = [];
  let hearing = [];
  const listen = () => {
    heard = [];
    for (const type of ["event", "first-input"]) {
      const observer = new PerformanceObserver((list) => heard.push(...list.getEntries()));
      observer.observe({ type, durationThreshold: LEAST_EVENT_MS });
      hearing.push(observer);
    }
  };

  // Where to click, and from then on what the browser says of events.
  const aim = async (selector) => {
    let found;
    try {
      found = document.querySelectorAll(selector);
    } catch (error) {
      return { problem: "is no CSS selector" };
    }
    if (!found.length) return { problem: "matches no element of the page" };
    const element = found[0];
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    await frame();
    const [wide, high] = [document.documentElement.clientWidth, window.innerHeight];
    const boxes = [...element.getClientRects()].map((box) => ({
      left: Math.max(box.left, 0),
      top: Math.max(box.top, 0),
      right: Math.min(box.right, wide),
      bottom: Math.min(box.bottom, high),
    }));
    const box = boxes.find((each) => each.right - each.left >= 1 && each.bottom - each.top >= 1);
    if (!box) return { problem: `matches ${described(element)}, which is not to be seen` };
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    const hit = document.elementFromPoint(x, y);
    if (!element.contains(hit))
      return { problem: `matches ${described(element)}, but ${described(hit) ?? "nothing"} is what a click there meets` };
    if (!known("event") || !("interactionId" in PerformanceEventTiming.prototype)) return { untold: true };
    listen();
    return { x, y, element: described(element), matched: found.length };
  };

  const answer = async (within_ms) => {
    const until = performance.now() + within_ms;
    const take = () => hearing.forEach((observer) => heard.push(...observer.takeRecords()));
    while (!heard.some((each) => each.interactionId) && performance.now() < until) {
      await sleep(LOOK_EVERY_MS);
      take();
    }
    await frame();
    await frame();
    await sleep(TOLD_AFTER_MS);
    take();
    hearing.forEach((observer) => observer.disconnect());
    hearing = [];
    return heard
      .filter((each) => each.interactionId)
      .map((each) => ({
        name: each.name,
        first: each.entryType === "first-input",
        interaction: each.interactionId,
        at_ms: round(each.startTime),
        begun_ms: round(each.processingStart),
        done_ms: round(each.processingEnd),
        duration_ms: each.duration,
      }));
  };

  globalThis.lanelab_vitals = { read, aim, answer };
})();
