// Tables that can be sorted by any column.

function cellText(cell, decimals) {
  if (cell !== null && typeof cell === "object") return "nan";
  return typeof cell === "string" ? cell : shown(cell, decimals);
}

/** Numbers before words, missing ones last whatever the order. */
function compareCells(a, b, sign) {
  const rank = (cell) => (typeof cell === "number" ? 0 : typeof cell === "string" && cell !== "" ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (rank(a) === 2) return 0;
  return sign * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
}

function buildTable(sheet) {
  const words = sheet.columns.map((_, c) => sheet.rows.some((row) => typeof row[c] === "string"));
  const body = el("tbody");
  const fill = (rows) => {
    const lines = rows.map((row) => {
      const line = el("tr");
      if (typeof row[0] === "string") line.dataset.name = row[0];
      row.forEach((cell, c) => {
        const td = el(c === 0 ? "th" : "td", words[c] ? { class: "word" } : {}, cellText(cell, sheet.columns[c][1]));
        if (c === 0) td.setAttribute("scope", "row");
        if (cell !== null && typeof cell === "object") td.title = cell.nan;
        line.append(td);
      });
      return line;
    });
    body.replaceChildren(...lines);
  };
  const heads = sheet.columns.map(([name], c) => {
    const head = el("th", { scope: "col", class: words[c] ? "word" : null });
    head.append(el("button", { type: "button", onclick: () => {
      // Numbers are wanted largest first, names from A to Z.
      const first = words[c] ? "ascending" : "descending";
      const other = words[c] ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      fill([...sheet.rows].sort((a, b) => compareCells(a[c], b[c], order === "ascending" ? 1 : -1)));
    } }, name));
    return head;
  });
  fill(sheet.rows);
  const label = { tabindex: "0", role: "region", "aria-label": sheet.title };
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body);
  return el("div", { class: "scroll", ...label }, table);
}

/** Fills a closed <details> when it is first opened: most readers open few. */
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
    const { run, sheet, extra } = details.dataset;
    const found = extra === undefined ? sheetOf(Number(run), sheet) : DATA.extra[Number(extra)];
    whenOpen(details, () => [
      buildTable(found),
      ...found.notes.map((note) => el("p", { class: "caption" }, note)),
      el("span", { class: "signature" }, found.signature),
    ]);
  }
}
