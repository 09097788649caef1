// Pieces of the pages on which people rate stories, made of elements and text alone: consent, guidelines, criteria, lists.
"use strict";
window.judge = window.judge || {};
judge.rating = (() => {
  const { element, button, line } = judge.parts;

  // The key of a point: its digit where it has one, else y and n of yes and no, else its place.
  function keyOf(points, i) {
    const { label, value } = points[i];
    if (/^[0-9]$/.test(label)) return label;
    const first = label[0].toLowerCase();
    if (points.length === 2 && points.every((point) => "yn".includes(point.label[0].toLowerCase()))) return first;
    return points.length <= 9 && Number.isInteger(value) ? String(i + 1) : "";
  }

  // One criterion with a button for each point; `rate(value)` is called when one is chosen.
  function criterion(one, number, rate, focus) {
    const row = element("fieldset", "", { class: "criterion", "data-criterion": one.key });
    const legend = element("legend");
    legend.append(element("span", one.key, { class: "name" }), element("span", one.definition, { class: "definition", dir: "auto" }));
    const scale = element("div", "", { class: "scale" });
    one.points.forEach((point, i) => {
      const label = element("label");
      const input = element("input", "", { type: "radio", name: `c-${number}`, value: String(point.value), "aria-label": `${one.key}: ${point.label}${point.text ? `, ${point.text}` : ""}` });
      input.addEventListener("change", () => rate(point.value));
      const shown = element("span", point.label, { class: "point", title: point.text });
      const key = keyOf(one.points, i);
      if (key && key !== point.label) shown.append(element("kbd", key));
      label.append(input, shown);
      scale.append(label);
    });
    const guide = element("ol", "", { class: "guide" });
    for (const point of one.points) if (point.text) guide.append(element("li", `${point.label}: ${point.text}`, { dir: "auto", "data-value": String(point.value) }));
    row.append(legend, scale, guide);
    row.addEventListener("focusin", focus);
    row.addEventListener("pointerdown", focus);
    return row;
  }

  function consent(task, minutes) {
    const parts = task.consent.split(/\n\s*\n/).map((text) => element("p", text, { dir: "auto" }));
    const row = element("p");
    row.append(button("I agree, begin", "agree", "Enter", true));
    const count = task.items.filter((one) => !one.practice).length;
    return [...parts, element("p", `${count} texts to read, about ${minutes} minutes in all. You may stop at any time and go on later by the same link.`), row];
  }

  function guidelines(task) {
    const parts = [element("p", "Rate each story on these criteria. Judge each criterion by itself. The number is on every button; its meaning stands below.")];
    for (const one of task.criteria) {
      const list = element("ul");
      for (const point of one.points) list.append(element("li", point.text ? `${point.label}: ${point.text}` : point.label, { dir: "auto" }));
      parts.push(element("h2", one.key), element("p", one.definition, { dir: "auto" }), list);
    }
    const row = element("p");
    row.append(button("Go on", "go", "Enter", true));
    return [...parts, row];
  }

  // What came of a practice pair: the second is the first, damaged, and should not be rated higher.
  function feedback(whole, damaged, criteria) {
    const mean = (values) => criteria.reduce((sum, { key }) => sum + (values[key] ?? 0), 0) / criteria.length;
    const [first, second] = [mean(whole), mean(damaged)];
    const head = second < first ? "As expected" : "Not as expected";
    const text = `This text is the story before it, spoilt on purpose, so it should get lower ratings. On average you gave the whole story ${first.toFixed(1)} and this one ${second.toFixed(1)}. Practice does not count.`;
    return [element("strong", head), element("p", text)];
  }

  function list(task, keeper, open, done) {
    const all = task.items.filter((one) => !one.practice);
    const head = [element("p", done === all.length ? (task.save ? "All answered: thank you. When it says “Saved”, you can close this page. You may open any story again." : "All answered: download your answers and send the file back.") : `${done} of ${all.length} answered.`)];
    const row = element("p");
    if (done < all.length) row.append(button("Go on", "go", "Enter", true), " ");
    if (task.download) row.append(button("Download answers", "download", "", done === all.length), " ");
    row.append(button("Guidelines", "guidelines", "g"));
    head.push(row);
    const lines = all.map((one, i) => {
      const { values, note } = keeper.state(one.id);
      const given = task.criteria.filter(({ key }) => key in values).length;
      const standing = values.skip ? "skipped" : given === task.criteria.length ? "✓" : given ? "begun" : "open";
      return line([`Story ${i + 1}`, standing, note && "comment"], () => open(task.items.indexOf(one)));
    });
    return [head, lines];
  }

  // Minutes for all stories at an ordinary pace, before the person's own is known.
  const minutes = ({ items, criteria }) => Math.ceil(items.reduce((sum, { text }) => sum + judge.words(text) / 230 + (15 + 10 * criteria.length) / 60, 0));

  // What judge people import takes.
  function file(task, keeper) {
    const answers = task.items.filter((one) => keeper.states[one.id]).map((one) => ({ item: one.id, ...keeper.state(one.id) }));
    return { ...task.download, study: task.study, rater: task.rater, guidelines: task.guidelines, answers };
  }

  const KEYS = [
    ["1 … 9", "rate the criterion in focus and go to the next"], ["↑ ↓", "criterion before, after"], ["Enter", "next story"],
    ["←", "story before"], ["u", "undo"], ["g", "all guidelines"], ["p", "story-prompt"], ["c", "comment; Esc leaves it"],
    ["s", "skip this story, with a reason"], ["b", "break"], ["j k", "scroll the story"], ["l", "list of my stories"], ["?", "this table"],
  ];
  return { keyOf, criterion, consent, guidelines, feedback, list, minutes, file, KEYS };
})();
