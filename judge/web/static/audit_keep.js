// Keeps an annotator's answers: in this browser at once, and at the server as soon as it answers. What is sent is always
// the whole state of an item, so that sending it twice changes nothing; what was not confirmed is sent again.
"use strict";
window.judge = window.judge || {};
judge.Keeper = class {
  // task: see judge/web/audit_tasks.py. report(kind, sentence): "saved", "saving", "kept", "refused" or "volatile".
  constructor(task, report) {
    this.task = task;
    this.report = report;
    this.name = `judge-audit:${task.audit}:${task.round}:${task.annotator}`;
    this.waiting = {};   // what the server has not confirmed: "answers/3" -> {address, body}
    this.undone = [];    // [{item, before}], newest last
    this.states = {};
    this.practice = {};
    this.sending = false;
    this.pause = 500;
    for (const [id, state] of Object.entries(task.states)) this.states[id] = { ...state };
    Object.assign(this.practice, task.practised);
    this.read();
  }

  get settled() { return !Object.keys(this.waiting).length; }

  get packed() { return !this.task.save; }

  state(id) { return this.states[id] || { values: {}, note: "", seconds: 0 }; }

  complete(item) {
    const { values } = this.state(item.id);
    return item.categories.every((key) => key in values);
  }

  // A change that can be undone.
  change(id, state) {
    this.undone.push({ item: id, before: structuredClone(this.state(id)) });
    if (this.undone.length > 200) this.undone.shift();
    this.put(id, state);
  }

  // Take back the latest change; the item it was made in, or null.
  undo() {
    const last = this.undone.pop();
    if (!last) return null;
    this.put(last.item, { ...last.before, seconds: this.state(last.item).seconds });
    return last.item;
  }

  put(id, state) {
    this.states[id] = state;
    this.send(`answers/${id}`, this.task.save, { item: Number(id), ...state });
  }

  putPractice(id, values) {
    this.practice[id] = values;
    this.send(`practice/${id}`, this.task.savePractice, { practice: Number(id), values });
  }

  send(key, address, body) {
    if (!this.packed) this.waiting[key] = { address, body };
    const kept = this.write();
    if (this.packed) this.report(kept ? "saved" : "volatile");
    else this.flush();
  }

  // Send what waits, oldest first. What the server refuses (a mistake, or settled by somebody else) stays here without
  // holding up the rest; what it could not be asked is tried again until it answers.
  async flush() {
    if (this.sending || this.packed) return;
    this.sending = true;
    clearTimeout(this.timer);
    let refusal = null;
    let sent = false;
    const next = () => Object.entries(this.waiting).find(([, entry]) => !entry.refused);
    try {
      for (let found = next(); found; found = next()) {
        const [key, entry] = found;
        this.report("saving");
        const { audit, annotator, round, own } = this.task;
        try {
          await this.post(entry.address, { audit, annotator, round, own, ...entry.body });
          // A newer state of the same item waits for its own confirmation.
          if (this.waiting[key] === entry) delete this.waiting[key];
          sent = true;
        } catch (error) {
          if (!(error.status >= 400 && error.status < 500)) throw error;
          entry.refused = true;
          refusal = error.message;
        }
        this.write();
      }
      this.pause = 500;
      if (refusal) this.report("refused", refusal);
      else if (sent && !Object.keys(this.waiting).length) this.report("saved");
    } catch (error) {
      this.report("kept", error.message);
      this.pause = Math.min(this.pause * 2, 4000);
      this.timer = setTimeout(() => this.flush(), this.pause);
    } finally {
      this.sending = false;
    }
  }

  async post(address, body) {
    try {
      await judge.write(address, body);
    } catch (error) {
      // A server that was started anew has a new token; our own page, asked for again, holds it.
      if (error.status !== 403) throw error;
      const text = await (await fetch(location.href, { cache: "no-store" })).text();
      const meta = new DOMParser().parseFromString(text, "text/html").querySelector("meta[name=judge-token]");
      if (!meta) throw error;
      document.querySelector("meta[name=judge-token]").content = meta.content;
      await judge.write(address, body);
    }
  }

  // From this browser's store: everything in a pack, else what no server has confirmed.
  read() {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(this.name));
    } catch {
      kept = null;
    }
    if (!kept) return;
    // In the second round an item may have ceased to be one.
    this.undone = (kept.undone || []).filter((one) => this.task.items.some(({ id }) => id === one.item));
    if (this.packed) {
      this.states = kept.states || {};
      this.practice = kept.practice || {};
      return;
    }
    this.waiting = kept.waiting || {};
    for (const entry of Object.values(this.waiting)) delete entry.refused;
    for (const { body } of Object.values(this.waiting)) {
      if ("item" in body) this.states[body.item] = { values: body.values, note: body.note, seconds: body.seconds };
      else this.practice[body.practice] = body.values;
    }
  }

  write() {
    const { undone, waiting, states, practice } = this;
    const kept = this.packed ? { undone, states, practice } : { undone, waiting };
    try {
      localStorage.setItem(this.name, JSON.stringify(kept));
      return true;
    } catch {
      return false;
    }
  }
};
