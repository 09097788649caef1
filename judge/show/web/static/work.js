// What all pages of people's work share: elements, the status line, time left, lists, and how keys and clicks reach the
// page's own actions. Nothing here knows what is asked.
"use strict";
window.judge = window.judge || {};
judge.parts = (() => {
  const element = (tag, text = "", attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
  // A button that does one of the page's actions; `key` is shown in it.
  const button = (text, does, key = "", main = false) => {
    const made = element("button", text, { type: "button", "data-does": does, class: main ? "main" : "" });
    if (key) made.append(element("kbd", key));
    return made;
  };

  // The rows of the table of keys.
  const keys = (rows) => rows.map(([pressed, text]) => {
    const row = element("tr");
    const cell = element("td");
    for (const one of pressed.split(" ")) cell.append(element("kbd", one), " ");
    row.append(cell, element("td", text));
    return row;
  });

  // One line of a list, which opens what it names.
  function line(words, open) {
    const row = element("li");
    const opens = element("button", words.filter(Boolean).join(" · "), { type: "button" });
    opens.addEventListener("click", open);
    row.append(opens);
    return row;
  }

  // How long the rest takes at this person's own pace, once `least` items tell it.
  function timeLeft(items, keeper, complete, least) {
    const done = items.filter(complete);
    const times = done.map((one) => keeper.state(one.id).seconds).filter((seconds) => seconds > 0).sort((a, b) => a - b);
    const rest = items.length - done.length;
    if (times.length < least || !rest) return "";
    return ` · about ${Math.ceil((times[Math.floor(times.length / 2)] * rest) / 60)} min left`;
  }

  // Whether answers are kept, in the status line after what was said last; what goes wrong, in a sentence.
  function report(kind, sentence, said, server) {
    const saved = document.getElementById("saved");
    const trouble = document.getElementById("trouble");
    const texts = { saving: "Saving…", saved: server ? "Saved" : "Kept in this browser", kept: "Not saved yet", refused: "Not saved", changed: "Changed elsewhere", volatile: "Not kept" };
    saved.textContent = [said, texts[kind]].filter(Boolean).join(" · ");
    saved.dataset.kind = kind;
    const troubles = {
      kept: "The server does not answer. Your answers are kept in this browser and will be sent when it is back. You can go on.",
      refused: `The server did not take an answer: ${sentence}`,
      changed: "This was answered in another tab or on another device meanwhile: what stands there now is shown. Answer again to change it.",
      volatile: server ? "This browser keeps nothing: your answers are safe only once it says “Saved”. Do not close this page before." :
        "This browser does not let a file keep anything: download your answers before you close this page.",
    };
    // While it is tried again the sentence stays.
    if (kind in troubles) trouble.textContent = troubles[kind];
    if (kind === "saved") trouble.textContent = "";
    trouble.hidden = !trouble.textContent;
  }

  // Offer a value as a JSON file to keep.
  function save(value, name) {
    const text = JSON.stringify(value, null, 1);
    const link = element("a", "", { download: name, href: URL.createObjectURL(new Blob([text], { type: "application/json" })) });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // How keys, clicks and time reach a page. `page`: touch() on every sign of life; actions by the name in data-does;
  // meaning(press) what a key does; native(press) whether the browser should do it; note, the field that is written in,
  // writeNote() and left() when it was left; tick() each second; busy(press) while a dialog is open.
  function attend(page, keeper) {
    document.addEventListener("keydown", (press) => {
      page.touch();
      const { target } = press;
      if (press.ctrlKey || press.metaKey || press.altKey || press.isComposing || page.busy(press)) return;
      if (target.matches("textarea, input:not([type=radio]), select, [contenteditable]")) {
        if (press.key === "Escape") { target.blur(); page.left(); }
        return;
      }
      if (page.native(press)) return;
      const does = page.meaning(press);
      if (!does) return;
      press.preventDefault();
      // A key that is held down must not answer twice.
      if (!press.repeat || "jk".includes(press.key)) does();
    });
    document.addEventListener("click", (press) => {
      page.touch();
      const pressed = press.target.closest("[data-does]");
      if (!pressed) return;
      page.actions[pressed.dataset.does]();
      if (page.clicked) page.clicked(pressed);
    });
    let typed = 0;
    page.note.addEventListener("input", () => { page.touch(); clearTimeout(typed); typed = setTimeout(page.writeNote, 800); });
    setInterval(page.tick, 1000);
    addEventListener("online", () => keeper.flush());
    addEventListener("beforeunload", (leaving) => { if (Object.keys(keeper.waiting).length) leaving.preventDefault(); });
  }

  return { element, plural, button, keys, line, timeLeft, report, save, attend };
})();
