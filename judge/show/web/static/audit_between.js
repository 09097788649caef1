// What stands between items: the list of all, the end of practice, the file of answers. Elements and data alone.
"use strict";
window.judge = window.judge || {};
judge.between = (() => {
  const { element, line, plural, button, standing } = judge.parts;

  function practiceDone(task, keeper) {
    let right = 0;
    let all = 0;
    for (const { id, expected } of task.practice) {
      for (const [key, value] of Object.entries(expected)) {
        all += 1;
        right += (keeper.practice[id] || {})[key] === value ? 1 : 0;
      }
    }
    const row = element("p");
    row.append(button("Begin", "go", "Enter", true), " ", button("Practise again", "practice"));
    return [
      element("p", `${right} of ${all} answers were as expected. Nothing of the practice counts.`),
      element("p", `${plural(task.items.length, "item")} follow. You may stop at any time and go on later under the same name.`), row,
    ];
  }

  function listTitle({ items }, done) {
    if (!items.length) return "Nothing to settle";
    return done === items.length ? `All ${items.length} answered: thank you` : "All items";
  }

  function listHead(task, done) {
    const all = done === task.items.length;
    const head = [];
    if (!task.items.length) head.push(element("p", "Annotators do not differ on any item that two of them finished."));
    if (all && task.items.length) head.push(element("p", task.save ? "When it says “Saved”, you can close this page. You may look at any item again." : "Download your answers and send the file back."));
    const row = element("p");
    if (!all) row.append(button("Go on", "go", "Enter", true), " ");
    if (task.download) row.append(button("Download answers", "download", "", all), " ");
    if (task.practice.length && task.round === 1) row.append(button("Practise again", "practice"), " ");
    if (task.home) row.append(element("a", task.home[1], { href: task.home[0], class: "button" }));
    return [...head, row];
  }

  function listItems(task, keeper, open) {
    return task.items.map((one, i) => {
      const criterion = task.criteria[one.criterion];
      const state = keeper.state(one.id);
      const parts = [i + 1, `no. ${one.id}`, criterion && criterion.name, standing(one, state, keeper.complete(one)), state.note && "note"];
      return line(parts, () => open(i));
    });
  }

  // What judge audit import takes; see judge/explanations/audit/answers_file.py.
  function answersFile(task, keeper) {
    const { audit, annotator } = task;
    const answers = task.items.filter((one) => keeper.states[one.id]).map((one) => ({ item: one.id, key: one.key, ...keeper.state(one.id) }));
    const practice = Object.entries(keeper.practice).map(([id, values]) => ({ practice: Number(id), values }));
    return { ...task.download, audit, annotator, answers, practice };
  }

  return { practiceDone, listTitle, listHead, listItems, answersFile };
})();
