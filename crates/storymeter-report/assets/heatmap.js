// Heat-maps drawn on the page: the large ones and the one the reader composes. Colours as in the files.

const DIVERGING = [[33, 102, 172], [103, 169, 207], [209, 229, 240], [247, 247, 247], [253, 219, 199], [239, 138, 98], [178, 24, 43]];
const SEQUENTIAL = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function between(stops, at) {
  const position = Math.min(1, Math.max(0, at)) * (stops.length - 1);
  const below = Math.min(Math.floor(position), stops.length - 2);
  const share = position - below;
  return stops[below].map((low, c) => Math.round(low + (stops[below + 1][c] - low) * share));
}

function scaleOf(sheet, columns) {
  const kind = sheet.facets && sheet.facets.kind;
  const values = sheet.rows.flatMap((row) => columns.map((c) => row[c])).filter((v) => typeof v === "number");
  if (kind === "williams") {
    return {
      rgb: (p) => (p < 0.001 ? [8, 48, 107] : p < 0.01 ? [33, 113, 181] : p < 0.05 ? [158, 202, 225] : null),
      print: (p) => p.toFixed(3).replace(/^0/, ""),
      legend: [[0.0005, "p < .001"], [0.005, "< .01"], [0.03, "< .05"], [0.5, "≥ .05"]],
    };
  }
  if (kind === "bootstrap" || values.some((v) => Math.abs(v) > 1.5)) {
    return { rgb: (v) => between(SEQUENTIAL, v / 100), print: (v) => v.toFixed(0), legend: [0, 25, 50, 75, 100].map((v) => [v, String(v)]) };
  }
  return {
    rgb: (v) => between(DIVERGING, (v + 1) / 2),
    print: (v) => v.toFixed(2).replace("-0.00", "0.00").replace("0.", ".").replace("-", "−"),
    legend: [-1, -0.5, 0, 0.5, 1].map((v) => [v, String(v)]),
  };
}

/** Where there is no difference to see, the colour of the page's rules: quiet in light and in dark. */
const fillOf = (rgb) => (rgb ? `rgb(${rgb})` : "var(--rule)");

function inkOn(rgb) {
  if (!rgb) return "currentColor";
  const [r, g, b] = rgb.map((v) => { const c = v / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

/** Draws a sheet; `rows` and `columns` choose parts of it by position. */
function drawHeatmap(sheet, rows, columns) {
  const scale = scaleOf(sheet, columns);
  const numbered = columns.length <= 20;
  const [cw, ch, size] = numbered ? [44, 21, 12] : [13, 13, 9.5];
  const wide = (names) => Math.max(0, ...names.map((name) => name.length)) * size * 0.66;
  const left = wide(rows.map((r) => sheet.rows[r][0])) + 10;
  const tall = wide(columns.map((c) => sheet.columns[c][0]));
  const top = (numbered ? tall * 0.72 : tall) + 16;
  const width = left + columns.length * cw + (numbered ? tall * 0.72 : 0) + 10;
  const height = top + rows.length * ch + 46;
  const root = svg("svg", { class: "figure wide", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": sheet.title });
  const text = (x, y, content, more = {}) => root.append(svg("text", { x, y, "font-size": size, fill: "currentColor", ...more }, content));
  columns.forEach((c, i) => {
    const x = left + (i + 0.5) * cw + (numbered ? 0 : size * 0.35);
    text(x, top - 6, sheet.columns[c][0], { transform: `rotate(${numbered ? -45 : -90} ${x} ${top - 6})` });
  });
  rows.forEach((r, j) => {
    const y = top + j * ch;
    text(left - 6, y + ch / 2 + size * 0.35, sheet.rows[r][0], { "text-anchor": "end" });
    columns.forEach((c, i) => {
      const value = sheet.rows[r][c];
      if (typeof value !== "number") return;
      const rgb = scale.rgb(value);
      const x = left + i * cw;
      root.append(svg("rect", { x, y, width: cw - 1, height: ch - 1, style: `fill:${fillOf(rgb)}`, "data-v": value, "data-r": sheet.rows[r][0], "data-c": sheet.columns[c][0] }));
      if (numbered) root.append(svg("text", { x: x + cw / 2 - 0.5, y: y + ch / 2 + 4, "font-size": 11, "text-anchor": "middle", fill: inkOn(rgb), "pointer-events": "none" }, scale.print(value)));
    });
  });
  scale.legend.forEach(([value, label], i) => {
    const x = left + i * 56;
    root.append(svg("rect", { x, y: height - 34, width: 55, height: 10, style: `fill:${fillOf(scale.rgb(value))}` }));
    root.append(svg("text", { x: x + 28, y: height - 11, "font-size": 10, "text-anchor": "middle", fill: "currentColor" }, label));
  });
  return root;
}

/** All columns that hold numbers to show. */
const heatColumns = (sheet) => sheet.columns.map((_, c) => c).filter((c) => c > 0 && sheet.columns[c][0] !== "n");

function startDrawn() {
  for (const details of document.querySelectorAll("details.drawn")) {
    const sheet = sheetOf(Number(details.dataset.run), details.dataset.sheet);
    whenOpen(details, () => [
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": sheet.title }, drawHeatmap(sheet, sheet.rows.map((_, r) => r), heatColumns(sheet))),
      ...sheet.notes.map((note) => el("p", { class: "caption" }, note)),
      el("span", { class: "signature" }, sheet.signature),
    ]);
  }
}
