// Files that the page makes from its own numbers: CSV, LaTeX and SVG. Nothing leaves the computer.

/** Gives a text to the reader as a file. */
function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A name from the data as a file name. */
const fileName = (id, ending) => `${id.replace(/[^\p{L}\p{N}._-]+/gu, "-") || "table"}.${ending}`;

/**
 * A text cell that no spreadsheet takes for a formula: it gets an apostrophe in front, as in the
 * files of storymeter.
 */
const unarmed = (text) => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);

function csvOf(sheet) {
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const cell = (value) => {
    if (isAbsent(value)) return "nan";
    return typeof value === "string" ? quoted(unarmed(value)) : String(value);
  };
  const lines = [sheet.columns.map(([name]) => cell(name)), ...sheet.rows.map((r) => r.map(cell))];
  return lines.map((line) => `${line.join(",")}\n`).join("");
}

/** The characters that LaTeX would obey, and those that its usual fonts lack. */
const TEX = {
  "\\": "\\textbackslash{}",
  "{": "\\{",
  "}": "\\}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  _: "\\_",
  "%": "\\%",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  "\u00a0": "~",
  "\u2212": "$-$",
  "\u00b1": "$\\pm$",
  "\u2191": "$\\uparrow$",
  "\u2193": "$\\downarrow$",
  "\u2264": "$\\leq$",
  "\u2265": "$\\geq$",
  "\u039e": "$\\Xi$",
  "\u03b5": "$\\varepsilon$",
  "\u0394": "$\\Delta$",
  "\u00a4": "\\textcurrency{}",
  "\u00a7": "\\S{}",
};
const tex = (text) =>
  [...text.replace(/[\t\n\r ]+/g, " ")].map((letter) => TEX[letter] ?? letter).join("");

function latexOf(sheet) {
  const isWords = sheet.columns.map((_, c) => sheet.rows.some((row) => typeof row[c] === "string"));
  const cell = (row) => (value, c) => {
    const text = isAbsent(value) ? "--" : tex(cellText(value, sheet, c));
    const mark = sheet.marks && markOf(sheet, row, c);
    if (!mark) return text;
    return (mark[2] ? `\\textbf{${text}}` : text) + tex(mark[3]);
  };
  const line = (cells) => `  ${cells.join(" & ")} \\\\\n`;
  return (
    `% ${sheet.title.replace(/\s+/g, " ")}\n% needs \\usepackage{booktabs}\n` +
    `\\begin{tabular}{${isWords.map((words) => (words ? "l" : "r")).join("")}}\n  \\toprule\n` +
    line(sheet.columns.map(([name]) => tex(name))) +
    "  \\midrule\n" +
    sheet.rows.map((row) => line(row.map(cell(row)))).join("") +
    "  \\bottomrule\n\\end{tabular}\n"
  );
}

/** A drawing of the page as a file of its own: on white, and with the colours of the light page. */
function svgOf(drawing) {
  const copy = drawing.cloneNode(true);
  const [, , width, height] = copy.getAttribute("viewBox").split(" ");
  const look = { xmlns: SVG, width, height, color: "#1a1a1a" };
  for (const [key, value] of Object.entries(look)) copy.setAttribute(key, value);
  copy.setAttribute("font-family", "DejaVu Sans, Verdana, sans-serif");
  copy.removeAttribute("style");
  copy.removeAttribute("class");
  copy.querySelectorAll(".dim, .chosen").forEach((node) => node.classList.remove("dim", "chosen"));
  copy.prepend(svg("rect", { width, height, fill: "#ffffff" }));
  copy.prepend(svg("title", {}, drawing.getAttribute("aria-label")));
  const text = new XMLSerializer().serializeToString(copy);
  return `${text.replaceAll("var(--rule)", "#d4d7dc")}\n`;
}

const saveButton = (label, name, act) =>
  el("button", { type: "button", "aria-label": `${label}: ${name}`, onclick: act }, label);

/** The buttons under a table. */
function tableButtons(sheet) {
  const save = (ending, type, make) => () =>
    download(fileName(sheet.id, ending), type, make(sheet));
  return [
    saveButton("CSV", sheet.title, save("csv", "text/csv", csvOf)),
    saveButton("LaTeX", sheet.title, save("tex", "text/x-tex", latexOf)),
  ];
}

/** The button under a figure; `find` gives the drawing when it is needed. */
function figureButton(id, title, find) {
  return saveButton("SVG", title, () => {
    const drawing = find();
    if (drawing) download(fileName(id, "svg"), "image/svg+xml", svgOf(drawing));
  });
}

function startSaving() {
  for (const bar of document.querySelectorAll(".save[data-extra]")) {
    bar.append("Save: ", ...tableButtons(DATA.extra[Number(bar.dataset.extra)]));
  }
  for (const bar of document.querySelectorAll(".save[data-figure]")) {
    const drawing = bar.closest("figure").querySelector("svg");
    const title = drawing.getAttribute("aria-label");
    bar.append(
      "Save: ",
      figureButton(bar.dataset.figure, title, () => drawing),
    );
  }
}
