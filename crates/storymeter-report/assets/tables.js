// Tables that can be sorted by any column.

/** A longer text is a story or a sentence, which is broken into lines. */
const LONGEST_NAME = 80;

/** Whether a cell stands for a number that is absent: `{absent: reason}`. */
const isAbsent = (cell) => cell !== null && typeof cell === "object";

/** A cell as text. A p-value is never shown as zero. */
function cellText(cell, sheet, c) {
  if (isAbsent(cell)) return "absent";
  if (typeof cell === "string") return cell;
  if (sheet.p.includes(c)) return cell < 0.001 ? "<\u00a00.001" : cell.toFixed(3);
  sheet.digits ??= sheet.columns.map(([, decimals], column) => {
    const numbers = sheet.rows.map((row) => row[column]).filter((one) => typeof one === "number");
    return digitsOf(numbers, decimals);
  });
  return sheet.digits[c](cell);
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

/** How a cell stands out: `[row, column, bold, what stands behind it]`. */
const markOf = (sheet, row, c) =>
  sheet.marks.find(([r, column]) => column === c && sheet.rows[r] === row);

function buildTable(sheet) {
  const isWords = sheet.columns.map((_, c) => sheet.rows.some((row) => typeof row[c] === "string"));
  const body = el("tbody");
  const fill = (rows) => {
    const lines = rows.map((row) => {
      const line = el("tr");
      const name = row.find((cell) => typeof cell === "string");
      if (name !== undefined) line.dataset.name = name;
      if (DATA.highlight !== null && row.includes(DATA.highlight)) line.classList.add("own");
      row.forEach((cell, c) => {
        const text = cellText(cell, sheet, c);
        const words = text.length > LONGEST_NAME ? "word prose" : "word";
        const kind = isAbsent(cell) ? "absent" : isWords[c] ? words : null;
        const mark = sheet.marks && markOf(sheet, row, c);
        const content = mark && mark[2] ? el("b", {}, text) : text;
        const td = el(c === 0 ? "th" : "td", { class: kind }, content, mark ? mark[3] : "");
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

/** What stands below a table or a figure: notes, and reasons for absent numbers. */
function captions(sheet) {
  const notes = [...sheet.notes, ...absenceNotes(sheet)];
  return notes.map((note) => el("p", { class: "caption" }, note));
}

/** A table with its notes and the buttons that save it. */
function fullTable(sheet) {
  const save = el("p", { class: "save" }, "Save: ", ...tableButtons(sheet));
  return [buildTable(sheet), ...captions(sheet), save];
}

function startTables() {
  for (const details of document.querySelectorAll("details.sheet")) {
    const sheet = sheetOf(details.dataset);
    whenOpen(details, () => details.append(...fullTable(sheet)));
  }
  for (const place of document.querySelectorAll(".sorted")) {
    const sheet = DATA.extra[Number(place.dataset.extra)];
    whenOpen(place.closest("details"), () =>
      place.append(el("h4", {}, sheet.title), ...fullTable(sheet)),
    );
  }
}
