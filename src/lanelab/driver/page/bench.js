"use strict";
(() => {
  // The bench: a slider beside each number; what is drawn is asked for again when one moves or something was measured.
  const form = document.querySelector("#bench");
  if (!form) return;
  const at = document.querySelector("#at");
  let waiting = 0;
  const place = (text, parts) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const id of parts) {
      const old = document.getElementById(id), part = page.getElementById(id);
      if (old && part) old.replaceWith(part);
      else if (old) old.remove();
      else if (part) document.querySelector("main").append(part);
      part?.dispatchEvent(new Event("placed", { bubbles: true }));
    }
    const latest = document.querySelector("#latest"), words = page.querySelector("#latest")?.textContent ?? "";
    if (latest.textContent !== words) latest.textContent = words;  // it is read aloud where its words change
    if (!at.hasAttribute("data-busy")) at.textContent = page.querySelector("#at")?.textContent ?? "";
  };
  const PARTS = ["refusal", "curve", "commands", "tested"];
  const query = () => new URLSearchParams(new FormData(form)).toString();
  const show = async () => {
    const wanted = query();
    history.replaceState(null, "", `?${wanted}`);
    const answer = await fetch(`?${wanted}`);
    if (wanted === query()) place(await answer.text(), PARTS);
  };
  // While something is measured nothing is drawn: it is asked for when that has ended.
  const soon = () => { clearTimeout(waiting); if (!at.hasAttribute("data-busy")) waiting = setTimeout(show, 150); };
  for (const dial of form.querySelectorAll(".dial")) {
    const [slider, number] = ["[type=range]", "[type=number]"].map((kind) => dial.querySelector(kind));
    slider.hidden = false;
    slider.addEventListener("input", () => { number.value = slider.value; soon(); });
    number.addEventListener("input", () => { slider.value = number.value; soon(); });
  }
  form.addEventListener("change", (event) => { if (event.target.matches("select")) soon(); });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!event.submitter?.matches(".measure")) return show();
    if (at.hasAttribute("data-busy")) return;
    at.toggleAttribute("data-busy", true);
    const answer = await fetch("./", { method: "POST", body: new URLSearchParams(new FormData(form)) });
    at.toggleAttribute("data-busy", answer.ok);
    place(await answer.text(), PARTS);
  });
  const news = new EventSource("changes");
  news.addEventListener("state", (event) => {
    at.toggleAttribute("data-busy", Boolean(event.data));
    at.textContent = event.data || at.dataset.kept;
    if (!event.data) soon();
  });
  news.addEventListener("changed", show);
})();
