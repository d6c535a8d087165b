(() => {
  // Most of the page is within noscript: text to a browser with script, so that the page opens at once. It becomes
  // part of the page when somebody opens what it is in.
  const place = (within) => {
    for (const held of [...within.querySelectorAll(":scope > noscript")]) {
      const made = document.createElement("template");
      made.innerHTML = held.textContent;
      const part = document.createElement("div");
      part.append(made.content);
      held.replaceWith(part);
      part.dispatchEvent(new CustomEvent("placed", { bubbles: true }));
    }
  };
  addEventListener("toggle", (event) => {
    if (event.target.open) place(event.target);
  }, true);
  for (const open of document.querySelectorAll("details[open]")) place(open);

  // A point shows its cell below the chart. The script of all reports opens what other links lead to.
  const pick = (link) => {
    const cell = document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)));
    const panel = link.closest("figure").querySelector(".picked");
    if (!cell || !panel) return false;
    place(cell);
    const title = document.createElement("h4"), close = document.createElement("button");
    title.textContent = cell.querySelector("summary").textContent;
    close.textContent = "Close";
    close.type = "button";
    close.addEventListener("click", () => { panel.hidden = true; panel.replaceChildren(); });
    const parts = [...cell.children].filter((part) => !part.matches("summary")).map((part) => part.cloneNode(true));
    for (const scale of parts.flatMap((part) => [...part.querySelectorAll(".scale")])) scale.remove();
    panel.replaceChildren(close, title, ...parts);
    panel.hidden = false;
    panel.dispatchEvent(new CustomEvent("placed", { bubbles: true }));
    panel.scrollIntoView({ block: "nearest" });
    return true;
  };
  const links = document.querySelectorAll("figure svg a[href^='#']");
  for (const link of links) link.setAttribute("tabindex", "-1"); // arrow keys go through the marks of a chart
  addEventListener("click", (event) => {
    const link = event.target.closest?.("figure svg a[href^='#']");
    if (link && pick(link)) event.preventDefault();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches?.("svg[tabindex]")) return;
    const link = event.target.querySelector(".marked")?.closest("a[href^='#']");
    if (link) pick(link);
  });
})();
