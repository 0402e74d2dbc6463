// One metric against one criterion, with one dot per story. The line and the density rest on all
// stories of the page; the dots are a sample where there are many.

const MOST_DOTS = 1500;

/** The least-squares line through points, and Pearson's correlation. */
function leastSquares(points) {
  const n = points.length;
  const mx = points.reduce((sum, p) => sum + p.x, 0) / n;
  const my = points.reduce((sum, p) => sum + p.y, 0) / n;
  const sum = { xy: 0, xx: 0, yy: 0 };
  for (const p of points) {
    sum.xy += (p.x - mx) * (p.y - my);
    sum.xx += (p.x - mx) ** 2;
    sum.yy += (p.y - my) ** 2;
  }
  const slope = sum.xy / sum.xx;
  return { slope, intercept: my - slope * mx, r: sum.xy / Math.sqrt(sum.xx * sum.yy) };
}

/** Round numbers that divide a range into about so many parts. */
function roundTicks(low, high, parts) {
  const raw = (high - low) / parts;
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  return ticks;
}

/** The stories that have both numbers, as points. */
function pointsOf(metric, criterion, rows) {
  const points = rows.map((i) => ({ i, x: criterion.values[i], y: metric.values[i] }));
  return points.filter((p) => p.x !== null && p.y !== null);
}

/** The range of a coordinate with a margin on both sides. */
function paddedRange(points, key) {
  let [low, high] = [Infinity, -Infinity];
  for (const p of points) {
    low = Math.min(low, p[key]);
    high = Math.max(high, p[key]);
  }
  const margin = (high - low || 1) * 0.04;
  return [low - margin, high + margin];
}

/** Draws the stories `rows`. A click on a dot calls `choose` with the row of its story. */
function drawScatter(metric, criterion, rows, choose) {
  const box = document.getElementById("story-scatter");
  const caption = document.getElementById("scatter-caption");
  const points = pointsOf(metric, criterion, rows);
  if (points.length < 3) {
    box.replaceChildren();
    caption.textContent = "Fewer than three stories have both numbers, so nothing is drawn.";
    return;
  }
  const fit = leastSquares(points);
  const [x0, x1] = paddedRange(points, "x");
  const [y0, y1] = paddedRange(points, "y");
  const [W, H, L, T] = [640, 320, 70, 12];
  const px = (x) => L + ((x - x0) / (x1 - x0)) * W;
  const py = (y) => T + H - ((y - y0) / (y1 - y0)) * H;
  const root = svg("svg", {
    class: "figure",
    viewBox: `0 0 ${L + W + 20} ${T + H + 50}`,
    style: `--width:${L + W + 20}px`,
    role: "img",
    "aria-label": `${metric.name} against ${criterion.name}`,
  });
  const text = (x, y, content, more) =>
    root.append(svg("text", { x, y, "font-size": 11, fill: "currentColor", ...more }, content));
  const rounded = (value) => String(Number(value.toPrecision(4)));
  for (const t of roundTicks(y0, y1, 6)) {
    const d = `M${L} ${py(t)}H${L + W}`;
    root.append(svg("path", { d, stroke: "currentColor", "stroke-opacity": 0.15 }));
    text(L - 6, py(t) + 4, rounded(t), { "text-anchor": "end" });
  }
  for (const t of roundTicks(x0, x1, 8)) {
    text(px(t), T + H + 16, rounded(t), { "text-anchor": "middle" });
  }
  text(L + W / 2, T + H + 38, criterion.name, { "text-anchor": "middle" });
  const turned = { "text-anchor": "middle", transform: `rotate(-90 14 ${T + H / 2})` };
  text(14, T + H / 2, metric.name, turned);
  root.append(densityShades(points, px, py));
  const stride = Math.ceil(points.length / MOST_DOTS);
  const drawn = points.filter((_, at) => at % stride === 0);
  root.append(...dotsBySystem(drawn, metric, criterion, px, py));
  const onLine = (x) => Math.min(y1, Math.max(y0, fit.intercept + fit.slope * x));
  const d = `M${px(x0)} ${py(onLine(x0))}L${px(x1)} ${py(onLine(x1))}`;
  root.append(svg("path", { d, stroke: "currentColor", "stroke-width": 2, fill: "none" }));
  root.addEventListener("click", (event) => {
    if (event.target.dataset.i) choose(Number(event.target.dataset.i));
  });
  box.replaceChildren(root);
  const found = Number.isFinite(fit.r)
    ? `Pearson ${shown(fit.r, 3)} over ${points.length} stories`
    : `no correlation over ${points.length} stories, because one of the two is constant`;
  const sample =
    stride > 1
      ? ` ${drawn.length} of ${points.length} stories are drawn as dots, an even sample; ` +
        `the line and the density rest on all ${points.length}.`
      : "";
  caption.textContent =
    `${metric.name} against ${criterion.name}: ${found}. ` +
    `The line is the least-squares fit, and the shades show the density.${sample}`;
  caption.append(legendOf(drawn));
  applyHighlight();
}

/** The colours of the systems that are shown. */
function legendOf(points) {
  const S = DATA.stories;
  const systems = distinct(points.map((p) => S.systems[S.system[p.i]])).filter(Boolean);
  const entry = (system) => {
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = COLOURS.get(system) || "transparent";
    return el("span", {}, swatch, system);
  };
  return el("span", { class: "legend" }, ...systems.map(entry));
}

/** One group of dots per system, so that a system can be highlighted. */
function dotsBySystem(points, metric, criterion, px, py) {
  const S = DATA.stories;
  const groups = new Map();
  for (const p of points) {
    const system = S.systems[S.system[p.i]];
    if (!groups.has(system)) {
      groups.set(system, svg("g", { class: "series", "data-series": system }));
    }
    const numbers = `${metric.name} ${shown(p.y)}, ${criterion.name} ${shown(p.x)}`;
    const dot = svg("circle", {
      cx: px(p.x).toFixed(1),
      cy: py(p.y).toFixed(1),
      r: 3,
      fill: COLOURS.get(system) || "#0072b2",
      "fill-opacity": 0.75,
      "data-i": p.i,
      "data-tip": `${S.ids[p.i]} ${system}: ${numbers}`,
    });
    groups.get(system).append(dot);
  }
  return groups.values();
}

/** Shades of grey under the dots: the more stories in a cell, the darker. */
function densityShades(points, px, py) {
  const size = 20;
  const cells = new Map();
  for (const p of points) {
    const key = `${Math.floor(px(p.x) / size)},${Math.floor(py(p.y) / size)}`;
    cells.set(key, (cells.get(key) || 0) + 1);
  }
  const most = Math.max(...cells.values());
  const group = svg("g");
  for (const [key, count] of cells) {
    const [x, y] = key.split(",").map((at) => Number(at) * size);
    const shade = (0.35 * Math.sqrt(count / most)).toFixed(3);
    const area = { x, y, width: size, height: size };
    group.append(svg("rect", { ...area, fill: "#777", "fill-opacity": shade }));
  }
  return group;
}
