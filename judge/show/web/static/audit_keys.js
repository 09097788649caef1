// The keyboard of the audit's pages: which key does what, and where keys are letters. It answers nothing by itself.
"use strict";
window.judge = window.judge || {};
// page: touch, leave and next are called; actions and working (key -> what it does on an item) as audit.js has them;
// mode() and asked() say what is on the page; turn(category) answers yes, or no where it was yes.
judge.keyboard = (task, page) => {
  const { actions, working } = page;
  const help = document.getElementById("help");

  function meaning(event) {
    const mode = page.mode();
    if (event.key === "?" || event.key === "h") return actions.help;
    if (event.key === "Enter") return event.target.closest("button, a, summary") ? null : page.next;
    if (mode === "list") return { p: actions.reopen, b: actions.reopen, ArrowLeft: actions.reopen, u: actions.undo }[event.key];
    if (event.key === "p" && mode === "items") return actions.list;
    if (mode !== "items" && mode !== "practice") return null;
    const category = task.categories.find(({ press }) => press === event.key);
    if (category) return page.asked().includes(category.key) ? () => page.turn(category.key) : null;
    return Object.hasOwn(working, event.key) ? working[event.key] : null;
  }

  document.addEventListener("keydown", (event) => {
    page.touch();
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
    if (target.matches("textarea, input:not([type=radio]), select, [contenteditable]")) {
      if (event.key === "Escape") { target.blur(); page.leave(); }
      return;
    }
    if (target.matches("input[type=radio]") && event.key.startsWith("Arrow")) return;
    if (target.matches("#story, #reference-text") && event.key.startsWith("Arrow")) return;
    const does = meaning(event);
    if (!does) return;
    event.preventDefault();
    if (!event.repeat || "jk".includes(event.key)) does();
  });
};
