// Pieces of the pages on which people rate stories, made of elements and text alone: consent, guidelines, criteria, lists.
"use strict";
window.judge = window.judge || {};
judge.rating = (() => {
  const { element, button, line } = judge.parts;

  // The key of a point: its own, else its digit where it has one, else y and n of yes and no, else its place.
  function keyOf(points, i) {
    const { label, value, key } = points[i];
    if (key) return key;
    if (/^[0-9]$/.test(label)) return label;
    const first = label[0].toLowerCase();
    const others = points.filter((point) => !point.key);
    if (others.length === 2 && others.every((point) => "yn".includes(point.label[0].toLowerCase()))) return first;
    return others.length <= 9 && Number.isInteger(value) ? String(i + 1) : "";
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
    return [...parts, element("p", `${count} ${task.pairs ? "pairs of texts to compare" : "texts to read"}, about ${minutes} minutes in all. You may stop at any time and go on later by the same link.`), row];
  }

  function guidelines(task) {
    const said = task.pairs ? "Read both stories, then say of each criterion which of the two is better. Judge each criterion by itself." :
      "Rate each story on these criteria. Judge each criterion by itself. What each answer means stands below.";
    const parts = [element("p", said)];
    for (const one of task.criteria) {
      const list = element("ul");
      if (!task.pairs) for (const point of one.points) list.append(element("li", point.text ? `${point.label}: ${point.text}` : point.label, { dir: "auto" }));
      parts.push(element("h2", one.key), element("p", one.definition, { dir: "auto", class: "definition" }), list);
    }
    const row = element("p");
    row.append(button("Go on", "go", "Enter", true));
    return [...parts, row];
  }

  // What came of a practice pair: the second is the first, damaged, and should not be rated higher.
  function feedback(whole, damaged, { criteria, labels }) {
    const names = criteria.map(({ key }) => key);
    const said = "This text is the story before it, spoilt on purpose";
    if (labels) {
      const other = names.filter((key) => whole[key] !== damaged[key]).length;
      return [element("strong", "A spoilt story"), element("p", `${said}. You answered otherwise than of the whole one on ${other} of ${names.length} criteria. Practice does not count.`)];
    }
    const rated = names.filter((key) => Number.isFinite(whole[key]) && Number.isFinite(damaged[key]));
    const mean = (values) => rated.reduce((sum, key) => sum + values[key], 0) / (rated.length || 1);
    const [first, second] = [mean(whole), mean(damaged)];
    const head = second < first ? "As expected" : "Not as expected";
    const text = `${said}, so it should get lower ratings. On average you gave the whole story ${first.toFixed(1)} and this one ${second.toFixed(1)}. Practice does not count.`;
    return [element("strong", head), element("p", text)];
  }

  // Of a practice pair: on which side the whole story stood, and what was preferred.
  function preferred(whole, values, names) {
    const right = names.filter((key) => values[key] === whole).length;
    const text = `One of the two is the other, spoilt on purpose, so the whole one should be better. It stood ${whole ? "right" : "left"}, and you preferred it on ${right} of ${names.length} criteria. Practice does not count.`;
    return [element("strong", right === names.length ? "As expected" : "Not as expected"), element("p", text)];
  }

  function list(task, keeper, open, done) {
    const all = task.items.filter((one) => !one.practice);
    const head = [element("p", done === all.length ? (task.save ? "All answered: thank you. When it says “Saved”, you can close this page. You may open any of them again." : "All answered: download your answers and send the file back.") : `${done} of ${all.length} answered.`)];
    const row = element("p");
    if (done < all.length) row.append(button("Go on", "go", "Enter", true), " ");
    if (task.download) row.append(button("Download answers", "download", "", done === all.length), " ");
    row.append(button("Guidelines", "guidelines", "g"));
    head.push(row);
    const lines = all.map((one, i) => {
      const { values, note } = keeper.state(one.id);
      const given = task.criteria.filter(({ key }) => key in values).length;
      const standing = values.skip ? "skipped" : given === task.criteria.length ? "✓" : given ? "begun" : "open";
      return line([`${task.pairs ? "Pair" : "Story"} ${i + 1}`, standing, note && "comment"], () => open(task.items.indexOf(one)));
    });
    return [head, lines];
  }

  // Minutes for all stories at an ordinary pace, before the person's own is known.
  const minutes = ({ items, criteria }) => Math.ceil(items.reduce((sum, { text, beside }) => sum + (judge.words(text) + judge.words(beside)) / 230 + (15 + 10 * criteria.length) / 60, 0));

  // What judge people import takes.
  function file(task, keeper) {
    const answers = task.items.filter((one) => keeper.states[one.id]).map((one) => ({ item: one.id, ...keeper.state(one.id) }));
    return { ...task.download, study: task.study, rater: task.rater, guidelines: task.guidelines, answers };
  }

  function keys({ pairs, labels }) {
    const own = pairs ? [["← →", "the story on the left, on the right, is better on the criterion in focus"], ["t", "a tie"], ["x", "both are bad"], ["1 2", "to the text on the left, on the right"], ["r", "pair before"]] :
      [labels ? ["y n 0", "yes, no, cannot tell of the criterion in focus; other answers have numbers"] : ["1 … 9", "rate the criterion in focus and go to the next"], ["←", "story before"]];
    return [
      ...own, ["↑ ↓", "criterion before, after"], ["Enter", pairs ? "next pair" : "next story"], ["u", "undo"], ["g", "all guidelines"], ["p", "story-prompt"],
      ["c", "comment; Esc leaves it"], ["s", "skip, with a reason"], ["b", "break"], ["j k", "scroll down, up"], ["l", "my list"], ["?", "this table"],
    ];
  }

  return { keyOf, criterion, consent, guidelines, feedback, preferred, list, minutes, file, keys };
})();
