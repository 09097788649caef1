// Texts on the audit's pages: which quotations of an explanation occur in its story, and marks around them.
// A text is only ever put into the page as text, never as markup.
"use strict";
window.judge = window.judge || {};
judge.texts = (() => {
  const PAIRS = { "\u201c": "\u201d", "\u00ab": "\u00bb", "\u201e": "\u201c", '"': '"', "\u2018": "\u2019" };
  const SHORTEST = 2; // letters; a quoted single letter would be found everywhere

  // The text in lower case with plain quotes and single blanks, and where each of its characters came from.
  function plain(text) {
    const characters = [];
    const origin = [];
    let blank = true;
    for (let i = 0; i < text.length; i++) {
      let c = text[i];
      if (/\s/.test(c)) {
        if (blank) continue;
        c = " ";
      } else if ("\u2018\u2019\u02bc`".includes(c)) c = "'";
      else if ("\u201c\u201d\u201e\u00ab\u00bb".includes(c)) c = '"';
      else if ("\u2013\u2014".includes(c)) c = "-";
      blank = c === " ";
      const lower = c.toLowerCase();
      characters.push(lower.length === 1 ? lower : c);
      origin.push(i);
    }
    return { text: characters.join(""), origin };
  }

  // [start, end] of what stands between quotation marks, without them.
  function quotations(text) {
    const found = [];
    for (let i = 0; i < text.length; i++) {
      const close = PAIRS[text[i]];
      const inside = close && text.indexOf(close, i + 1);
      if (!close || inside < 0) continue;
      // An apostrophe opens nothing: it follows a letter.
      if (text[i] === "\u2018" && i > 0 && /\p{L}/u.test(text[i - 1])) continue;
      found.push([i + 1, inside]);
      i = inside;
    }
    return found;
  }

  // What a quotation is searched by: without the stops and dots that a writer adds at its ends.
  const core = (text) => plain(text).text.trim().replace(/^[.\u2026\s]+|[.,;:!?\u2026\s]+$/g, "");

  // Where a part begins in the story, at the beginning of a word; -1 where it does not.
  function place(text, part) {
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
      if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
    }
    return -1;
  }

  // {explanation: [[start, end, found]], story: [[start, end]], found, all}
  function compare(explanation, story) {
    const reading = plain(story || "");
    const result = { explanation: [], story: [], found: 0, all: 0 };
    for (const [start, end] of quotations(explanation)) {
      const parts = explanation.slice(start, end).split(/\.\.\.|\u2026|\[[^\]]*\]/).map(core)
        .filter((part) => part.replace(/[^\p{L}\p{N}]/gu, "").length >= SHORTEST);
      if (!parts.length) continue;
      const places = parts.map((part) => place(reading.text, part));
      const found = places.every((start_) => start_ >= 0);
      result.all += 1;
      result.explanation.push([start, end, found]);
      if (!found) continue;
      result.found += 1;
      places.forEach((from, i) => {
        result.story.push([reading.origin[from], reading.origin[from + parts[i].length - 1] + 1]);
      });
    }
    return result;
  }

  // Put the text into the element, with <mark> around ranges; overlapping ranges become one.
  function show(element, text, ranges = []) {
    const pieces = [];
    let at = 0;
    for (const [start, end, found] of [...ranges].sort((a, b) => a[0] - b[0])) {
      if (end <= at) continue;
      pieces.push(text.slice(at, Math.max(at, start)));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(Math.max(at, start), end);
      if (found === false) {
        mark.className = "absent";
        mark.title = "not in the story in these words";
      }
      pieces.push(mark);
      at = end;
    }
    pieces.push(text.slice(at));
    element.replaceChildren(...pieces);
  }

  return { compare, show };
})();
