// The page on which a person rates stories: consent, guidelines, practice, stories, comment, skip, break, list. Everything
// by keyboard and by mouse or touch. The same file serves pages and packs.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const task = JSON.parse(at("task").textContent);
  const { element } = judge.parts;
  const EACH = 10;              // stories, or
  const LONG = 25 * 60;         // seconds of work after which a break is offered
  const names = task.criteria.map(({ key }) => key);
  const noun = task.pairs ? "Pair" : "Story";
  const boxes = task.pairs ? [at("story"), at("beside")] : [at("story")];
  const load = Math.random().toString(36).slice(2);
  const begun = performance.now();
  const clock = new judge.Clock();
  const touch = () => clock.touch();

  let mode = "";                // "consent", "guidelines", "items", "list", "break"
  let back = "items";           // where guidelines and breaks lead back to
  let index = 0;
  let focus = 0;                // the criterion in focus
  let input = "key";
  let said = "";
  let scrolled = new Set();     // texts that were read to their end
  let since = { stories: 0, seconds: 0 };
  let noteShown = "";
  let agreed = task.events.includes("consent");
  let read = task.events.includes("guidelines");
  const times = {};             // place -> {visible, wall} that no message has told yet

  const keeper = new judge.Keeper(task, report, learnt);
  keeper.extra = (id) => {
    const { visible = 0, wall = 0 } = times[id] || {};
    delete times[id];
    const facts = { input, load, client: Date.now() / 1000, since_load: (performance.now() - begun) / 1000, to_end: scrolled.size === boxes.length, version: task.version, guidelines: task.guidelines, position: id };
    return { visible, wall, facts };
  };
  if (!task.save) {
    agreed = Boolean(keeper.kept("event:consent"));
    read = Boolean(keeper.kept("event:guidelines"));
  }

  const item = () => task.items[index];
  const values = () => keeper.state(item().id).values;
  const complete = (one) => { const { values: v } = keeper.state(one.id); return Boolean(v.skip) || names.every((key) => key in v); };
  const open = () => names.filter((key) => !(key in values()));
  const rated = () => task.items.filter((one) => !one.practice);
  const done = () => rated().filter(complete).length;

  function report(kind, sentence) {
    judge.parts.report(kind, sentence, said, task.save);
    const waiting = Object.keys(keeper.waiting).length;
    document.title = `${waiting && kind === "kept" ? `${waiting} wait in this browser · ` : ""}${at("where").textContent}`;
  }
  const say = (text) => { at("saved").textContent = said = text; };

  // Events are kept like answers: once, and sent again until they are confirmed.
  function event(kind, facts = {}) {
    if (!task.save) { keeper.keep(`event:${kind}`, facts || true); return; }
    keeper.send(task.event, { kind, facts });
  }

  // -- what is on the page -------------------------------------------------------------------------------------------

  function show(name) {
    if (mode === "items") leave();
    mode = name;
    for (const id of ["consent", "guidelines", "work", "list", "pause"]) at(id).hidden = id !== { items: "work", break: "pause" }[name] && id !== name;
    document.body.classList.toggle("rating", name === "items");
    at("to-list").hidden = name === "consent";
    progress();
    window.scrollTo({ top: 0, behavior: "instant" });
  }

  function heading(text) {
    at("where").textContent = text;
    document.title = text;
    at("where").focus({ preventScroll: true });
  }

  function progress() {
    const left = judge.parts.timeLeft(rated(), keeper, complete, 5);
    at("progress").max = rated().length || 1;
    at("progress").value = done();
    at("left").textContent = `${done()} of ${rated().length} done${left}`;
  }

  function story(i, history_ = true) {
    index = i;
    show("items");
    say("");
    scrolled = new Set();
    const one = item();
    const before = task.items.slice(0, i + 1).filter((other) => other.practice === one.practice).length;
    const all = task.items.filter((other) => other.practice === one.practice).length;
    at("prompt").textContent = one.prompt;
    at("prompt-box").hidden = !one.prompt;
    at("story").textContent = one.text;
    at("beside").textContent = one.beside ?? "";
    for (const box of boxes) box.scrollTop = 0;
    at("comment").value = noteShown = keeper.state(one.id).note;
    at("comment-box").hidden = !noteShown;
    at("feedback").hidden = true;
    at("missing").textContent = "";
    clock.reading(judge.words(one.text) + judge.words(one.beside) + judge.words(one.prompt));
    focus = Math.max(0, names.findIndex((key) => !(key in values())));
    at("criteria").replaceChildren(...task.criteria.map((criterion, c) => judge.rating.criterion(criterion, c, (value) => rate(c, value), () => { focus = c; draw(); })));
    heading(`${one.practice ? "Practice" : noun} ${before} of ${all}`);
    if (history_ && history.state?.place !== i) history.pushState({ place: i }, "");
    draw();
    seen();
  }

  function draw() {
    const now = values();
    [...at("criteria").children].forEach((row, c) => {
      row.classList.toggle("focus", c === focus);
      row.classList.toggle("given", names[c] in now);
      row.hidden = !task.together && c !== focus;
      for (const radio of row.querySelectorAll("input")) radio.checked = radio.value === String(now[names[c]]);
      for (const line of row.querySelectorAll("li")) line.classList.toggle("chosen", line.dataset.value === String(now[names[c]]));
    });
    at("dots").replaceChildren(...names.map((key, c) => {
      const dot = element("button", key in now ? "●" : "○", { type: "button", "aria-label": `${key}: ${key in now ? "rated" : "open"}`, class: c === focus ? "focus" : "" });
      dot.addEventListener("click", () => { focus = c; draw(); });
      return dot;
    }));
    at("skipped").hidden = !now.skip;
    at("skipped").textContent = now.skip ? `Skipped: ${now.skip}. A rating takes this back.` : "";
    at("next").classList.toggle("main", complete(item()));
    at("undo").disabled = !keeper.undone.length;
    at("before").disabled = index === 0;
  }

  function seen() {
    if (mode !== "items") return;
    for (const box of boxes) if (box.getBoundingClientRect().bottom <= window.innerHeight + 4 && box.scrollHeight - box.scrollTop - box.clientHeight < 8) scrolled.add(box);
  }

  // -- answers -------------------------------------------------------------------------------------------------------

  function rate(c, value) {
    const changed = { [names[c]]: value };
    if (values().skip) changed.skip = null;
    const point = task.criteria[c].points.find((one) => one.value === value);
    said = `${names[c]}: ${point.label}`;
    keeper.change(item().id, { values: changed });
    at("missing").textContent = "";
    focus = c + 1 < names.length ? c + 1 : c;
    draw();
    progress();
  }

  function learnt(id) {
    progress();
    if (mode !== "items" || item().id !== id) return;
    if (at("comment").value === noteShown) at("comment").value = noteShown = keeper.state(id).note;
    draw();
  }

  function writeNote() {
    const note = at("comment").value;
    if (mode !== "items" || note === noteShown) return;
    noteShown = note;
    said = "Comment";
    keeper.change(item().id, { note });
  }
  function leave() { writeNote(); }

  function skip(reason) {
    at("skip").close();
    said = "Skipped";
    keeper.change(item().id, { values: { skip: reason } });
    draw();
    forward();
  }

  // -- going about ---------------------------------------------------------------------------------------------------

  function forward() {
    if (!item().practice) since.stories += 1;
    const first = (from) => task.items.findIndex((one, i) => i >= from && !complete(one));
    const following = first(index + 1) >= 0 ? first(index + 1) : first(0);
    if (following < 0) list();
    else if ((since.stories >= EACH || since.seconds >= LONG) && !item().practice) rest(following);
    else story(following);
  }

  function next() {
    if (mode === "consent") { agree(); return; }
    if (mode === "guidelines") { event("guidelines"); read = true; if (back === "list") list(); else go(); return; }
    if (mode === "break") { since = { stories: 0, seconds: 0 }; event("break", { seconds: Math.round((Date.now() - paused) / 1000), offered }); story(index); return; }
    if (mode === "list") { if (done() < rated().length) go(); return; }
    writeNote();
    const missing = open();
    if (missing.length && !values().skip) {
      at("missing").textContent = `Still open: ${missing.join(", ")}.`;
      focus = names.indexOf(missing[0]);
      draw();
      return;
    }
    const one = item();
    if (("lower" in one || "whole" in one) && at("feedback").hidden) {
      const told = task.pairs ? judge.rating.preferred(one.whole, values(), names) : judge.rating.feedback(keeper.state(one.lower).values, values(), task);
      at("feedback").replaceChildren(...told);
      at("feedback").hidden = false;
      at("feedback").focus();
      return;
    }
    forward();
  }

  function agree() { agreed = true; event("consent", { hash: task.guidelines }); guidelines(); }
  function guidelines() {
    back = mode || "items";
    at("guidelines").replaceChildren(...judge.rating.guidelines(task));
    show("guidelines");
    heading(task.pairs ? "How to compare" : "How to rate");
  }
  let paused = 0;
  let offered = false;
  function rest(following = index) {
    offered = following !== index;
    index = following;
    paused = Date.now();
    show("break");
    heading("A break");
    at("pause-text").textContent = offered ? "You have worked for a while. Rest as long as you like: the clock stands still." : "The clock stands still until you go on.";
  }
  function list() {
    const [head, lines] = judge.rating.list(task, keeper, story, done());
    at("list-head").replaceChildren(...head);
    at("all-items").replaceChildren(...lines);
    show("list");
    heading(task.pairs ? "My pairs" : "My stories");
  }
  function go() {
    const first = task.items.findIndex((one) => !complete(one));
    if (!agreed) { at("consent").replaceChildren(...judge.rating.consent(task, judge.rating.minutes(task))); show("consent"); heading("Ratings of stories"); }
    else if (!read) guidelines();
    else if (first < 0) list();
    else story(first);
  }
  function undo() {
    writeNote();
    said = "Undone";
    const id = keeper.undo();
    if (id === null) { say("There is nothing to undo"); return; }
    const i = task.items.findIndex((one) => one.id === id);
    if (i !== index || mode !== "items") story(i);
    else {
      at("comment").value = noteShown = keeper.state(id).note;
      // What was taken back is asked again.
      focus = Math.max(0, names.findIndex((key) => !(key in values())));
      draw();
    }
    progress();
  }

  const actions = {
    agree, go: () => (mode === "guidelines" ? next() : mode === "break" ? next() : go()), next, guidelines, undo, list,
    rest: () => rest(),
    before: () => { if (mode === "items" && index > 0) story(index - 1); },
    comment: () => { at("comment-box").hidden = false; at("comment").focus(); },
    left: () => jump(0),
    right: () => jump(1),
    skip: () => at("skip").showModal(),
    prompt: () => { at("prompt-box").open = !at("prompt-box").open; },
    help: () => at("help").showModal(),
    download: () => judge.parts.save(judge.rating.file(task, keeper), task.file),
  };

  function jump(i) {
    boxes[i].scrollIntoView({ block: "start", behavior: "instant" });
    boxes[i].focus({ preventScroll: true });
  }

  // The digit that a key stands for, whatever the layout: on AZERTY the upper row types letters.
  const digit = (press) => (/^[0-9]$/.test(press.key) ? press.key : (/^(?:Digit|Numpad)([0-9])$/.exec(press.code) || [])[1]);

  function meaning(press) {
    if (press.key === "?") return actions.help;
    if (press.key === "Enter") return press.target.closest("button, a, summary") ? null : next;
    if (mode === "consent") return null;
    if (press.key === "l") return list;
    if (press.key === "g") return guidelines;
    if (press.key === "u") return undo;
    if (mode !== "items") return null;
    const { points } = task.criteria[focus];
    const typed = digit(press) || { ArrowLeft: "←", ArrowRight: "→" }[press.key] || press.key.toLowerCase();
    const chosen = points.findIndex((_, i) => judge.rating.keyOf(points, i) === typed);
    if (chosen >= 0) return () => { input = "key"; rate(focus, points[chosen].value); };
    const move = (step) => () => { focus = Math.min(names.length - 1, Math.max(0, focus + step)); draw(); };
    const scroll = (part) => () => {
      const long = boxes.filter((box) => box.scrollHeight > box.clientHeight + 4);
      for (const box of long) box.scrollBy({ top: box.clientHeight * part });
      if (!long.length) window.scrollBy({ top: innerHeight * part });
    };
    const going = task.pairs ? { 1: actions.left, 2: actions.right, r: actions.before }[typed] : { ArrowLeft: actions.before }[press.key];
    return going || { ArrowUp: move(-1), ArrowDown: move(1), c: actions.comment, s: actions.skip, p: actions.prompt, b: actions.rest, j: scroll(0.8), k: scroll(-0.8) }[press.key];
  }

  judge.parts.attend({
    touch, actions, meaning, note: at("comment"), writeNote,
    left: () => at("where").focus({ preventScroll: true }),
    busy: (press) => {
      const reason = at("skip").open && !press.repeat && task.skips[Number(digit(press)) - 1];
      if (reason) skip(reason);
      return at("help").open || at("skip").open || Boolean(reason);
    },
    native: () => false,
    tick: () => {
      const { active, visible, wall } = clock.tick(document.hidden, mode === "break");
      if (mode !== "items") return;
      since.seconds += active;
      keeper.tick(item().id, active);
      const own = times[item().id] || { visible: 0, wall: 0 };
      times[item().id] = { visible: own.visible + visible, wall: own.wall + wall };
    },
  }, keeper);
  at("comment").addEventListener("blur", writeNote);
  document.addEventListener("pointerdown", (press) => { touch(); input = press.pointerType || "mouse"; });
  document.addEventListener("scroll", () => { touch(); seen(); }, true);
  addEventListener("popstate", (move) => { if (move.state && agreed && read && move.state.place in task.items) story(move.state.place, false); });

  at("keys").replaceChildren(...judge.parts.keys(judge.rating.keys(task)));
  at("reasons").replaceChildren(...task.skips.map((reason, i) => {
    const choice = element("button", reason, { type: "button" });
    choice.append(element("kbd", String(i + 1)));
    choice.addEventListener("click", () => skip(reason));
    return choice;
  }));
  at("work").classList.toggle("pairs", task.pairs);
  if (task.pairs) at("before-key").textContent = "r";
  at("working").hidden = false;
  go();
  keeper.flush();
})();
