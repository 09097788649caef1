// The report's only script. Without it everything can be read; with it: tips, copies, the theme, texts of the map.
"use strict";
(() => {
  const root = document.documentElement;
  const all = (what, where = document) => Array.from(where.querySelectorAll(what));

  for (const button of all("[data-copy], [data-theme-switch], [data-unfold]")) button.hidden = false;
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-switch]")) return;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // Copies: the text stands in the template after the button.
  const fallback = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("readonly", "");
    area.className = "copying";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = button.nextElementSibling.content.textContent;
    const said = button.textContent;
    let done = true;
    try { await navigator.clipboard.writeText(text); } catch { done = fallback(text); }
    button.textContent = done ? "Copied" : "Could not copy";
    setTimeout(() => { button.textContent = said; }, 1500);
  });

  // Tips: at once and where one points, in place of the browser's own, which come late.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  let held = null;
  const place = (event) => {
    const wide = tip.offsetWidth, tall = tip.offsetHeight;
    const x = Math.min(event.clientX + 14, innerWidth - wide - 8), y = event.clientY + 18;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${y + tall > innerHeight ? event.clientY - tall - 10 : y}px`;
  };
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest ? event.target.closest("svg .mark") : null;
    if (mark !== held) {
      held = mark;
      if (mark && !mark.dataset.tip) {
        const title = mark.querySelector(":scope > title");
        mark.dataset.tip = title ? title.textContent : "";
        mark.setAttribute("aria-label", mark.dataset.tip);
        if (title) title.remove();
      }
      tip.textContent = mark ? mark.dataset.tip : "";
      tip.hidden = !mark;
    }
    if (mark) place(event);
  });

  // A link to what is folded unfolds it. The button says what it will do.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    for (const one of all(":scope > details.section", target)) one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => { if (event.target.closest('a[href^="#"]')) setTimeout(reveal); });
  reveal();

  const unfold = document.querySelector("[data-unfold]");
  const name = () => { unfold.textContent = all("details:not([open])").length ? "Unfold all" : "Fold all"; };
  unfold.addEventListener("click", () => {
    const folded = all("details:not([open])");
    for (const one of folded.length ? folded : all("details")) one.open = folded.length > 0;
    name();
  });
  document.addEventListener("toggle", name, true);

  // The map of explanations: the texts stand in a JSON block, in the order of the points' data-i.
  for (const box of all(".map")) {
    const source = document.getElementById(`${box.id}-texts`);
    const panel = document.getElementById(`${box.id}-chosen`);
    if (!source || !panel) continue;
    const texts = JSON.parse(source.textContent);
    const points = all(".points circle", box);
    const svg = box.querySelector("svg.chart");
    let chosen = null;
    const write = (where, kind, text) => {
      const made = document.createElement(kind === "text" ? "div" : "p");
      made.className = kind;
      if (kind === "text") made.dir = "auto";
      made.textContent = text;
      where.append(made);
    };
    const show = (point) => {
      if (!point || point === chosen) return;
      if (chosen) chosen.classList.remove("chosen");
      chosen = point;
      point.classList.add("chosen");
      const found = texts[Number(point.dataset.i)];
      panel.replaceChildren();
      write(panel, "faint", found.about);
      write(panel, "text", found.text);
    };
    const nearest = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      let best = null, least = 14 * 14;
      for (const point of points) {
        const dx = point.cx.baseVal.value - at.x, dy = point.cy.baseVal.value - at.y;
        if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = point; }
      }
      return best;
    };
    let fixed = false;
    svg.addEventListener("pointermove", (event) => { if (!fixed) show(nearest(event)); });
    svg.addEventListener("click", (event) => { const point = nearest(event); fixed = Boolean(point); show(point); });
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = (points.indexOf(chosen) + step + points.length) % points.length;
      fixed = true;
      show(points[next]);
    });
  }
})();
