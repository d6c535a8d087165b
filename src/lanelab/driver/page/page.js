"use strict";
(() => {
  // News of a run: the page is asked for again, and its parts are put in place of the old ones. What a reader has
  // opened or marked stays as it is.
  const main = document.querySelector("main[data-changes]");
  if (!main) return;
  const lost = document.querySelector("#lost");
  let under_way = false, again = false;
  const place = async () => {
    if (under_way) { again = true; return; }
    under_way = true;
    try {
      const answer = await fetch(location.href);
      lost.hidden = answer.ok;
      if (!answer.ok) { news.close(); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const ids = new Set([...page.querySelectorAll("[id]")].map((each) => each.id));  // before they are moved here
      let before = null;
      for (const part of page.querySelectorAll("main > [id]")) {
        const old = document.getElementById(part.id);
        const stays = old && (old.outerHTML === part.outerHTML || old.querySelector("details[open]") || old.querySelector("[data-busy]") || old.contains(document.activeElement));
        if (old?.role === "status") old.textContent = part.textContent;  // it is read aloud where its words change
        else if (!stays) { if (old) old.replaceWith(part); else if (before) before.after(part); else main.append(part); part.dispatchEvent(new Event("placed", { bubbles: true })); }
        before = document.getElementById(part.id);
      }
      for (const old of [...main.children]) if (old.id && !ids.has(old.id)) old.remove();
      if (!page.querySelector("main[data-changes]")) news.close();
    } catch { lost.hidden = false; }
    under_way = false;
    if (again) { again = false; place(); }
  };
  const news = new EventSource(main.dataset.changes);
  news.addEventListener("changed", place);
  news.addEventListener("now", event => { const line = document.querySelector("#now-line"); if (line) line.textContent = event.data; });
  news.addEventListener("error", () => { lost.hidden = news.readyState === EventSource.OPEN; });
  news.addEventListener("open", () => { if (!lost.hidden) place(); });
})();
