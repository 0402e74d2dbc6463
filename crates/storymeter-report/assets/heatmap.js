// Heat-maps that the page draws: the large ones and the one of the explorer. The colours are those
// of palette.rs, so that the page and the files look the same.

const DIVERGING = [
  [33, 102, 172],
  [103, 169, 207],
  [209, 229, 240],
  [247, 247, 247],
  [253, 219, 199],
  [239, 138, 98],
  [178, 24, 43],
];
const SEQUENTIAL = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];

/** The colour at a place between 0 and 1 on a scale of colours. */
function between(stops, at) {
  const position = Math.min(1, Math.max(0, at)) * (stops.length - 1);
  const below = Math.min(Math.floor(position), stops.length - 2);
  const share = position - below;
  return stops[below].map((low, c) => Math.round(low + (stops[below + 1][c] - low) * share));
}

/** The colour of a p-value; null where it is not significant. */
function significance(p) {
  if (p < 0.001) return [8, 48, 107];
  if (p < 0.01) return [33, 113, 181];
  return p < 0.05 ? [158, 202, 225] : null;
}

/** The space between the columns and their mean. */
const MEAN_GAP = 8;

const sample = (value) => [value, String(value)];
const SCALES = {
  correlation: {
    rgb: (v) => between(DIVERGING, (v + 1) / 2),
    print: (v) => v.toFixed(2).replace("-0.00", "0.00").replace("-", "−"),
    legend: [-1, -0.5, 0, 0.5, 1].map(sample),
    title: "correlation, with its sign",
  },
  percent: {
    rgb: (v) => between(SEQUENTIAL, v / 100),
    print: (v) => v.toFixed(0),
    legend: [0, 25, 50, 75, 100].map(sample),
    title: "percent",
  },
  significance: {
    rgb: significance,
    print: (p) => (p < 0.001 ? "<0.001" : p.toFixed(3)),
    legend: [
      [0.0005, "< 0.001"],
      [0.005, "< 0.01"],
      [0.03, "< 0.05"],
      [0.5, "≥ 0.05"],
    ],
    title: "p-value",
  },
};

/** A cell that is not significant has the colour of the page's lines, in light and in dark. */
const fillOf = (rgb) => (rgb ? `rgb(${rgb})` : "var(--rule)");

/** Black or white, whichever has the higher contrast (relative luminance of WCAG 2). */
function inkOn(rgb) {
  if (!rgb) return "currentColor";
  const linear = (v) => {
    const c = v / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  const [r, g, b] = rgb.map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

const RULER = document.createElement("canvas").getContext("2d");
const FONT = getComputedStyle(document.body).fontFamily;

/** The width of the widest of these texts, in the font of the page. */
function widest(texts, size) {
  RULER.font = `${size}px ${FONT}`;
  return Math.max(0, ...texts.map((text) => RULER.measureText(text).width));
}

/** Draws a sheet; `rows` and `columns` choose parts of it by position. */
function drawHeatmap(sheet, rows, columns) {
  const scale = SCALES[sheet.heat.scale];
  const isNumbered = columns.length <= 20;
  const [cw, ch, size] = isNumbered ? [44, 21, 12] : [13, 13, 9.5];
  const rowName = (r) => sheet.rows[r][0];
  const columnName = (c) => sheet.columns[c][0];
  const mean = sheet.heat.mean;
  const heads = [...columns.map(columnName), ...(mean === null ? [] : [DATA.mean])];
  const left = widest(rows.map(rowName), size) + 12;
  const tall = widest(heads, size);
  const top = (isNumbered ? tall * 0.72 : tall) + 16;
  const legendWidth = scale.legend.length * 56;
  const overhang = isNumbered ? tall * 0.72 : 0;
  const apart = mean === null ? 0 : cw + MEAN_GAP;
  const across = Math.max(columns.length * cw + apart + overhang, legendWidth, 300);
  const width = left + across + 10;
  const height = top + rows.length * ch + 62;
  const root = svg("svg", {
    class: "figure wide",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": sheet.title,
  });
  const text = (x, y, content, more = {}) =>
    root.append(svg("text", { x, y, "font-size": size, fill: "currentColor", ...more }, content));

  function drawCell(r, c, x, y) {
    const value = sheet.rows[r][c];
    const area = { x, y, width: cw - 1, height: ch - 1 };
    if (isAbsent(value)) {
      const tip = `${rowName(r)} · ${columnName(c)}: absent (${value.absent})`;
      const group = svg("g", { "data-tip": tip, class: "absent" });
      const d = `M${x + 3} ${y + ch - 4}L${x + cw - 4} ${y + 3}`;
      group.append(svg("rect", { ...area, fill: "transparent" }));
      group.append(svg("path", { d, stroke: "currentColor", "stroke-opacity": 0.4 }));
      root.append(group);
      return;
    }
    if (typeof value !== "number") return;
    const rgb = scale.rgb(value);
    const data = { "data-v": value, "data-r": rowName(r), "data-c": columnName(c) };
    root.append(svg("rect", { ...area, style: `fill:${fillOf(rgb)}`, ...data }));
    if (isNumbered) {
      const middle = { "text-anchor": "middle", "pointer-events": "none", fill: inkOn(rgb) };
      const place = [x + cw / 2 - 0.5, y + ch / 2 + 4];
      text(...place, scale.print(value), { "font-size": 11, ...middle });
    }
  }

  const place = (i) => left + i * cw + (i === columns.length ? MEAN_GAP : 0);
  heads.forEach((name, i) => {
    const x = place(i) + 0.5 * cw + (isNumbered ? 0 : size * 0.35);
    const angle = isNumbered ? -45 : -90;
    text(x, top - 6, name, { transform: `rotate(${angle} ${x} ${top - 6})` });
  });
  rows.forEach((r, j) => {
    const y = top + j * ch;
    const weight = rowName(r) === DATA.highlight ? "bold" : "normal";
    const label = { "text-anchor": "end", "font-weight": weight };
    text(left - 6, y + ch / 2 + size * 0.35, rowName(r), label);
    columns.forEach((c, i) => drawCell(r, c, place(i), y));
    if (mean !== null) drawCell(r, mean, place(columns.length), y);
  });
  scale.legend.forEach(([value, label], i) => {
    const x = left + i * 56;
    const style = `fill:${fillOf(scale.rgb(value))}`;
    root.append(svg("rect", { x, y: height - 50, width: 55, height: 10, style }));
    text(x + 28, height - 27, label, { "font-size": 10, "text-anchor": "middle" });
  });
  text(left, height - 8, scale.title, { "font-size": 10.5 });
  return root;
}

function startDrawn() {
  for (const details of document.querySelectorAll("details.drawn")) {
    const sheet = sheetOf(details.dataset);
    const region = { class: "scroll", tabindex: "0", role: "region", "aria-label": sheet.title };
    whenOpen(details, () => {
      const rows = sheet.rows.map((_, r) => r);
      const drawing = drawHeatmap(sheet, rows, sheet.heat.shown);
      const figure = figureButton(sheet.id, sheet.title, () => drawing);
      const save = el("p", { class: "save" }, "Save: ", figure, ...tableButtons(sheet));
      details.append(el("div", region, drawing), ...captions(sheet), save);
    });
  }
}
