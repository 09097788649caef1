// Seconds that a reader spends on a text. Active ones need a key, a click or a scroll now and then: at least every two
// minutes, or twice the time that a slow reader takes for the text, which may fit the screen and need no scrolling.
"use strict";
window.judge = window.judge || {};
judge.Clock = class {
  static SLOW = 150;   // words a minute
  static IDLE = 120;   // seconds
  static ASLEEP = 60;  // seconds between two ticks after which the machine is taken to have slept

  constructor(now = () => performance.now(), wall = () => Date.now()) {
    this.now = now;
    this.wall = wall;
    this.last = now();
    this.lastWall = wall();
    this.moved = now();
    this.words = 0;
  }

  reading(words) { this.words = words; }

  touch() { this.moved = this.now(); }

  // Seconds since the tick before: {active, visible, wall}. `paused`: a break.
  tick(hidden, paused = false) {
    const now = this.now();
    const wall = this.wall();
    const gap = (now - this.last) / 1000;
    const spent = { active: 0, visible: 0, wall: Math.max(0, (wall - this.lastWall) / 1000) };
    this.last = now;
    this.lastWall = wall;
    if (gap > judge.Clock.ASLEEP || gap < 0) { this.touch(); return spent; }
    if (paused) return { ...spent, wall: 0 };
    const idle = Math.max(judge.Clock.IDLE, (2 * this.words * 60) / judge.Clock.SLOW);
    if (!hidden) spent.visible = gap;
    if (!hidden && (now - this.moved) / 1000 <= idle) spent.active = gap;
    return spent;
  }
};
judge.words = (text) => (text || "").split(/\s+/).filter(Boolean).length;
