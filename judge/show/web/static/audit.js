// The page an annotator works on: practice, items, notes, undo, the list of all items; and the second round, in which
// disagreements are settled. Everything by keyboard and by mouse or touch. The same file serves pages and packs.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const { word } = judge.parts;
  const task = JSON.parse(at("task").textContent);
  const settling = task.round === 2;
  const labels = Object.fromEntries(task.categories.map((category) => [category.key, category]));

  let mode = "";             // "items", "practice", "list", "start"; empty until the first is shown
  let index = 0;             // in task.items or task.practice
  let seen = 0;              // the last of task.items that was on the page
  let attempt = {};          // answers of the practice item on the page
  let attempts = [];         // for undo in practice
  let checked = false;       // whether the practice item's feedback is shown
  let skippable = false;     // a practice round that was done before may be skipped
  const clock = new judge.Clock();
  const touch = () => clock.touch();
  let said = "";             // what was done last, for the status line
  let namesHidden = true;    // in the second round a name could weigh more than a reason
  let noteBefore = null;
  let noteShown = "";        // the note as it was put on the page, before anything was written here

  const keeper = new judge.Keeper(task, (kind, sentence) => judge.parts.report(kind, sentence, said, task.save), learnt);
  const reading = judge.reading(task, touch);
  const item = () => (mode === "practice" ? task.practice[index] : task.items[index]);
  const values = () => (mode === "practice" ? attempt : keeper.state(item().id).values);
  const asked = () => (mode === "practice" ? task.categories.map(({ key }) => key) : item().categories);
  const open = () => asked().filter((key) => !(key in values()));
  const practised = () => task.practice.every(({ id }) => task.categories.every(({ key }) => key in (keeper.practice[id] || {})));
  const locked = () => checked || Boolean(item().by);
  const say = (text) => { at("saved").textContent = said = text; };

  // -- what is on the page -------------------------------------------------------------------------------------------

  function show(name) {
    mode = name;
    at("number").textContent = "";
    for (const id of ["start", "list"]) at(id).hidden = id !== name;
    at("work").hidden = name === "start" || name === "list";
    at("to-list").hidden = name !== "items";
    progress();
  }

  function focusTop() {
    window.scrollTo({ top: 0, behavior: "instant" });
    at("where").focus({ preventScroll: true });
  }

  function progress() {
    const done = task.items.filter((one) => keeper.complete(one)).length;
    at("progress").max = task.items.length || 1;
    at("progress").value = done;
    at("left").textContent = `${done} of ${task.items.length} done${judge.parts.timeLeft(task.items, keeper, (one) => keeper.complete(one), 3)}`;
  }

  function render() {
    const one = item();
    const name = mode === "practice" ? "Practice" : settling ? "Disagreement" : "Item";
    const all = mode === "practice" ? task.practice : task.items;
    at("where").textContent = `${name} ${index + 1} of ${all.length}`;
    // The order is the annotator's own; tables name the item by this number.
    at("number").textContent = mode === "practice" ? "" : `no. ${one.id}`;
    document.title = `${at("where").textContent} · judge audit`;
    reading.show(one, `${mode}/${one.id}`);
    clock.reading(judge.words(task.stories[one.story].text) + judge.words(one.explanation));
    showNote(keeper.state(one.id).note);
    at("note").closest(".note").hidden = mode === "practice";
    at("work").classList.remove("checked");
    at("feedback").hidden = true;
    checked = false;
    at("missing").textContent = "";
    others();
    questions();
    buttons();
    progress();
  }

  function questions() {
    at("questions").replaceChildren(...asked().map((key) =>
      judge.parts.question(labels[key], (value) => answer({ [key]: value }), settling ? judge.parts.given(item(), key, namesHidden) : "")));
    draw();
  }

  // The state of the rows, without making them again: focus stays where it is.
  function draw() {
    const now = values();
    for (const row of at("questions").children) {
      const key = row.dataset.category;
      row.classList.toggle("open", !(key in now));
      for (const input of row.querySelectorAll("input")) {
        input.checked = key in now && Number(input.value) === now[key];
        input.disabled = locked();
      }
    }
    buttons();
  }

  function buttons() {
    const label = (id, text) => { at(id).firstChild.textContent = text; };
    label("none", Object.values(values()).includes(1) ? "No further errors" : "No errors");
    at("none").disabled = !open().length || locked();
    label("next", mode === "practice" && !checked && !locked() ? "Check" : "Next");
    at("later").disabled = mode === "practice" && !skippable;
    label("later", mode === "practice" && skippable ? "Skip practice" : "Later");
    at("back").disabled = mode === "practice" || index === 0;
    at("undo").disabled = mode === "practice" ? !attempts.length || checked : !keeper.undone.length;
  }

  // -- the second round ----------------------------------------------------------------------------------------------

  function others() {
    at("others").hidden = !settling;
    if (settling) at("others").replaceChildren(...judge.parts.annotators(item(), task.categories, namesHidden));
  }

  // -- answers -------------------------------------------------------------------------------------------------------

  function answer(changed) {
    if (locked()) return;
    const next = { ...values(), ...changed };
    said = Object.entries(changed).map(([key, value]) => `${labels[key].label}: ${word(value)}`).join(", ");
    if (Object.keys(changed).length > 1) said = "All answered";
    if (mode === "practice") {
      attempts.push(attempt);
      attempt = next;
      at("saved").textContent = said;
    } else keeper.change(item().id, { values: changed });
    if (!open().length) at("missing").textContent = "";
    draw();
    progress();
  }

  // The server told of an item what another tab answered.
  function learnt(id) {
    progress();
    if (mode !== "items" || item().id !== id) return;
    // What is being written here stays.
    if (at("note").value === noteShown) showNote(keeper.state(id).note);
    draw();
  }

  function showNote(note) {
    at("note").value = noteShown = note;
  }

  function writeNote() {
    const note = at("note").value;
    if (mode !== "items" || note === noteShown) return;
    noteShown = note;
    const state = keeper.state(item().id);
    said = "Note";
    // One visit to the note is one step to undo, however often it was saved meanwhile.
    if (noteBefore === null) keeper.change(item().id, { note });
    else keeper.put(item().id, { note });
    noteBefore = noteBefore ?? state.note;
    buttons();
  }

  function feedback() {
    const one = item();
    checked = true;
    keeper.putPractice(one.id, attempt);
    const box = at("feedback");
    box.replaceChildren(...judge.parts.feedback(one, attempt, labels));
    box.hidden = false;
    at("work").classList.add("checked");
    say("");
    draw();
    box.focus();
  }

  function startPractice() {
    skippable = practised();
    show("practice");
    index = skippable ? 0 : task.practice.findIndex(({ id }) => !task.categories.every(({ key }) => key in (keeper.practice[id] || {})));
    practise();
  }

  function practise() {
    attempt = {};
    attempts = [];
    render();
    focusTop();
  }

  function endPractice() {
    show("start");
    at("where").textContent = "Practice done";
    at("start").replaceChildren(...judge.between.practiceDone(task, keeper));
    focusTop();
  }

  // -- going about ---------------------------------------------------------------------------------------------------

  function open_(i, keepStatus = false) {
    leave();
    // What was saved of the item before would be read as said of this one.
    if (!keepStatus && mode === "items") {
      say("");
      if (!keeper.settled) at("saved").textContent = "Saving…";
    }
    index = seen = i;
    show("items");
    render();
    focusTop();
  }

  function leave() {
    if (mode === "items") writeNote();
    noteBefore = null;
  }

  function next() {
    if (mode === "start") { go(); return; }
    if (mode === "list") {
      if (at("list-head").querySelector("[data-does=go]")) go();
      else say(task.items.length ? "There is no item left to answer" : "");
      return;
    }
    writeNote();
    if (!locked() && open().length) {
      const names = open().map((key) => labels[key].label).join(", ");
      at("missing").textContent = `Still open: ${names}. “${at("none").firstChild.textContent}” (0) answers no to ${open().length > 1 ? "all of them" : "it"}.`;
      return;
    }
    if (mode === "practice") {
      if (!checked) feedback();
      else if (index + 1 < task.practice.length) { index += 1; practise(); } else endPractice();
      return;
    }
    const left = (i) => !keeper.complete(task.items[i]);
    const order = [...task.items.keys()];
    const following = index + 1 < task.items.length ? index + 1 : order.find(left);
    if (!order.some(left)) list();
    else open_(following);
  }

  function go() {
    leave();
    // Whoever has answered already, elsewhere perhaps, is past practising.
    const begun = task.items.some((one) => Object.keys(keeper.state(one.id).values).length);
    if (!settling && !begun && task.practice.length && !practised()) { startPractice(); return; }
    const first = task.items.findIndex((one) => !keeper.complete(one));
    if (first < 0) list();
    else open_(first);
  }

  function list() {
    leave();
    show("list");
    const done = task.items.filter((one) => keeper.complete(one)).length;
    at("where").textContent = judge.between.listTitle(task, done);
    document.title = `${at("where").textContent} · judge audit`;
    at("list-head").replaceChildren(...judge.between.listHead(task, done));
    at("all-items").replaceChildren(...judge.between.listItems(task, keeper, open_));
    focusTop();
  }

  function download() {
    judge.parts.save(judge.between.answersFile(task, keeper), task.file);
    say("The file with your answers is in your downloads");
  }

  const actions = {
    next, go, list, download,
    practice: startPractice,
    help: () => at("help").showModal(),
    none: () => { if (open().length) answer(Object.fromEntries(open().map((key) => [key, 0]))); },
    later: () => { if (mode === "practice") { if (skippable) list(); } else open_((index + 1) % task.items.length); },
    back: () => { if (mode === "items" && index > 0) open_(index - 1); },
    // From the list to the item that was seen last.
    reopen: () => { if (mode === "list" && task.items.length) open_(seen); },
    quotes: reading.quotations,
    names: () => { namesHidden = !namesHidden; others(); questions(); },
    undo: () => {
      if (mode === "practice") {
        if (attempts.length && !checked) { attempt = attempts.pop(); say("Undone"); draw(); }
        return;
      }
      leave();
      said = "Undone";
      const id = keeper.undo();
      if (id === null) { say("There is nothing to undo"); return; }
      const i = task.items.findIndex((one) => one.id === id);
      if (i !== index || mode !== "items") open_(i, true);
      else { showNote(keeper.state(id).note); draw(); progress(); }
    },
  };

  const working = {
    0: actions.none, q: actions.quotes, u: actions.undo, b: actions.back, s: actions.later, ArrowLeft: actions.back, ArrowRight: actions.later,
    n: () => { if (mode === "items") at("note").focus(); },
    r: reading.reference,
    j: () => reading.scroll(0.8),
    k: () => reading.scroll(-0.8),
    a: () => { if (settling) actions.names(); },
  };

  function begin() {
    at("working").hidden = false;
    judge.parts.furnish(task.categories, settling);
    judge.parts.attend({
      touch, actions, note: at("note"), writeNote, left: focusTop,
      busy: () => at("help").open,
      native: ({ target, key }) => target.matches("input[type=radio], #story, #reference-text") && key.startsWith("Arrow"),
      meaning: judge.meaning(task, {
        actions, working, next, mode: () => mode, asked, turn: (key) => answer({ [key]: values()[key] === 1 ? 0 : 1 }),
      }),
      // With all answered by mouse, Enter goes on.
      clicked: (pressed) => { if (pressed.id === "none" && mode !== "list") at("next").focus(); },
      tick: () => {
        const { active } = clock.tick(document.hidden);
        if (mode === "items") keeper.tick(item().id, active);
      },
    }, keeper);
    at("note").addEventListener("blur", leave);
    if (task.save && !settling) judge.parts.remember(task);
    if (at("start").firstElementChild && !Object.keys(keeper.states).length && !Object.keys(keeper.practice).length) {
      show("start");
      at("where").textContent = task.title;
    } else go();
    keeper.flush();
  }

  begin();
})();
