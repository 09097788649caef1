// What an annotator reads: story, reference, criterion, explanation, and marks in them. Nothing is answered here.
"use strict";
window.judge = window.judge || {};
judge.reading = (task, touch) => {
  const at = (id) => document.getElementById(id);
  const { plural, guidelines } = judge.parts;
  const scrolled = {};   // place -> how far its story was read
  let shown = null;      // the item on the page
  let place = "";        // which item that is, over practice and rounds
  let marked = false;

  function show(one, where) {
    shown = one;
    place = where;
    const story = task.stories[one.story];
    const criterion = task.criteria[one.criterion];
    at("prompt").textContent = story.prompt ?? "not known";
    at("reference").hidden = story.reference === null;
    at("reference").open = false;
    at("reference-text").textContent = story.reference ?? "";
    at("criterion").textContent = criterion ? criterion.name : "not known";
    at("definition").textContent = criterion ? criterion.definition : "";
    at("guidelines-box").hidden = !criterion;
    at("guidelines").replaceChildren(...(criterion ? guidelines(criterion, one.rating) : []));
    at("facts").textContent = one.facts.map(([label, value]) => `${label}: ${value}`).join(" · ");
    at("facts").hidden = !one.facts.length;
    mark();
    // Another item begins at the top, also where it has the same story.
    at("story").scrollTop = scrolled[place] || 0;
  }

  function mark() {
    const story = task.stories[shown.story].text;
    const found = marked ? judge.texts.compare(shown.explanation, story) : { explanation: [], story: [] };
    judge.texts.show(at("explanation"), shown.explanation, found.explanation);
    judge.texts.show(at("story"), story ?? "The story is not in this audit.", found.story);
    more();
    at("quotes").setAttribute("aria-pressed", String(marked));
    at("quotes-found").textContent = !marked ? "" : found.all === 0 ? "It quotes nothing." :
      `${found.found} of ${plural(found.all, "quotation")} found in the story in these words.`;
  }

  // Whether the story goes on below its box; a sign in the box says so.
  function more() {
    const box = at("story");
    box.classList.toggle("more", box.scrollHeight - box.scrollTop - box.clientHeight > 12);
  }

  // A phone has room for the explanation and the questions: there the story unfolds when it is wanted.
  at("unfold-story").addEventListener("click", () => {
    const folded = at("unfold-story").parentElement.classList.toggle("folded");
    at("unfold-story").setAttribute("aria-expanded", String(!folded));
    more();
  });

  const quotations = () => { marked = !marked; mark(); };
  const reference = () => { if (!at("reference").hidden) at("reference").open = !at("reference").open; };
  const scroll = (part) => at("story").scrollBy({ top: at("story").clientHeight * part });

  at("story").addEventListener("scroll", () => { touch(); scrolled[place] = at("story").scrollTop; more(); });
  new ResizeObserver(more).observe(at("story"));
  return { show, quotations, reference, scroll };
};
