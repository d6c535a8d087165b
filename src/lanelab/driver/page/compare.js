"use strict";
(() => {
  // Two loads: their pictures one over the other, and the same request in both drawings.
  const overlay = document.querySelector("#overlay");
  if (overlay) {
    const [opacity, moment, at] = [".opacity", ".moment", ".at"].map((name) => overlay.querySelector(name));
    const show = () => {
      for (const over of overlay.querySelectorAll(".over")) over.style.opacity = opacity.value / 100;
      opacity.setAttribute("aria-valuetext", `${opacity.value}%`);
      if (!moment) return;
      at.textContent = `${Number(moment.value).toLocaleString(document.documentElement.lang)} ms`;
      moment.setAttribute("aria-valuetext", at.textContent);
      for (const layer of overlay.querySelectorAll(".under, .over")) {
        const frames = [...layer.querySelectorAll("img[data-at]")];
        const shown = frames.findLast((frame) => Number(frame.dataset.at) <= moment.value) ?? frames[0];
        for (const frame of frames) frame.hidden = frame !== shown;
      }
    };
    opacity.addEventListener("input", show);
    moment?.addEventListener("input", show);
    overlay.hidden = false;
    show();
  }

  const loads = [...document.querySelectorAll("#loads .load")], both = document.querySelector("#request");
  if (loads.length !== 2 || !both) return;
  document.querySelector("#keys").hidden = false;
  const title = (mark) => mark.querySelector(":scope > title").textContent;
  // The first time that an address is asked for, the second, ... A request has its address first in its title.
  const requests = loads.map((load) => {
    const often = new Map(), named = new Map();
    for (const words of load.querySelectorAll(".panel:not(.head, .strip, .axis) g > title")) {
      const address = words.textContent.split("; ")[0];
      if (!address.includes("://")) continue;
      often.set(address, (often.get(address) ?? 0) + 1);
      named.set(`${often.get(address)} ${address}`, words.parentNode);
    }
    return named;
  });
  const names = [...new Set([...requests[0].keys(), ...requests[1].keys()])];
  let at = -1;
  const show = () => {
    for (const mark of document.querySelectorAll("#loads .together")) mark.classList.remove("together");
    both.replaceChildren(...requests.map((named, side) => {
      const line = document.createElement("p"), mark = named.get(names[at]), arm = document.createElement("b");
      arm.textContent = `${loads[side].parentNode.querySelector("h3").textContent}: `;
      mark?.classList.add("together");
      line.append(arm, mark ? title(mark) : both.dataset.none);
      return line;
    }));
    const mark = requests[0].get(names[at]) ?? requests[1].get(names[at]);
    const fold = mark.closest("details");
    if (fold) fold.open = true;
    mark.scrollIntoView({ block: "center", inline: "nearest" });
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches?.("input, select, textarea")) return;
    const arrow = event.target.closest?.("#loads svg");
    const step = { j: 1, k: -1, ...(arrow ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
    if (!step || !names.length) return;
    event.preventDefault();
    event.stopPropagation();
    at = Math.min(names.length - 1, Math.max(0, at + step));
    show();
  }, true);
  addEventListener("keydown", (event) => { if (event.key === "Escape") both.replaceChildren(); });
})();
