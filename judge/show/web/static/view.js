// judge view: figures that follow a run, parts that come when they are computed, keys. Pages work without it.
"use strict";
(() => {
  const part = async (address) => {
    const response = await fetch(address, { headers: { accept: "text/html" } });
    if (!response.ok) throw new Error(`${response.status}`);
    return response.text();
  };
  const later = (wait, what) => setTimeout(() => (document.hidden ? later(wait, what) : what()), wait);

  // data-poll: put the part in again and again, unless it is the same (so that what one reads or selects stays).
  for (const place of document.querySelectorAll("[data-poll]")) {
    let last = null;
    const again = async () => {
      try {
        const text = await part(place.dataset.poll);
        if (text !== last && !place.contains(document.activeElement)) { if (last !== null || place.innerHTML.trim() !== text.trim()) place.innerHTML = text; last = text; }
      } catch { /* the server may be gone for a while */ }
      later(Number(place.dataset.every), again);
    };
    later(Math.min(800, Number(place.dataset.every)), again);
  }

  // data-part: ask until the part no longer says that it waits; then it takes this one's place.
  const wait = (place) => {
    const again = async () => {
      try {
        const text = await part(place.dataset.part);
        const made = document.createElement("div");
        made.innerHTML = text;
        const waiting = made.querySelector("[data-part]");
        if (!waiting) { (place.closest("#part") || place).innerHTML = text; return; }
      } catch { /* ask again */ }
      later(1500, again);
    };
    later(1000, again);
  };
  document.querySelectorAll("[data-part]").forEach(wait);

  // data-until: ask until the page no longer waits, or for data-every milliseconds, then load it: its scripts start afresh.
  const until = (place) => {
    const began = Date.now();
    const again = async () => {
      try {
        const text = await part(place.dataset.until);
        const made = new DOMParser().parseFromString(text, "text/html");
        const next = made.querySelector("[data-until]");
        if (!next || Date.now() - began > Number(place.dataset.every || Infinity)) {
          location.reload();
          return;
        }
      } catch { /* ask again */ }
      later(1500, again);
    };
    later(1000, again);
  };
  document.querySelectorAll("[data-until]").forEach(until);

  // A choice in a form of filters shows at once; without this there is the button.
  const filters = () => document.querySelectorAll("form[data-filters] select").forEach((select) => {
    select.addEventListener("change", () => select.form.requestSubmit());
  });
  filters();

  // Empty fields stay out of the address.
  document.addEventListener("submit", (event) => {
    for (const field of event.target.elements) if (field.name && !field.value && field.tagName !== "BUTTON") field.disabled = true;
  });
  window.addEventListener("pageshow", () => document.querySelectorAll("form :disabled").forEach((field) => { field.disabled = false; }));

  // Arrow keys go to the neighbouring story, unless one is writing or scrolling a region.
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("input, select, textarea, [role=region], .text, canvas")) return;
    const found = document.querySelector(`a[data-key="${event.key}"]`);
    if (found) { event.preventDefault(); found.click(); }
  });
})();
