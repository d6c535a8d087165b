// Asks a page what the browser kept of it by itself: entries of its performance timeline. After a load, or at both ends of
// a step of a journey. Evaluated in a world of our own, where the page's scripts can neither see nor change it; nothing of
// it is there during a load. docs/reference/vitals.md says what is made of it.
(() => {
  "use strict";
  if (globalThis.lanelab_vitals) return; // the world of a page is asked more than once
  const MOST_TEXT = 80;
  const MOST_URL = 300;
  const LEAST_EVENT_MS = 16; // shorter ones the browser does not tell, except of the first interaction
  const OF_INTERACTIONS = ["keydown", "keyup", "pointerdown", "pointerup", "click"];
  const LOOK_EVERY_MS = 20;
  const TOLD_AFTER_MS = 250; // entries of events come when their frame was shown, a few frames later on a busy machine
  const SAME_MS = 1; // the origins of two documents are further apart
  const OLDER_MS = 50; // a document that began so long before a step is not of it; clocks of processes are closer
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
  // What was painted, of an entry that has it.
  const painted = (paint) => ({
    size: paint.size,
    element: described(paint.element),
    tag: paint.element?.localName ?? null,
    url: paint.url ? cut(paint.url, MOST_URL) : null,
    text: paint.url ? null : text(paint.element),
  });

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

  // What there is when `after_ms` have gone since what is watched ended.
  const watch = async (ended, after_ms) => {
    const wait = ended + after_ms - performance.now();
    if (wait > 0) await sleep(wait);
    await sleep(0);
    const first = performance.getEntriesByType("paint").find((each) => each.name === "first-contentful-paint");
    return {
      loaded_ms: round(ended),
      fcp_ms: first ? round(first.startTime) : null,
      shifts: await told("layout-shift", (each) => ({
        at_ms: round(each.startTime),
        value: each.value,
        after_input: each.hadRecentInput,
        moved: each.sources.map((source) => described(source.node)).filter((name) => name),
      })),
      paints: await told("largest-contentful-paint", (each) => ({ at_ms: round(each.startTime), ...painted(each) })),
      tasks: await told("longtask", (each) => ({
        from_ms: round(each.startTime),
        to_ms: round(each.startTime + each.duration),
      })),
    };
  };
  const load_ended = () => performance.getEntriesByType("navigation")[0].loadEventEnd;
  const read = (after_ms) => watch(load_ended(), after_ms);

  // Changes of the address without a load, as the browser reports them, and what was painted after the input of each.
  // Entries tell their times from that input.
  const soft = async () => ({
    navigations: await told("soft-navigation", (each) => ({
      at_ms: round(each.startTime),
      interaction: each.interactionId || null, // 0 is of no interaction
      url: cut(each.name, MOST_URL),
      kind: each.navigationType ?? null,
      fcp_ms: each.duration > 0 ? round(each.duration) : null,
    })),
    paints: await told("interaction-contentful-paint", (each) => ({
      at_ms: round(each.startTime + each.duration),
      interaction: each.interactionId || null,
      ...painted(each.largestContentfulPaint ?? each),
    })),
  });

  // Keys that were pressed and pointers that were lifted in this document: each is an interaction, also where it was
  // shown too soon to be told. null: the browser does not count events.
  const inputs = () =>
    performance.eventCounts
      ? (performance.eventCounts.get("pointerup") ?? 0) + (performance.eventCounts.get("keydown") ?? 0)
      : null;

  let heard = [];
  let hearing = [];
  let inputs_before = null; // when it began to listen
  const take = () => hearing.forEach((observer) => heard.push(...observer.takeRecords()));
  const deafen = () => {
    hearing.forEach((observer) => observer.disconnect());
    hearing = [];
  };
  const listen = () => {
    deafen();
    heard = [];
    inputs_before = inputs();
    for (const type of ["event", "first-input"]) {
      const observer = new PerformanceObserver((list) => heard.push(...list.getEntries()));
      observer.observe({ type, durationThreshold: LEAST_EVENT_MS });
      hearing.push(observer);
    }
  };
  // The events of interactions since `listen`, when `wait_ms` have gone in which they may still be told.
  const events = async (wait_ms) => {
    await frame();
    await frame();
    await sleep(wait_ms);
    take();
    deafen();
    return heard
      .filter((each) => each.interactionId)
      .map((each) => ({
        name: each.name,
        first: each.entryType === "first-input",
        interaction: each.interactionId,
        element: described(each.target),
        at_ms: round(each.startTime),
        begun_ms: round(each.processingStart),
        done_ms: round(each.processingEnd),
        duration_ms: each.duration,
      }));
  };
  // Slow events of input that the browser says are of no interaction: as of a touch that was cancelled, in some versions
  // of keys that compose a character, or where it does not know yet.
  const unnumbered = () =>
    heard.filter(
      (each) =>
        each.entryType === "event" &&
        !each.interactionId &&
        each.duration >= LEAST_EVENT_MS &&
        OF_INTERACTIONS.includes(each.name),
    ).length;
  const tells_interactions = () => known("event") && "interactionId" in PerformanceEventTiming.prototype;

  // A step begins: which document is there, and when that is by its clock.
  const begin = (hears) => {
    if (hears && tells_interactions()) listen();
    return { origin: performance.timeOrigin, at_ms: performance.now() };
  };
  // A step has ended, in this document. `begun`: what `begin` said, maybe in another one. One that was there before the step
  // counts from the step's begin, a new one from its own.
  const end = async (begun, after_ms, until_load) => {
    const since = begun ? begun.origin + begun.at_ms - performance.timeOrigin : 0;
    const same = begun !== null && Math.abs(begun.origin - performance.timeOrigin) < SAME_MS;
    const since_ms = same || since > OLDER_MS ? since : 0;
    const ended = until_load && since_ms === 0 ? load_ended() : performance.now();
    return { ...(await watch(ended, after_ms)), since_ms: round(since_ms), same, soft: await soft() };
  };
  const interactions = async (after_ms) => {
    if (!tells_interactions()) return null;
    const told = await events(Math.max(0, TOLD_AFTER_MS - after_ms));
    const counted = inputs_before === null ? null : inputs() - inputs_before;
    return { inputs: counted, unnumbered: unnumbered(), events: told };
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
    if (!tells_interactions()) return { untold: true };
    listen();
    return { x, y, element: described(element), matched: found.length };
  };

  const answer = async (within_ms) => {
    const until = performance.now() + within_ms;
    while (!heard.some((each) => each.interactionId) && performance.now() < until) {
      await sleep(LOOK_EVERY_MS);
      take();
    }
    return events(TOLD_AFTER_MS);
  };

  globalThis.lanelab_vitals = { read, aim, answer, begin, end, interactions };
})();
