// The page an annotator works on: practice, items, notes, undo, the list of all items; and the second round, in which
// disagreements are settled. Everything by keyboard and by mouse or touch. The same file serves pages and packs.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const { element, word, plural, button } = judge.parts;
  const task = JSON.parse(at("task").textContent);
  const settling = task.round === 2;
  const labels = Object.fromEntries(task.categories.map((category) => [category.key, category]));
  const IDLE = 120; // seconds without a key, a click or a scroll after which time no longer counts

  let mode = "";             // "items", "practice", "list", "start"; empty until the first is shown
  let index = 0;             // in task.items or task.practice
  let attempt = {};          // answers of the practice item on the page
  let attempts = [];         // for undo in practice
  let checked = false;       // whether the practice item's feedback is shown
  let skippable = false;     // a practice round that was done before may be skipped
  let lastMove = Date.now();
  let said = "";             // what was done last, for the status line
  let marked = false;
  let namesHidden = true;    // in the second round a name could weigh more than a reason
  let noteBefore = null;
  const scrolled = {};       // item -> how far its story was read

  const keeper = new judge.Keeper(task, (kind, sentence) => {
    const texts = { saving: "Saving…", saved: task.save ? "Saved" : "Kept in this browser", kept: "Not saved yet", refused: "Not saved", volatile: "Not kept" };
    at("saved").textContent = [said, texts[kind]].filter(Boolean).join(" · ");
    at("saved").dataset.kind = kind;
    const troubles = {
      kept: "The server does not answer. Your answers are kept in this browser and will be sent when it is back. You can go on.",
      refused: `The server did not take an answer: ${sentence}`,
      volatile: "This browser does not let a file keep anything: download your answers before you close this page.",
    };
    at("trouble").hidden = !(kind in troubles) && kind !== "saving";
    if (kind in troubles) at("trouble").textContent = troubles[kind];
    if (kind === "saving" && !at("trouble").textContent) at("trouble").hidden = true;
    if (kind === "saved") at("trouble").textContent = "";
  });

  const item = () => (mode === "practice" ? task.practice[index] : task.items[index]);
  const place = () => `${mode}/${item().id}`;
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
    const times = task.items.filter((one) => keeper.complete(one)).map((one) => keeper.state(one.id).seconds)
      .filter((seconds) => seconds > 0).sort((a, b) => a - b);
    const rest = task.items.length - done;
    let left = "";
    if (times.length >= 3 && rest) {
      const minutes = Math.ceil((times[Math.floor(times.length / 2)] * rest) / 60);
      left = ` · about ${minutes} min left`;
    }
    at("left").textContent = `${done} of ${task.items.length} done${left}`;
  }

  function render() {
    const one = item();
    const story = task.stories[one.story];
    const criterion = task.criteria[one.criterion];
    const name = mode === "practice" ? "Practice" : settling ? "Disagreement" : "Item";
    const all = mode === "practice" ? task.practice : task.items;
    at("where").textContent = `${name} ${index + 1} of ${all.length}`;
    // The order is the annotator's own; tables name the item by this number.
    at("number").textContent = mode === "practice" ? "" : `no. ${one.id}`;
    document.title = `${at("where").textContent} · judge audit`;
    at("prompt").textContent = story.prompt ?? "not known";
    at("reference").hidden = story.reference === null;
    at("reference").open = false;
    at("reference-text").textContent = story.reference ?? "";
    at("criterion").textContent = criterion ? criterion.name : "not known";
    at("definition").textContent = criterion ? criterion.definition : "";
    at("guidelines-box").hidden = !criterion;
    at("guidelines").replaceChildren(...(criterion ? judge.parts.guidelines(criterion, one.rating) : []));
    at("facts").textContent = one.facts.map(([label, value]) => `${label}: ${value}`).join(" · ");
    at("facts").hidden = !one.facts.length;
    at("note").value = keeper.state(one.id).note;
    at("note").closest(".note").hidden = mode === "practice";
    at("work").classList.remove("checked");
    at("feedback").hidden = true;
    checked = false;
    at("missing").textContent = "";
    mark(marked);
    at("story").scrollTop = scrolled[place()] || 0;
    others();
    questions();
    buttons();
    progress();
  }

  function mark(on) {
    marked = on;
    const one = item();
    const story = task.stories[one.story].text;
    const found = on ? judge.texts.compare(one.explanation, story) : { explanation: [], story: [] };
    judge.texts.show(at("explanation"), one.explanation, found.explanation);
    judge.texts.show(at("story"), story ?? "The story is not in this audit.", found.story);
    more();
    at("quotes").setAttribute("aria-pressed", String(on));
    at("quotes-found").textContent = !on ? "" : found.all === 0 ? "It quotes nothing." :
      `${found.found} of ${plural(found.all, "quotation")} found in the story in these words.`;
  }

  // Whether the story goes on below its box; a sign in the box says so.
  function more() {
    const box = at("story");
    box.classList.toggle("more", box.scrollHeight - box.scrollTop - box.clientHeight > 12);
  }

  function questions() {
    at("questions").replaceChildren(...asked().map((key) =>
      judge.parts.question(labels[key], (value) => answer({ [key]: value }), settling ? given(key) : "")));
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

  function given(key) {
    return item().given.map(([name, { values: theirs }], i) => `${namesHidden ? judge.parts.letter(i) : name}: ${word(theirs[key])}`).join(" · ");
  }

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
    } else keeper.change(item().id, { ...keeper.state(item().id), values: next });
    if (!open().length) at("missing").textContent = "";
    draw();
    progress();
  }

  function writeNote() {
    const note = at("note").value;
    const state = keeper.state(item().id);
    if (mode !== "items" || note === state.note) return;
    said = "Note";
    // One visit to the note is one step to undo, however often it was saved meanwhile.
    if (noteBefore === null) keeper.change(item().id, { ...state, note });
    else keeper.put(item().id, { ...state, note });
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
    let right = 0;
    let all = 0;
    for (const { id, expected } of task.practice) {
      for (const [key, value] of Object.entries(expected)) {
        all += 1;
        right += (keeper.practice[id] || {})[key] === value ? 1 : 0;
      }
    }
    show("start");
    at("where").textContent = "Practice done";
    const row = element("p");
    row.append(button("Begin", "go", "Enter", true), " ", button("Practise again", "practice"));
    at("start").replaceChildren(
      element("p", `${right} of ${all} answers were as expected. Nothing of the practice counts.`),
      element("p", `${plural(task.items.length, "item")} follow. You may stop at any time and go on later under the same name.`), row);
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
    index = i;
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
    const all = done === task.items.length;
    at("where").textContent = !task.items.length ? "Nothing to settle" : all ? `All ${task.items.length} answered: thank you` : "All items";
    document.title = `${at("where").textContent} · judge audit`;
    const head = [];
    if (!task.items.length) head.push(element("p", "Annotators do not differ on any item that two of them finished."));
    if (all && task.items.length) head.push(element("p", task.save ? "When it says “Saved”, you can close this page. You may look at any item again." : "Download your answers and send the file back."));
    const row = element("p");
    if (!all) row.append(button("Go on", "go", "Enter", true), " ");
    if (task.download) row.append(button("Download answers", "download", "", all), " ");
    if (task.practice.length && !settling) row.append(button("Practise again", "practice"), " ");
    if (task.home) row.append(element("a", task.home[1], { href: task.home[0], class: "button" }));
    at("list-head").replaceChildren(...head, row);
    at("all-items").replaceChildren(...task.items.map((one, i) => {
      const criterion = task.criteria[one.criterion];
      const state = keeper.state(one.id);
      const parts = [i + 1, `no. ${one.id}`, criterion && criterion.name, judge.parts.standing(one, state, keeper.complete(one)), state.note && "note"];
      const line = element("li");
      const opens = element("button", parts.filter(Boolean).join(" · "), { type: "button" });
      opens.addEventListener("click", () => open_(i));
      line.append(opens);
      return line;
    }));
    focusTop();
  }

  function download() {
    const answers = task.items.filter((one) => keeper.states[one.id]).map((one) => ({ item: one.id, key: one.key, ...keeper.state(one.id) }));
    const practice = Object.entries(keeper.practice).map(([id, given_]) => ({ practice: Number(id), values: given_ }));
    const { audit, annotator } = task;
    judge.parts.save({ ...task.download, audit, annotator, answers, practice }, task.file);
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
    reopen: () => { if (mode === "list" && task.items.length) open_(Math.min(index, task.items.length - 1)); },
    quotes: () => mark(!marked),
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
      else { at("note").value = keeper.state(id).note; draw(); progress(); }
    },
  };

  const working = {
    0: actions.none, q: actions.quotes, u: actions.undo, b: actions.back, s: actions.later, ArrowLeft: actions.back, ArrowRight: actions.later,
    n: () => { if (mode === "items") at("note").focus(); },
    r: () => { if (!at("reference").hidden) at("reference").open = !at("reference").open; },
    j: () => at("story").scrollBy({ top: at("story").clientHeight * 0.8 }),
    k: () => at("story").scrollBy({ top: -at("story").clientHeight * 0.8 }),
    a: () => { if (settling) actions.names(); },
  };

  function key(event) {
    lastMove = Date.now();
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || at("help").open) return;
    if (target.matches("textarea, input:not([type=radio]), select, [contenteditable]")) {
      if (event.key === "Escape") { target.blur(); focusTop(); }
      return;
    }
    if (target.matches("input[type=radio]") && event.key.startsWith("Arrow")) return;
    if (target.matches("#story, #reference-text") && event.key.startsWith("Arrow")) return;
    let does = null;
    if (event.key === "?" || event.key === "h") does = actions.help;
    else if (event.key === "Enter") does = target.closest("button, a, summary") ? null : next;
    else if (event.key === "p" && (mode === "items" || mode === "list")) does = mode === "list" ? actions.reopen : list;
    else if (mode === "list") does = { b: actions.reopen, ArrowLeft: actions.reopen, u: actions.undo }[event.key];
    else if (mode === "items" || mode === "practice") {
      const category = task.categories.find(({ press }) => press === event.key);
      if (category && asked().includes(category.key)) does = () => answer({ [category.key]: values()[category.key] === 1 ? 0 : 1 });
      else if (!category) does = Object.hasOwn(working, event.key) ? working[event.key] : null;
    }
    if (!does) return;
    event.preventDefault();
    if (!event.repeat || "jk".includes(event.key)) does();
  }

  function begin() {
    at("audit").hidden = false;
    if (settling) {
      at("questions-title").textContent = "Is the error there?";
      at("note-label").firstChild.textContent = "Reason ";
      at("audit").classList.add("settling");
      at("questions").after(at("note").closest(".note"));
      document.querySelector(".audit-answers").append(at("others"));
    }
    at("meanings-list").replaceChildren(...task.categories.flatMap(({ label, question }) => [element("dt", label), element("dd", question)]));
    at("keys").replaceChildren(...judge.parts.keys(task.categories, settling));
    document.addEventListener("keydown", key);
    document.addEventListener("click", (event) => {
      lastMove = Date.now();
      const pressed = event.target.closest("[data-does]");
      if (!pressed) return;
      actions[pressed.dataset.does]();
      // With all answered by mouse, Enter goes on.
      if (pressed.id === "none" && mode !== "list") at("next").focus();
    });
    at("story").addEventListener("scroll", () => { lastMove = Date.now(); scrolled[place()] = at("story").scrollTop; more(); });
    new ResizeObserver(more).observe(at("story"));
    let typed = 0;
    at("note").addEventListener("input", () => { lastMove = Date.now(); clearTimeout(typed); typed = setTimeout(writeNote, 800); });
    at("note").addEventListener("blur", leave);
    setInterval(() => {
      if (mode !== "items" || document.hidden || Date.now() - lastMove > IDLE * 1000) return;
      const { id } = item();
      keeper.states[id] = { ...keeper.state(id), seconds: keeper.state(id).seconds + 1 };
    }, 1000);
    if (task.save && !settling) judge.parts.remember(task);
    addEventListener("online", () => keeper.flush());
    addEventListener("beforeunload", (event) => { if (Object.keys(keeper.waiting).length) event.preventDefault(); });
    if (at("start").firstElementChild && !Object.keys(keeper.states).length && !Object.keys(keeper.practice).length) {
      show("start");
      at("where").textContent = task.title;
    } else go();
    keeper.flush();
  }

  begin();
})();
