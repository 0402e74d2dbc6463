// The reader composes a heat-map: what, level, coefficient, criterion, metrics.

const KINDS = { against: "metrics × criteria", metrics: "metrics × metrics", criteria: "criteria × criteria", williams: "Williams tests", bootstrap: "bootstrap F1", other: "other" };

function startExplorer() {
  const controls = document.getElementById("explore-controls");
  if (!controls) return;
  controls.addEventListener("submit", (event) => event.preventDefault());
  const state = { run: 0, kind: "against", level: null, coefficient: null, criterion: null, sort: "", metrics: "" };
  const all = () => DATA.runs[state.run].sheets.filter((sheet) => sheet.facets);
  // Of sheets with equal facets (a selection, then all metrics) the largest has everything.
  const matching = () => all().filter((s) => s.facets.kind === state.kind && s.facets.level === state.level && s.facets.coefficient === state.coefficient && s.facets.criterion === state.criterion)
    .sort((a, b) => b.rows.length - a.rows.length);

  /** Options of a facet among the sheets the earlier choices leave; keeps the choice where it is still there. */
  function narrow(sheets, facet) {
    const options = distinct(sheets.map((sheet) => sheet.facets[facet]));
    if (!options.includes(state[facet])) state[facet] = options[0];
    return [options, sheets.filter((sheet) => sheet.facets[facet] === state[facet])];
  }

  function draw(sheet) {
    const needle = state.metrics.toLowerCase().split(",").map((part) => part.trim()).filter(Boolean);
    const wanted = (name) => !needle.length || needle.some((part) => name.toLowerCase().includes(part));
    const filtered = ["against", "metrics", "williams", "bootstrap"].includes(state.kind);
    let rows = sheet.rows.map((_, r) => r).filter((r) => !filtered || wanted(sheet.rows[r][0]));
    const square = state.kind === "metrics" || state.kind === "williams";
    const columns = heatColumns(sheet).filter((c) => !square || wanted(sheet.columns[c][0]));
    const by = sheet.columns.findIndex(([name]) => name === state.sort);
    if (by > 0 && !square) {
      const strength = (r) => (typeof sheet.rows[r][by] === "number" ? Math.abs(sheet.rows[r][by]) : -1);
      rows = rows.sort((a, b) => strength(b) - strength(a));
    }
    document.getElementById("explore-title").textContent = `${sheet.title}; ${rows.length} of ${sheet.rows.length} rows. ${sheet.notes.join(" ")}`;
    document.getElementById("explore-figure").replaceChildren(drawHeatmap(sheet, rows, columns));
  }

  function redraw(changed) {
    let sheets = all();
    const facets = {};
    for (const facet of ["kind", "level", "coefficient", "criterion"]) {
      const [options, rest] = narrow(sheets, facet);
      facets[facet] = options;
      sheets = rest;
    }
    const sheet = matching()[0];
    if (!sheet) return;
    draw(sheet);
    if (changed === "metrics") return; // The field that is typed into must not be replaced.
    const set = (facet) => (value) => { state[facet] = value; redraw(facet); };
    const select = (label, facet, names = (v) => v) => (facets[facet].length > 1 || facets[facet][0])
      ? [choice(label, facets[facet].filter((v) => v !== null).map((v) => [v, names(v)]), state[facet], set(facet))] : [];
    const parts = [];
    if (DATA.runs.length > 1) parts.push(choice("Run", DATA.runs.map((run, i) => [i, run.name]), state.run, (v) => { state.run = Number(v); redraw("run"); }));
    parts.push(...select("Show", "kind", (kind) => KINDS[kind]), ...select("Level", "level"), ...select("Coefficient", "coefficient"), ...select("Criterion", "criterion"));
    if (state.kind === "against" || state.kind === "bootstrap") {
      const names = heatColumns(sheet).map((c) => sheet.columns[c][0]);
      if (!names.includes(state.sort)) state.sort = "";
      parts.push(choice("Strongest first by", [["", "as in the file"], ...names.map((n) => [n, n])], state.sort, set("sort")));
    }
    if (state.kind !== "criteria") parts.push(field("Metrics (parts of names, with commas)", "search", state.metrics, set("metrics")));
    const focused = document.activeElement && document.activeElement.closest("#explore-controls label");
    const label = focused && focused.firstChild.textContent;
    controls.replaceChildren(...parts);
    if (label) {
      const again = [...controls.querySelectorAll("label")].find((l) => l.firstChild.textContent === label);
      if (again) again.lastChild.focus();
    }
  }
  redraw();
}
