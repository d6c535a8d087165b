"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Text about what is under the pointer, the finger or the keyboard's mark.
  const tip = document.createElement("div");
  Object.assign(tip, { id: "tip", hidden: true });
  tip.setAttribute("role", "status");
  document.body.append(tip);
  const words = (mark) => mark.querySelector(":scope > title")?.textContent ?? mark.dataset.tip ?? "";
  const hide = () => {
    tip.hidden = true;
    for (const mark of all(".marked")) mark.classList.remove("marked");
  };
  const show = (mark) => {
    hide();
    tip.textContent = words(mark);
    tip.hidden = !tip.textContent;
    mark.classList.add("marked");
    const box = mark.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left), innerWidth - tip.offsetWidth - 8);
    const below = box.bottom + tip.offsetHeight + 12 < innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? box.bottom + 6 : Math.max(8, box.top - tip.offsetHeight - 6)}px`;
  };
  const marks = (svg) => all("title", svg).map((title) => title.parentNode).filter((mark) => words(mark));
  const prepare = (within) => {
    for (const svg of all("svg", within)) if (marks(svg).length) svg.tabIndex = 0;
    for (const cell of all("td[title], span[title]", within)) {
      cell.dataset.tip = cell.title;
      cell.tabIndex = 0;
    }
  };
  prepare(document);
  // What a page puts in its place later.
  addEventListener("placed", (event) => { prepare(event.target); scalable(event.target); });
  addEventListener("click", (event) => {
    const mark = event.target.closest?.("[data-tip]") ?? marked(event.target);
    if (mark) show(mark); else hide();
  });
  const marked = (node) => {
    for (; node instanceof Element && node.closest("svg"); node = node.parentNode) if (words(node)) return node;
    return null;
  };
  addEventListener("focusin", (event) => {
    if (!event.target.matches?.(":focus-visible")) return;
    if (event.target.dataset.tip) show(event.target);
    else if (event.target.matches("svg")) show(marks(event.target)[0]);
  });
  addEventListener("focusout", hide);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") return hide();
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key];
    if (!step || !event.target.matches?.("svg[tabindex]")) return;
    event.preventDefault();
    const list = marks(event.target), at = list.findIndex((mark) => mark.classList.contains("marked"));
    const next = list[Math.min(list.length - 1, Math.max(0, at + step))];
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    show(next);
  });
  addEventListener("scroll", () => { if (!tip.hidden && !document.activeElement?.matches("svg[tabindex]")) hide(); });

  // A drawing on a scale of its own: `end` ms over the whole width.
  const scaleTo = (load, end) => load.style.setProperty("--zoom", load.dataset.scale / end);
  const scalable = (within) => { for (const load of all(".trial .load", within)) {
    if (load.dataset.end > load.dataset.scale / 2 || $(".scale", load)) continue;
    const button = document.createElement("button");
    let own = false;
    const label = () => { button.textContent = own ? "Scale of all" : "Scale of its own"; };
    button.className = "scale";
    button.addEventListener("click", () => {
      own = !own;
      scaleTo(load, own ? load.dataset.end * 1.02 : load.dataset.scale);
      label();
    });
    label();
    $(".key", load).append(button);
  } };
  scalable(document);

  // Packets over time: nearer and farther; the drawing scrolls.
  for (const plot of all(".zooming")) {
    let zoom = 1;
    for (const [name, words, factor] of [["+", "Nearer", 2], ["\u2212", "Farther", 0.5]]) {
      const button = document.createElement("button");
      button.className = "scale";
      button.textContent = name;
      button.ariaLabel = words;
      button.addEventListener("click", () => {
        const middle = (plot.scrollLeft + plot.clientWidth / 2) / plot.scrollWidth;
        zoom = Math.min(32, Math.max(1, zoom * factor));
        plot.style.setProperty("--zoom", zoom);
        plot.scrollLeft = middle * plot.scrollWidth - plot.clientWidth / 2;
      });
      $("figcaption", plot.parentNode).append(" ", button);
    }
  }

  // Any two, side by side, on the scale of the longer one.
  const chooser = $(".chooser");
  if (chooser) {
    const pair = $(".pair"), reveal = $(".reveal");
    const fill = () => {
      const chosen = [chooser.one, chooser.other].map((select) => document.getElementById(select.value));
      const end = Math.max(...chosen.map((trial) => Number($(".load", trial).dataset.end))) * 1.02;
      pair.replaceChildren(...chosen.map((trial) => {
        const column = document.createElement("div"), title = document.createElement("h3");
        title.textContent = trial.dataset.title;
        const load = $(".load", trial).cloneNode(true);
        $(".scale", load)?.remove();
        scaleTo(load, end);
        column.append(title, load);
        return column;
      }));
      prepare(pair);
      reveal.open = false;
      $("ul", reveal).replaceChildren(...chosen.map((trial) => {
        const item = document.createElement("li");
        item.textContent = trial.dataset.said;
        return item;
      }));
    };
    const options = [...chooser.one.options], link = options.at(-1).text.split(", ").slice(0, -1).join();
    const own = options.findIndex((option) => option.text.split(", ").slice(0, -1).join() === link);
    chooser.one.selectedIndex = own < options.length - 1 ? own : 0;
    chooser.other.selectedIndex = options.length - 1;
    chooser.addEventListener("change", fill);
    chooser.addEventListener("submit", (event) => event.preventDefault());
    chooser.hidden = reveal.hidden = false;
    $(".without").hidden = true;
    fill();
  }

  // Teachers: what came out is hidden until it is asked for. A link that ends in #predict begins so.
  const button = $("#predict");
  if (button) {
    const label = () => {
      button.textContent = document.body.classList.contains("predicting") ? "Reveal the results" : "Predict first: hide the results";
    };
    button.addEventListener("click", () => { document.body.classList.toggle("predicting"); label(); });
    document.body.classList.toggle("predicting", location.hash === "#predict");
    button.hidden = false;
    label();
  }

  // A link to something folded opens it.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let node = target; node; node = node.parentElement) if (node.matches("details")) node.open = true;
    if (target && target.matches("details")) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
