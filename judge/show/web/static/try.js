// judge try: what the questions would cost, before the button; then answers as they come.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const form = at("ask"), go = at("go"), stop = at("stop"), cost = at("cost"), trouble = at("trouble"), answers = at("answers");
  const standing = at("standing"), progress = at("progress"), seconds = at("seconds");
  let running = null, number = 0, timer = null;

  const texts = () => Object.fromEntries(["criteria", "story", "story_prompt", "reference", "other"].map((name) => [name, at(name).value]));
  const complain = (error) => { trouble.textContent = error.status ? error.message : "The server does not answer. Is it still running?"; trouble.hidden = false; };

  // The cost of what stands in the form now: an answer to what stood there before is not shown.
  const ask = async () => {
    const mine = ++number;
    if (!at("story").value.trim()) { go.disabled = true; cost.textContent = "The price is shown here once there is a story."; return; }
    try {
      const found = await window.judge.write("/cost", texts());
      if (mine !== number) return;
      cost.textContent = found.words;
      cost.classList.toggle("bad", !found.ready);
      go.disabled = !found.ready || running !== null;
    } catch (error) { if (mine === number) { cost.textContent = error.status ? error.message : "The server does not answer."; cost.classList.add("bad"); } }
  };
  const soon = () => { go.disabled = true; number += 1; clearTimeout(timer); timer = setTimeout(ask, 250); };
  form.addEventListener("input", soon);

  let last = "";
  const show = (found) => {
    // Only where something came, so that what one reads or selects stays. All of it is escaped by the server.
    if (found.html !== last) {
      const open = [...answers.querySelectorAll("details")].map((one) => one.open);
      answers.innerHTML = last = found.html;
      answers.querySelectorAll("details").forEach((one, place) => { one.open = open[place] || false; });
    }
    const counted = at("counted");
    if (counted) { progress.max = counted.dataset.asked; progress.value = counted.dataset.answered; }
  };
  const end = () => { running = null; stop.hidden = true; standing.hidden = true; ask(); };

  const follow = async (name, began) => {
    let missed = 0;
    while (running === name) {
      seconds.textContent = `${Math.round((Date.now() - began) / 1000)} s`;
      await new Promise((done) => setTimeout(done, 500));
      try {
        const response = await fetch(`/answers/${name}`);
        if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status });
        const found = await response.json();
        missed = 0;
        show(found);
        if (found.done) { end(); return; }
      } catch (error) { if (error.status || ++missed > 5) { complain(error); end(); return; } }
    }
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running !== null || go.disabled) return;
    running = ""; go.disabled = true; trouble.hidden = true; answers.innerHTML = last = "";
    progress.removeAttribute("value"); seconds.textContent = ""; standing.hidden = false;
    const began = Date.now();
    try {
      const found = await window.judge.write("/ask", texts());
      show(found);
      if (found.done) { end(); } else { running = found.name; stop.hidden = false; follow(found.name, began); }
      answers.scrollIntoView({ block: "start" });
    } catch (error) { complain(error); end(); }
  });
  stop.addEventListener("click", async () => {
    const name = running;
    stop.hidden = true;
    try { show(await window.judge.write(`/stop/${name}`, {})); } catch (error) { complain(error); }
    end();
  });
  if (at("story").value.trim()) ask();
})();
