// Keeps a person's answers: in this browser at once, and at the server as soon as it answers. What is sent is one
// change: what was answered now, and what stood there before, so that no tab overwrites what it has not seen. Each
// message has a name of its own, and what was not confirmed is sent again under the same name: the server takes each
// once, in the order in which they come. Audits and ratings of stories use the same keeper.
"use strict";
window.judge = window.judge || {};
judge.Keeper = class {
  // task: see judge/show/web/audit_annotators.py, people_task.py. report(kind, sentence): "saved", "saving", "kept",
  // "refused", "changed" (elsewhere, so that a change was not made) or "volatile".
  // changed(id): the server told of an item what this page did not know, such as an answer of another tab.
  constructor(task, report, changed = () => {}) {
    this.task = task;
    this.report = report;
    this.changed = changed;
    this.name = task.store || `judge-audit:${task.audit}:${task.round}:${task.annotator}`;
    this.who = task.who || { audit: task.audit, annotator: task.annotator, round: task.round, own: task.own };
    this.tab = [...crypto.getRandomValues(new Uint32Array(3))].map((part) => part.toString(36)).join("");
    this.number = 0;     // of this tab's messages
    this.waiting = {};   // what the server has not confirmed: name of the message -> {address, body, at}
    this.undone = [];    // [{item, values, note}]: what the changed answers were before, newest last
    this.states = {};
    this.practice = {};
    this.spent = {};     // seconds on an item that no message has told yet
    this.sending = null; // name of the message on its way
    this.busy = false;
    this.pause = 500;
    this.extra = () => ({});   // what else is told with a change of an item
    for (const [id, state] of Object.entries(task.states)) this.states[id] = structuredClone(state);
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

  // A change that can be undone: `values` (null takes an answer back) and perhaps the note.
  change(id, change) {
    const { values, note } = this.state(id);
    const before = Object.fromEntries(Object.keys(change.values || {}).map((key) => [key, values[key] ?? null]));
    this.undone.push({ item: id, values: before, ...("note" in change ? { note } : {}) });
    if (this.undone.length > 200) this.undone.shift();
    this.put(id, change);
    this.undone.at(-1).message = `${this.tab}-${this.number}`;
    this.keepUndone();
  }

  // Take back the latest change of this tab; the item it was made in, or null.
  undo() {
    const last = this.undone.pop();
    if (!last) return null;
    const { item, message, ...change } = last;
    this.put(item, change);
    return item;
  }

  put(id, change) {
    if (this.packed) this.states[id] = this.kept(`state:${id}`) || this.state(id);
    const { values, note } = this.state(id);
    const before = Object.fromEntries(Object.keys(change.values || {}).map((key) => [key, values[key] ?? null]));
    this.apply(id, change);
    const seconds = this.spent[id] || 0;
    delete this.spent[id];
    if (this.packed) {
      this.states[id].seconds += seconds;
      this.keepPack(`state:${id}`, this.states[id]);
      return;
    }
    const seen = "note" in change ? { before, note_before: note } : { before };
    this.send(this.task.save, { item: Number(id), values: {}, ...change, ...seen, seconds, ...this.extra(id) });
  }

  // Seconds of work on an item; they are told with the next change.
  tick(id, seconds) {
    this.spent[id] = (this.spent[id] || 0) + seconds;
    if (!this.packed) this.states[id] = { ...this.state(id), seconds: this.state(id).seconds + seconds };
  }

  putPractice(id, values) {
    this.practice[id] = values;
    if (this.packed) this.keepPack(`practice:${id}`, values);
    else this.send(this.task.savePractice, { practice: Number(id), values });
  }

  apply(id, { values = {}, note }) {
    const state = structuredClone(this.state(id));
    for (const [key, value] of Object.entries(values)) {
      if (value === null) delete state.values[key];
      else state.values[key] = value;
    }
    if (note !== undefined) state.note = note;
    this.states[id] = state;
  }

  send(address, body) {
    const last = this.unsent(body.item);
    if (last) {
      // While nothing can be sent, what is typed into one note is one message, under a new name.
      const earlier = this.waiting[last].body;
      body = { ...body, seconds: body.seconds + earlier.seconds, note_before: earlier.note_before };
      this.drop(last);
    }
    const message = `${this.tab}-${this.number += 1}`;
    this.waiting[message] = { address, body, at: Date.now() };
    const stored = this.keep(`waiting:${message}`, this.waiting[message]);
    this.keepUndone();
    if (!stored) this.report("volatile");
    this.flush();
  }

  // The newest message, where it holds an earlier note on this item and nothing else, and was never sent.
  unsent(item) {
    const last = `${this.tab}-${this.number}`;
    const entry = this.waiting[last];
    if (!entry || entry.tried || last === this.sending || item === undefined || entry.body.item !== item) return null;
    return "note" in entry.body && !Object.keys(entry.body.values).length ? last : null;
  }

  // Send what waits, oldest first. What the server refuses (a mistake, or settled by somebody else) stays here without
  // holding up the rest; what it could not be asked is tried again until it answers.
  async flush() {
    if (this.busy || this.packed) return;
    this.busy = true;
    clearTimeout(this.timer);
    let refusal = null;
    let changed = false;
    let sent = false;
    const next = () => Object.entries(this.waiting).find(([, entry]) => !entry.refused);
    try {
      for (let found = next(); found; found = next()) {
        const [message, entry] = found;
        this.report("saving");
        this.sending = message;
        entry.tried = true;
        try {
          const told = await this.post(entry.address, { ...this.who, ...this.named(message, entry.body) });
          this.drop(message);
          if (told && "item" in told) this.learn(told);
          sent = true;
        } catch (error) {
          if (!(error.status >= 400 && error.status < 500)) throw error;
          const held = error.status === 409 ? this.stateIn(error.message) : null;
          if (held) {
            this.drop(message);
            // What was not made cannot be taken back.
            this.undone = this.undone.filter((one) => one.message !== message);
            this.keepUndone();
            this.learn(held);
            changed = true;
            continue;
          }
          entry.refused = true;
          refusal = error.message;
        }
      }
      this.pause = 500;
      if (refusal) this.report("refused", refusal);
      else if (changed) this.report("changed");
      else if (sent && this.settled) this.report("saved");
    } catch (error) {
      this.report("kept", error.message);
      this.pause = Math.min(this.pause * 2, 4000);
      this.timer = setTimeout(() => this.flush(), this.pause);
    } finally {
      this.sending = null;
      this.busy = false;
    }
  }

  // What the server holds, where it says so in refusing a change.
  stateIn(text) {
    try {
      const told = JSON.parse(text);
      return told && "item" in told ? told : null;
    } catch {
      return null;
    }
  }

  // Practice has no name: it may be kept any number of times.
  named(message, body) { return "practice" in body ? body : { message, ...body }; }

  // What the server holds of an item now, with what still waits here on top.
  learn({ item, values, note, seconds }) {
    const before = JSON.stringify(this.state(item));
    this.states[item] = { values: { ...values }, note, seconds: seconds + (this.spent[item] || 0) };
    for (const { body } of Object.values(this.waiting)) {
      if (body.item !== item) continue;
      this.apply(item, body);
      this.states[item].seconds += body.seconds;
    }
    if (JSON.stringify(this.state(item)) !== before) this.changed(item);
  }

  async post(address, body) {
    try {
      return await judge.write(address, body);
    } catch (error) {
      // A server that was started anew has a new token; our own page, asked for again, holds it.
      if (error.status !== 403) throw error;
      const text = await (await fetch(location.href, { cache: "no-store" })).text();
      const meta = new DOMParser().parseFromString(text, "text/html").querySelector("meta[name=judge-token]");
      if (!meta) throw error;
      document.querySelector("meta[name=judge-token]").content = meta.content;
      return await judge.write(address, body);
    }
  }

  // -- this browser's store: an entry for each message or, in a pack, for each item, so that no tab overwrites another's

  read() {
    this.undone = (this.session() || []).filter((one) => this.task.items.some(({ id }) => id === one.item));
    const entries = this.entries();
    if (this.packed) {
      for (const [key, value] of entries) {
        const [kind, id] = key.split(":");
        if (kind === "state") this.states[id] = value;
        if (kind === "practice") this.practice[id] = value;
      }
      return;
    }
    const waiting = entries.filter(([key]) => key.startsWith("waiting:")).sort(([, a], [, b]) => a.at - b.at);
    for (const [key, entry] of waiting) {
      this.waiting[key.slice("waiting:".length)] = { ...entry, tried: true };
      const { body } = entry;
      if ("practice" in body) this.practice[body.practice] = body.values;
      if (!("item" in body)) continue;
      this.apply(body.item, body);
      this.states[body.item].seconds += body.seconds;
    }
  }

  entries() {
    const start = `${this.name}:`;
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(start));
      return keys.map((key) => [key.slice(start.length), this.kept("", key)]).filter(([, value]) => value);
    } catch {
      return [];
    }
  }

  kept(key, name = `${this.name}:${key}`) {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  }

  keep(key, value) {
    try {
      localStorage.setItem(`${this.name}:${key}`, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  }

  keepPack(key, value) {
    this.keepUndone();
    this.report(this.keep(key, value) ? "saved" : "volatile");
  }

  drop(message) {
    delete this.waiting[message];
    try {
      localStorage.removeItem(`${this.name}:waiting:${message}`);
    } catch {
      // A browser that keeps nothing has nothing to forget.
    }
  }

  // What can be undone is this tab's own.
  session() {
    try {
      return JSON.parse(sessionStorage.getItem(this.name));
    } catch {
      return null;
    }
  }

  keepUndone() {
    try {
      sessionStorage.setItem(this.name, JSON.stringify(this.undone));
    } catch {
      // Without a store the changes of this visit can be undone.
    }
  }
};
