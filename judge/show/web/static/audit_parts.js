// Pieces of the audit's pages, made of elements and text alone. Nothing here knows what was answered or what comes next.
"use strict";
window.judge = window.judge || {};
Object.assign(judge.parts, (() => {
  const { element, plural, button } = judge.parts;
  const word = (value) => (value === 1 ? "yes" : value === 0 ? "no" : "open");
  const letter = (i) => `Annotator ${String.fromCharCode(65 + (i % 26))}`;

  // The points of a scale with their guidelines; the judge's own rating is marked where it is shown.
  const guidelines = (criterion, rating) => criterion.points.map(([point, guideline]) => {
    const given = rating === point;
    const text = `${point}${guideline ? `: ${guideline}` : ""}${given ? " (the judge's rating)" : ""}`;
    return element("li", text, given ? { class: "given" } : {});
  });

  // One question with its two answers; `answer(value)` is called when one is chosen.
  function question(category, answer, said) {
    const { key, label, press } = category;
    const row = element("div", "", {
      class: "question", role: "radiogroup", "data-category": key, "aria-labelledby": `label-${key}`, "aria-describedby": `asked-${key}`,
    });
    const choice = element("div", "", { class: "choice" });
    for (const [value, text] of [[0, "No"], [1, "Yes"]]) {
      const shown = element("label", "", { class: text.toLowerCase() });
      const input = element("input", "", { type: "radio", name: `q-${key}`, value: String(value), "aria-label": `${label}: ${text}` });
      input.addEventListener("change", () => answer(value));
      shown.append(input, element("span", text));
      choice.append(shown);
    }
    const pressed = element("span", "", { class: "press" });
    pressed.append(element("kbd", press));
    row.append(pressed, element("span", label, { class: "label", id: `label-${key}` }), choice);
    row.append(element("span", category.question, { class: "asked", id: `asked-${key}` }));
    if (said) row.append(element("p", said, { class: "said" }));
    return row;
  }

  // What each annotator said of a disputed item, side by side.
  function annotators(item, categories, hidden) {
    const cards = element("div", "", { class: "given-answers" });
    item.given.forEach(([name, { values, note }], i) => {
      const card = element("div", "", { class: "card" });
      const list = element("ul");
      for (const { key, label } of categories) {
        if (key in values) list.append(element("li", `${label}: ${word(values[key])}${item.categories.includes(key) ? " (differs)" : ""}`));
      }
      card.append(element("strong", hidden ? letter(i) : name), list);
      card.append(element("p", note ? `Note: ${note}` : "No note.", { class: note ? "" : "faint" }));
      cards.append(card);
    });
    const parts = [element("h2", "What annotators said"), button(hidden ? "Show names" : "Hide names", "names", "a"), cards];
    if (item.by) parts.push(element("p", `Settled by ${item.by}.`, { class: "warn" }));
    return parts;
  }

  // What annotators said of one category, in a line.
  const given = (item, key, hidden) => item.given.map(([name, { values }], i) => `${hidden ? letter(i) : name}: ${word(values[key])}`).join(" · ");

  // What was expected of a practice item, and why.
  function feedback(item, values, labels) {
    const wrong = Object.entries(item.expected).filter(([key, value]) => values[key] !== value);
    const list = element("ul");
    for (const [key, value] of wrong) {
      list.append(element("li", `${labels[key].label}: you said ${word(values[key])}, expected is ${word(value)}.`));
    }
    const left = Object.keys(labels).filter((key) => !(key in item.expected)).map((key) => labels[key].label);
    if (left.length) list.append(element("li", `${left.join(", ")}: left open, either answer will do.`));
    const head = wrong.length ? `${plural(wrong.length, "answer")} not as expected` : "As expected";
    return [element("strong", head), list, element("p", item.feedback)];
  }

  function keys(categories, settling) {
    const rows = [
      [categories.map(({ press }) => press).join(" "), "the error is there; again: it is not"],
      ["0", "no further errors: everything open becomes no"], ["Enter", "next item; from the list the first that is open"],
      ["b ←", "back; from the list to the item seen last"], ["s →", "later: on without answering"], ["u", "undo"],
      ["n", settling ? "reason; Esc leaves it" : "note; Esc leaves it"],
      ["q", "mark quotations that occur in the story"], ["r", "reference story"], ["j k", "scroll the story down, up"],
      ["p", "the list of all items, and back"], ["? h", "this table"],
    ];
    if (settling) rows.push(["a", "show or hide names"]);
    return judge.parts.keys(rows);
  }

  // What of the page does not change from item to item; the second round asks and shows otherwise.
  function furnish(categories, settling) {
    const at = (id) => document.getElementById(id);
    at("meanings-list").replaceChildren(...categories.flatMap(({ label, question }) => [element("dt", label), element("dd", question)]));
    at("keys").replaceChildren(...keys(categories, settling));
    if (!settling) return;
    at("questions-title").textContent = "Is the error there?";
    at("note-label").firstChild.textContent = "Reason ";
    at("working").classList.add("settling");
    at("questions").after(at("note").closest(".note"));
    document.querySelector(".audit-answers").append(at("others"));
  }

  // How an item stands, in a few words.
  function standing(item, state, complete) {
    if (item.by) return `settled by ${item.by}`;
    const errors = Object.values(state.values).filter((value) => value === 1).length;
    if (complete) return `✓ ${errors ? plural(errors, "error") : "no error"}`;
    return Object.keys(state.values).length ? "begun" : "open";
  }

  // The front page offers this name again, in this browser alone.
  function remember({ audit, annotator }) {
    try {
      localStorage.setItem(`judge-audit-name:${audit}`, annotator);
    } catch {
      // A browser that keeps nothing asks for the name again.
    }
  }

  return { word, guidelines, question, annotators, given, feedback, furnish, standing, remember };
})());
