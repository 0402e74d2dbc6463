// The explorer: a heat-map that the reader chooses by kind, level, coefficient and criterion.

const KINDS = {
  against: "metrics × criteria",
  metrics: "metrics × metrics",
  criteria: "criteria × criteria",
  tests: "tests between metrics",
  "corrected-tests": "tests between metrics, corrected",
  pairwise: "verdicts between systems",
  other: "other",
};
const FACETS = ["kind", "level", "coefficient", "criterion"];

function startExplorer() {
  const controls = document.getElementById("explore-controls");
  if (!controls) return;
  controls.addEventListener("submit", (event) => event.preventDefault());
  const state = { run: 0, kind: "against", sort: "", metrics: "" };
  // A link to a view has the choices of whoever made it.
  const CHOICES = ["run", "kind", "level", "coefficient", "criterion", "sort", "metrics"];
  for (const key of CHOICES) if (VIEW.has(`x-${key}`)) state[key] = VIEW.get(`x-${key}`);
  state.run = DATA.runs[Number(state.run)] ? Number(state.run) : 0;
  let sheetInSight = null;

  /** Keeps the sheets that have the chosen facet. A choice that is gone becomes the first one. */
  function narrow(sheets, facet) {
    const options = distinct(sheets.map((sheet) => sheet.heat[facet]));
    if (!options.includes(state[facet])) state[facet] = options[0];
    return [options, sheets.filter((sheet) => sheet.heat[facet] === state[facet])];
  }

  function draw(sheet) {
    const parts = state.metrics.toLowerCase().split(",");
    const needles = parts.map((part) => part.trim()).filter(Boolean);
    const isWanted = (name) =>
      !needles.length || needles.some((needle) => name.toLowerCase().includes(needle));
    let rows = sheet.rows.map((_, r) => r);
    if (sheet.heat.rows === "metrics") rows = rows.filter((r) => isWanted(sheet.rows[r][0]));
    let columns = sheet.heat.shown;
    if (sheet.heat.columns === "metrics") {
      columns = columns.filter((c) => isWanted(sheet.columns[c][0]));
    } else if (state.sort !== "") {
      const value = (r) => sheet.rows[r][Number(state.sort)];
      // A metric where less is better counts with the opposite sign, and one whose direction is not
      // known (0) by its size. Rows without a number come last.
      const turned = (r) => (sheet.heat.turns[r] || Math.sign(value(r))) * value(r);
      const rank = (r) => (typeof value(r) === "number" ? turned(r) : -Infinity);
      rows = rows.sort((a, b) => (rank(a) < rank(b)) - (rank(a) > rank(b)));
    }
    const count = `${rows.length} of ${sheet.rows.length} rows`;
    const notes = [`${sheet.title}, ${count}`, ...sheet.notes, ...absenceNotes(sheet)];
    document.getElementById("explore-title").textContent = `${notes.join("; ")}.`;
    document.getElementById("explore-figure").replaceChildren(drawHeatmap(sheet, rows, columns));
    if (sheet === sheetInSight) return;
    sheetInSight = sheet;
    const find = () => document.querySelector("#explore-figure svg");
    const buttons = [figureButton(sheet.id, sheet.title, find), ...tableButtons(sheet)];
    document.getElementById("explore-save").replaceChildren("Save: ", ...buttons);
  }

  function redraw(changed) {
    let sheets = DATA.runs[state.run].sheets.filter((sheet) => sheet.heat);
    const options = {};
    for (const facet of FACETS) [options[facet], sheets] = narrow(sheets, facet);
    if (!sheets.length) return;
    // Sheets with equal facets show a selection of metrics and then all of them.
    const sheet = sheets.reduce((best, next) =>
      next.rows.length > best.rows.length ? next : best,
    );
    const mean = sheet.heat.mean === null ? [] : [sheet.heat.mean];
    const sortable = sheet.heat.columns === "metrics" ? [] : [...mean, ...sheet.heat.shown];
    if (!sortable.includes(Number(state.sort || NaN))) state.sort = "";
    draw(sheet);
    if (changed === "metrics") return; // The field that is being typed into must stay.
    const set = (key) => (value) => {
      state[key] = value;
      redraw(key);
      CHOICES.forEach((one) => remember(`x-${one}`, state[one] || null));
    };
    const select = (label, facet, name = (value) => value) => {
      const known = options[facet].filter((value) => value !== null);
      if (!known.length) return [];
      return [
        choice(
          label,
          known.map((value) => [value, name(value)]),
          state[facet],
          set(facet),
        ),
      ];
    };
    const fields = [];
    if (DATA.runs.length > 1) {
      const runs = DATA.runs.map((run, i) => [i, run.name]);
      fields.push(choice("Run", runs, state.run, (run) => set("run")(Number(run))));
    }
    fields.push(
      ...select("Show", "kind", (kind) => KINDS[kind]),
      ...select("Level", "level"),
      ...select("Coefficient", "coefficient"),
      ...select("Criterion", "criterion"),
    );
    if (sortable.length) {
      const nameOf = (c) => (c === sheet.heat.mean ? DATA.mean : sheet.columns[c][0]);
      const names = sortable.map((c) => [c, nameOf(c)]);
      const orders = [["", "as in the file"], ...names];
      fields.push(choice("Strongest first by", orders, state.sort, set("sort")));
    }
    if (sheet.heat.rows === "metrics") {
      const label = "Metrics (parts of names, separated by commas)";
      fields.push(field(label, "search", state.metrics, set("metrics")));
    }
    replaceControls(controls, fields);
  }
  redraw();
}

/** Replaces the fields of a form and keeps the focus on the field with the same label. */
function replaceControls(controls, fields) {
  const focused = controls.contains(document.activeElement) && document.activeElement;
  const label = focused && focused.closest("label").firstChild.textContent;
  controls.replaceChildren(...fields);
  if (!label) return;
  const same = fields.find((one) => one.firstChild.textContent === label);
  if (same) same.lastChild.focus();
}
