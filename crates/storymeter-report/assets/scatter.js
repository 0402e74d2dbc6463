// One metric against one criterion, a dot a story. Regression over all stories of the page, dots of a sample.

const MOST_DOTS = 1500;

function leastSquares(points) {
  const n = points.length;
  const mx = points.reduce((s, p) => s + p.x, 0) / n;
  const my = points.reduce((s, p) => s + p.y, 0) / n;
  let sxy = 0, sxx = 0, syy = 0;
  for (const p of points) { sxy += (p.x - mx) * (p.y - my); sxx += (p.x - mx) ** 2; syy += (p.y - my) ** 2; }
  const slope = sxy / sxx;
  return { slope, intercept: my - slope * mx, r: sxy / Math.sqrt(sxx * syy) };
}

function roundTicks(low, high, parts) {
  const raw = (high - low) / parts;
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  return ticks;
}

/** Draws rows `shown`; `choose` is called with the row of a dot that was clicked. */
function drawScatter(metric, criterion, rows, choose) {
  const S = DATA.stories, box = document.getElementById("scatter"), caption = document.getElementById("scatter-caption");
  const points = rows.map((i) => ({ i, x: criterion.values[i], y: metric.values[i] })).filter((p) => p.x !== null && p.y !== null);
  if (points.length < 3) { box.replaceChildren(); caption.textContent = "Too few stories with both numbers to draw."; return; }
  const fit = leastSquares(points);
  const extent = (key) => {
    let low = Infinity, high = -Infinity;
    for (const p of points) { low = Math.min(low, p[key]); high = Math.max(high, p[key]); }
    const pad = (high - low || 1) * 0.04;
    return [low - pad, high + pad];
  };
  const [x0, x1] = extent("x"), [y0, y1] = extent("y");
  const W = 640, H = 320, L = 70, T = 12;
  const px = (x) => L + ((x - x0) / (x1 - x0)) * W, py = (y) => T + H - ((y - y0) / (y1 - y0)) * H;
  const root = svg("svg", { class: "figure", viewBox: `0 0 ${L + W + 20} ${T + H + 50}`, style: `max-width:${L + W + 20}px`, role: "img", "aria-label": `${metric.name} against ${criterion.name}` });
  const text = (x, y, content, more) => root.append(svg("text", { x, y, "font-size": 11, fill: "currentColor", ...more }, content));
  for (const t of roundTicks(y0, y1, 6)) {
    root.append(svg("path", { d: `M${L} ${py(t)}H${L + W}`, stroke: "currentColor", "stroke-opacity": 0.15 }));
    text(L - 6, py(t) + 4, String(Number(t.toPrecision(4))), { "text-anchor": "end" });
  }
  for (const t of roundTicks(x0, x1, 8)) text(px(t), T + H + 16, String(Number(t.toPrecision(4))), { "text-anchor": "middle" });
  text(L + W / 2, T + H + 38, criterion.name, { "text-anchor": "middle" });
  text(14, T + H / 2, metric.name, { "text-anchor": "middle", transform: `rotate(-90 14 ${T + H / 2})` });
  root.append(densityShades(points, px, py));
  const stride = Math.ceil(points.length / MOST_DOTS);
  const drawn = points.filter((_, at) => at % stride === 0);
  const groups = new Map();
  for (const p of drawn) {
    const system = S.systems[S.system[p.i]];
    if (!groups.has(system)) groups.set(system, svg("g", { class: "series", "data-series": system }));
    groups.get(system).append(svg("circle", { cx: px(p.x).toFixed(1), cy: py(p.y).toFixed(1), r: 3, fill: DATA.colours[system] || "#0072b2", "fill-opacity": 0.75, "data-i": p.i, "data-tip": `${S.ids[p.i]} ${system}: ${metric.name} ${shown(p.y)}, ${criterion.name} ${shown(p.x)}` }));
  }
  root.append(...groups.values());
  const line = [x0, x1].map((x) => `${px(x)} ${py(Math.min(y1, Math.max(y0, fit.intercept + fit.slope * x)))}`);
  root.append(svg("path", { d: `M${line.join("L")}`, stroke: "currentColor", "stroke-width": 2, fill: "none" }));
  root.addEventListener("click", (event) => { if (event.target.dataset.i) choose(Number(event.target.dataset.i)); });
  box.replaceChildren(root);
  const sample = stride > 1 ? ` ${drawn.length} of ${points.length} stories are drawn as dots, evenly taken; line and density rest on all ${points.length}.` : "";
  caption.textContent = `${metric.name} against ${criterion.name}: Pearson ${shown(fit.r, 3)} over ${points.length} stories, least-squares line, density as shades.${sample}`;
  applyHighlight();
}

/** Counts in cells as shades of grey, under the dots. */
function densityShades(points, px, py) {
  const group = svg("g"), size = 20, cells = new Map();
  for (const p of points) {
    const key = `${Math.floor(px(p.x) / size)},${Math.floor(py(p.y) / size)}`;
    cells.set(key, (cells.get(key) || 0) + 1);
  }
  const most = Math.max(...cells.values());
  for (const [key, count] of cells) {
    const [x, y] = key.split(",").map(Number);
    group.append(svg("rect", { x: x * size, y: y * size, width: size, height: size, fill: "#777", "fill-opacity": (0.35 * Math.sqrt(count / most)).toFixed(3) }));
  }
  return group;
}
