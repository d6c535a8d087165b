"use strict";
(() => {
  // A pair of loads on one clock: what had come, and what was to be seen, at a moment. Nothing moves by itself.
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const prepare = (stage) => {
    const [play, moment, said, speed] = ["button", "input", "output", "select"].map((name) => stage.querySelector(`.controls ${name}`));
    const end = Number(stage.dataset.end), scale = Number(stage.querySelector("[data-scale]")?.dataset.scale ?? end);
    const lanes = [...stage.querySelectorAll("[data-done]")];
    let frame = 0, last = 0, at = end;
    const show = () => {
      const done = at >= end;
      stage.toggleAttribute("data-busy", !done);
      stage.style.setProperty("--now", done ? 1 : at / scale);
      moment.value = at;
      said.textContent = said.dataset.words.replace("{ms}", Math.round(at).toLocaleString(document.documentElement.lang));
      moment.setAttribute("aria-valuetext", said.textContent);
      for (const lane of lanes) {
        const lap = lane.querySelector(".lap"), pictures = [...lane.querySelectorAll(".screen img")];
        const is_loaded = at >= Number(lane.dataset.done);
        lap.textContent = is_loaded ? lap.dataset.loaded : lap.dataset.loading;
        lap.classList.toggle("good", is_loaded);
        const seen = pictures.findLast((picture) => Number(picture.dataset.at) <= at) ?? pictures[0];
        for (const picture of pictures) picture.hidden = picture !== seen;
      }
    };
    const name = () => { play.textContent = frame ? play.dataset.pause : play.dataset.play; };
    const pause = () => { cancelAnimationFrame(frame); frame = 0; name(); };
    const step = (now) => {
      if (!stage.isConnected) return;
      at = Math.min(end, at + (now - last) * Number(speed.value));
      last = now;
      show();
      if (at >= end) return pause();
      frame = requestAnimationFrame(step);
    };
    play.addEventListener("click", () => {
      if (frame) return pause();
      if (at >= end) at = 0;
      last = performance.now();
      frame = requestAnimationFrame(step);
      name();
    });
    moment.addEventListener("input", () => { pause(); at = Number(moment.value); show(); });
    // Who asked for less motion moves the clock by hand.
    const obey = () => { play.hidden = speed.parentNode.hidden = calm.matches; if (calm.matches) pause(); };
    calm.addEventListener("change", obey);
    obey();
    for (const each of stage.querySelectorAll(".controls, .screen")) each.hidden = false;
    show();
  };
  const all = (within) => { for (const stage of within.querySelectorAll(".replay")) prepare(stage); };
  addEventListener("placed", (event) => all(event.target));
  all(document);
})();
