// The map of explanations: points on a canvas, coloured and filtered; a click opens the texts. The list does the same.
"use strict";
(() => {
  const canvas = document.getElementById("map");
  if (!canvas) return;
  const opened = document.getElementById("opened");
  const chosen = JSON.parse(canvas.dataset.filters), words = JSON.parse(canvas.dataset.words);
  const MARGIN = 14, SIZE = 10000, REACH = 12;
  let data = null, shown = [], current = null;

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const palette = () => ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"].map(css);

  const show = async (number) => {
    current = number;
    draw();
    try {
      const response = await fetch(canvas.dataset.open + number);
      opened.innerHTML = await response.text();
      const heading = opened.querySelector("h3, [role=alert]");
      if (heading) heading.focus({ preventScroll: innerWidth > 900 });
    } catch { opened.textContent = "The server does not answer."; }
    for (const link of document.querySelectorAll("[data-dot]")) link.toggleAttribute("aria-current", Number(link.dataset.dot) === number);
  };

  const keeps = (i) => {
    for (const key of ["criterion", "eval_prompt", "system"]) {
      if (chosen[key] && data.names[key][data[key][i]] !== chosen[key]) return false;
    }
    const cluster = data.cluster[i], rating = data.rating[i];
    if (chosen.cluster === "none") { if (cluster !== null && cluster >= 0) return false; }
    else if (chosen.cluster && String(cluster) !== chosen.cluster) return false;
    if (chosen.rating) { const r = Number(chosen.rating); if (rating === null || rating < r - 0.5 || rating >= r + 0.5) return false; }
    return true;
  };

  // Category of each point: number of a colour, or -1 for none; and the names for the legend.
  const colouring = () => {
    const by = canvas.dataset.colour;
    if (by === "criterion" || by === "eval_prompt") return { of: (i) => data[by][i], names: data.names[by] };
    if (by === "cluster") {
      // Seven colours can be told apart: those of the largest that are shown.
      const counts = new Map();
      for (const i of shown) if ((data.cluster[i] ?? -1) >= 0) counts.set(data.cluster[i], (counts.get(data.cluster[i]) ?? 0) + 1);
      const largest = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, palette().length).map(([k]) => k);
      const names = largest.map((k) => [`${k}`, ...(words[k] ?? []).slice(0, 2)].join(", ").replace(",", ":"));
      return { of: (i) => largest.indexOf(data.cluster[i] ?? -1), names, none: counts.size > largest.length ? `${counts.size - largest.length} others, or in none` : "in none" };
    }
    const known = shown.map((i) => data.rating[i]).filter((r) => r !== null);
    const low = Math.floor(Math.min(...known)), high = Math.ceil(Math.max(...known));
    const points = known.length && high - low < 12 ? Array.from({ length: high - low + 1 }, (_, k) => low + k) : [];
    return { of: (i) => (data.rating[i] === null || !points.length ? -1 : Math.round(data.rating[i]) - low), names: points.map(String), none: "no rating", ramp: true };
  };

  const place = (i) => {
    const w = canvas.width - 2 * MARGIN, h = canvas.height - 2 * MARGIN, side = Math.min(w / wide, h / high);
    return [canvas.width / 2 + (data.x[i] - middle[0]) * side, canvas.height / 2 - (data.y[i] - middle[1]) * side];
  };
  let wide = SIZE, high = SIZE, middle = [SIZE / 2, SIZE / 2];

  const draw = () => {
    if (!data) return;
    const context = canvas.getContext("2d"), colours = palette(), none = css("--c8");
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const width = canvas.clientWidth, height = Math.min(640, Math.max(320, Math.round(width * 0.72)));
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const how = colouring(), count = how.names.length;
    const colour = (k) => (k < 0 ? none : how.ramp ? `hsl(${40 + 180 * (count > 1 ? k / (count - 1) : 0)} 75% ${matchMedia("(prefers-color-scheme: dark)").matches || document.documentElement.dataset.theme === "dark" ? 60 : 38}%)` : colours[k % colours.length]);
    const size = ratio * (shown.length > 8000 ? 1.4 : shown.length > 1500 ? 2.2 : 3.4);
    // What the filters leave out stays as a shadow, so that what is shown keeps its place among all.
    if (shown.length < data.number.length) {
      context.globalAlpha = 0.18; context.fillStyle = none;
      for (let i = 0; i < data.number.length; i++) { const [x, y] = place(i); context.beginPath(); context.arc(x, y, 1.6 * ratio, 0, 7); context.fill(); }
    }
    context.globalAlpha = shown.length > 1500 ? 0.6 : 0.85;
    for (const i of shown) {
      const [x, y] = place(i);
      context.fillStyle = colour(how.of(i));
      context.beginPath(); context.arc(x, y, size, 0, 7); context.fill();
    }
    context.globalAlpha = 1;
    const at = current === null ? -1 : data.number.indexOf(current);
    if (at >= 0) {
      const [x, y] = place(at);
      context.strokeStyle = css("--ink"); context.lineWidth = 2.5 * ratio;
      context.beginPath(); context.arc(x, y, size + 5 * ratio, 0, 7); context.stroke();
    }
    const legend = document.getElementById("legend");
    legend.replaceChildren(...[...how.names.map((name, k) => [name, colour(k)]), ...(how.none ? [[how.none, none]] : [])].map(([name, fill]) => {
      const item = document.createElement("li"), dot = document.createElement("span");
      dot.className = "swatch"; dot.style.background = fill; item.append(dot, name); return item;
    }));
  };

  const frame = () => {
    shown = data.number.map((_, i) => i).filter(keeps);
    const range = (v) => { let a = Infinity, b = -Infinity; for (const one of v) { a = Math.min(a, one); b = Math.max(b, one); } return [a, b]; };
    const [x0, x1] = range(data.x), [y0, y1] = range(data.y);
    wide = Math.max(1, x1 - x0); high = Math.max(1, y1 - y0); middle = [(x0 + x1) / 2, (y0 + y1) / 2];
    const note = document.getElementById("drawn");
    if (!data.number.length) note.textContent = "No map was drawn of them: the list is all there is.";
    else note.textContent = `${shown.length.toLocaleString("en")} points shown` + (shown.length < data.number.length ? ` in colour of ${data.number.length.toLocaleString("en")}` : "") + (data.number.length < data.total ? ` of a sample of ${data.number.length.toLocaleString("en")} drawn from ${data.total.toLocaleString("en")} (seed 1); the list has all.` : ".");
    draw();
  };

  canvas.addEventListener("click", (event) => {
    if (!data) return;
    const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
    const x = (event.clientX - box.left) * ratio, y = (event.clientY - box.top) * ratio;
    let best = null, near = (REACH * ratio) ** 2;
    for (const i of shown) {
      const [a, b] = place(i), d = (a - x) ** 2 + (b - y) ** 2;
      if (d < near) { near = d; best = i; }
    }
    if (best !== null) show(data.number[best]);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-dot]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    show(Number(link.dataset.dot));
  });
  document.querySelector("form[data-filters] select[name=colour]").addEventListener("change", (event) => {
    event.stopImmediatePropagation();
    canvas.dataset.colour = event.target.value;
    history.replaceState(null, "", new URL(`?${new URLSearchParams(new FormData(event.target.form))}`, location));
    draw();
  }, true);
  addEventListener("resize", draw);
  document.addEventListener("click", (event) => { if (event.target.closest("[data-theme-switch]")) setTimeout(draw); });
  fetch(canvas.dataset.source).then((response) => response.json()).then((found) => { data = found; frame(); });
})();
