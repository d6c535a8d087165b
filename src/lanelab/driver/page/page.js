"use strict";
(() => {
  // News of a run: the page is asked for again, and its parts are put in place of the old ones. What a reader has
  // opened or marked stays as it is.
  const main = document.querySelector("main[data-changes]");
  if (!main) return;
  const place = async () => {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of page.querySelectorAll("main > [id]")) {
      const old = document.getElementById(part.id);
      if (!old) main.append(part);
      else if (old.outerHTML !== part.outerHTML && !old.querySelector("details[open]") && !old.contains(document.activeElement)) old.replaceWith(part);
    }
    if (!page.querySelector("main[data-changes]")) news.close();
  };
  const news = new EventSource(main.dataset.changes);
  news.addEventListener("changed", place);
})();
