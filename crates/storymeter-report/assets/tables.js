// Tables that can be sorted by any column.

/** A longer text is a story or a sentence, which is broken into lines. */
const LONGEST_NAME = 80;

/** Whether a cell stands for a number that is absent: `{absent: reason}`. */
const isAbsent = (cell) => cell !== null && typeof cell === "object";

function cellText(cell, decimals) {
  if (isAbsent(cell)) return "absent";
  return typeof cell === "string" ? cell : shown(cell, decimals);
}

/** Compares cells: numbers before words, and absent or empty cells last in either order. */
function compareCells(a, b, sign) {
  const rank = (cell) => {
    if (typeof cell === "number") return 0;
    return typeof cell === "string" && cell !== "" ? 1 : 2;
  };
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (rank(a) === 2) return 0;
  return sign * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
}

function buildTable(sheet) {
  const isWords = sheet.columns.map((_, c) => sheet.rows.some((row) => typeof row[c] === "string"));
  const body = el("tbody");
  const fill = (rows) => {
    const lines = rows.map((row) => {
      const line = el("tr");
      if (typeof row[0] === "string") line.dataset.name = row[0];
      row.forEach((cell, c) => {
        const text = cellText(cell, sheet.columns[c][1]);
        const words = text.length > LONGEST_NAME ? "word prose" : "word";
        const kind = isAbsent(cell) ? "absent" : isWords[c] ? words : null;
        const td = el(c === 0 ? "th" : "td", { class: kind }, text);
        if (c === 0) td.setAttribute("scope", "row");
        if (isAbsent(cell)) td.title = cell.absent;
        line.append(td);
      });
      return line;
    });
    body.replaceChildren(...lines);
  };
  const heads = sheet.columns.map(([name], c) => {
    const head = el("th", { scope: "col", class: isWords[c] ? "word" : null });
    const sort = () => {
      // The first click sorts numbers from the largest, and names from A to Z.
      const [first, second] = isWords[c]
        ? ["ascending", "descending"]
        : ["descending", "ascending"];
      const order = head.getAttribute("aria-sort") === first ? second : first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      fill([...sheet.rows].sort((a, b) => compareCells(a[c], b[c], sign)));
    };
    head.append(el("button", { type: "button", onclick: sort }, name));
    return head;
  });
  fill(sheet.rows);
  const label = { tabindex: "0", role: "region", "aria-label": sheet.title };
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body);
  return el("div", { class: "scroll", ...label }, table);
}

/** Says why numbers of a sheet are absent, with how many there are for each reason. */
function absenceNotes(sheet) {
  const counts = new Map();
  for (const cell of sheet.rows.flat().filter(isAbsent)) {
    counts.set(cell.absent, (counts.get(cell.absent) || 0) + 1);
  }
  const reasons = [...counts].map(([reason, count]) => `${reason} (${count})`);
  return reasons.length ? [`absent numbers: ${reasons.join(", ")}`] : [];
}

/** What stands below a table or a figure: notes, reasons for absent numbers, the signature. */
function captions(sheet) {
  const notes = [...sheet.notes, ...absenceNotes(sheet)];
  return [
    ...notes.map((note) => el("p", { class: "caption" }, note)),
    el("span", { class: "signature" }, sheet.signature),
  ];
}

/** Fills a closed <details> when it is opened for the first time. */
function whenOpen(details, build) {
  const fill = () => {
    if (!details.open || details.dataset.filled) return;
    details.dataset.filled = "yes";
    details.append(...build());
  };
  details.addEventListener("toggle", fill);
  fill();
}

function startTables() {
  for (const details of document.querySelectorAll("details.sheet")) {
    const { extra } = details.dataset;
    const sheet = extra === undefined ? sheetOf(details.dataset) : DATA.extra[Number(extra)];
    whenOpen(details, () => [buildTable(sheet), ...captions(sheet)]);
  }
}
