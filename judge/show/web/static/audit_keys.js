// The keys of the audit's pages: which key does what, where. They answer nothing by themselves.
"use strict";
window.judge = window.judge || {};
// page: actions and working (key -> what it does on an item) as audit.js has them; mode() and asked() say what is on the
// page; next is called; turn(category) answers yes, or no where it was yes.
judge.meaning = (task, page) => (press) => {
  const { actions, working } = page;
  const mode = page.mode();
  if (press.key === "?" || press.key === "h") return actions.help;
  if (press.key === "Enter") return press.target.closest("button, a, summary") ? null : page.next;
  if (mode === "list") return { p: actions.reopen, b: actions.reopen, ArrowLeft: actions.reopen, u: actions.undo }[press.key];
  if (press.key === "p" && mode === "items") return actions.list;
  if (mode !== "items" && mode !== "practice") return null;
  const category = task.categories.find((one) => one.press === press.key);
  if (category) return page.asked().includes(category.key) ? () => page.turn(category.key) : null;
  return Object.hasOwn(working, press.key) ? working[press.key] : null;
};
