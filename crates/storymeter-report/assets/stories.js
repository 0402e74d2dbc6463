// The browser of single stories: filter, sort by disagreement, read. Only rows in sight exist in the page.

const ROW = 44;

/** Ranks from 0 to 1, ties sharing their mean; null where there is no number. */
function ranks(values) {
  const order = values.map((_, i) => i).filter((i) => values[i] !== null).sort((a, b) => values[a] - values[b]);
  const out = new Array(values.length).fill(null);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[start]]) end++;
    for (let k = start; k <= end; k++) out[order[k]] = (start + end) / 2 / Math.max(1, order.length - 1);
    start = end + 1;
  }
  return out;
}

function startStories() {
  const S = DATA.stories, controls = document.getElementById("story-controls");
  if (!controls) return;
  controls.addEventListener("submit", (event) => event.preventDefault());
  const list = document.getElementById("story-list"), article = document.getElementById("story"), count = document.getElementById("story-count");
  const metrics = S.columns.filter((c) => !c.human), criteria = S.columns.filter((c) => c.human);
  const named = (column) => S.columns.indexOf(column);
  const state = { metric: S.metric ?? (metrics[0] ? named(metrics[0]) : null), criterion: S.criterion ?? (criteria[0] ? named(criteria[0]) : null), system: "", low: "", high: "", find: "", sort: "worst" };
  if (state.metric === null || state.criterion === null) state.sort = "file";
  let rows = [], selected = -1, disagreement = [];
  const spacer = el("div", { role: "presentation" });
  list.append(spacer);

  function measure() {
    disagreement = [];
    if (state.metric === null || state.criterion === null) return;
    const m = S.columns[state.metric].values, h = S.columns[state.criterion].values;
    const both = m.map((_, i) => i).filter((i) => m[i] !== null && h[i] !== null).map((i) => ({ i, x: h[i], y: m[i] }));
    const backwards = both.length > 2 && leastSquares(both).slope < 0;
    const a = ranks(m), b = ranks(h);
    disagreement = a.map((r, i) => (r === null || b[i] === null ? null : Math.abs((backwards ? 1 - r : r) - b[i])));
  }

  function apply() {
    const metric = state.metric === null ? null : S.columns[state.metric];
    const low = state.low === "" ? -Infinity : Number(state.low), high = state.high === "" ? Infinity : Number(state.high);
    const system = S.systems.indexOf(state.system), find = state.find.toLowerCase();
    rows = [];
    for (let i = 0; i < S.ids.length; i++) {
      if (state.system && S.system[i] !== system) continue;
      const value = metric ? metric.values[i] : null;
      if (metric && (state.low !== "" || state.high !== "") && !(value !== null && value >= low && value <= high)) continue;
      if (find) {
        const entry = S.texts[i];
        if (!S.ids[i].toLowerCase().includes(find) && !(entry && entry.text.toLowerCase().includes(find))) continue;
      }
      rows.push(i);
    }
    const missingLast = (f) => (a, b) => (f(a) === null) - (f(b) === null) || f(b) - f(a) || a - b;
    if (state.sort === "worst") rows.sort(missingLast((i) => disagreement[i] ?? null));
    if (state.sort === "metric" && metric) rows.sort(missingLast((i) => metric.values[i]));
    if (state.sort === "human" && state.criterion !== null) rows.sort(missingLast((i) => S.columns[state.criterion].values[i]));
    spacer.style.height = `${rows.length * ROW}px`;
    list.scrollTop = 0;
    const sampled = S.ids.length < S.total ? ` (of ${S.total} scored)` : "";
    count.textContent = `${rows.length} of ${S.ids.length} stories${sampled}`;
    paint();
  }

  function paint() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
    const last = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
    const parts = [spacer];
    for (let at = first; at < last; at++) {
      const i = rows[at], system = S.systems[S.system[i]];
      const number = (c) => (c === null ? "" : ` · ${S.columns[c].name} ${shown(S.columns[c].values[i], 3)}`);
      const row = el("div", { class: "row", role: "option", id: `row-${i}`, "aria-selected": String(i === selected), "aria-setsize": rows.length, "aria-posinset": at + 1, onclick: () => open(i) });
      row.style.top = `${at * ROW}px`;
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = DATA.colours[system] || "transparent";
      row.append(swatch, `${S.ids[i]} ${system}`, el("small", {}, `${number(state.metric)}${number(state.criterion)}${disagreement[i] == null ? "" : ` · apart ${Math.round(disagreement[i] * 100)}%`}`.replace(/^ · /, "")));
      parts.push(row);
    }
    list.replaceChildren(...parts);
    if (selected >= 0 && document.getElementById(`row-${selected}`)) list.setAttribute("aria-activedescendant", `row-${selected}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function open(i) {
    selected = i;
    article.dataset.open = "yes";
    article.replaceChildren(...describeStory(i));
    paint();
  }

  function step(by) {
    if (!rows.length) return;
    const at = Math.min(rows.length - 1, Math.max(0, rows.indexOf(selected) + by));
    if (at * ROW < list.scrollTop) list.scrollTop = at * ROW;
    if ((at + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * ROW - list.clientHeight;
    open(rows[at]);
  }

  list.addEventListener("scroll", () => requestAnimationFrame(paint));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (by !== undefined) { event.preventDefault(); step(Math.min(rows.length, Math.max(-rows.length, by))); }
  });

  const again = (key, pair) => (value) => { state[key] = pair ? Number(value) : value; if (pair) measure(); apply(); if (pair || key === "system") scatter(); };
  function scatter() {
    const figure = document.getElementById("scatter").closest("figure");
    figure.hidden = state.metric === null || state.criterion === null;
    if (figure.hidden) return;
    const system = S.systems.indexOf(state.system);
    const all = S.ids.map((_, i) => i).filter((i) => !state.system || S.system[i] === system);
    drawScatter(S.columns[state.metric], S.columns[state.criterion], all, open);
  }
  const systems = S.systems.filter(Boolean);
  if (metrics.length) controls.append(choice("Metric", metrics.map((c) => [named(c), c.name]), state.metric, again("metric", true)));
  if (criteria.length) controls.append(choice("Criterion", criteria.map((c) => [named(c), c.name]), state.criterion, again("criterion", true)));
  if (systems.length) controls.append(choice("System", [["", "all"], ...systems.map((s) => [s, s])], "", again("system")));
  if (metrics.length) controls.append(field("Score at least", "number", "", again("low"), { step: "any" }), field("Score at most", "number", "", again("high"), { step: "any" }));
  controls.append(field("Find in id or text", "search", "", again("find")));
  controls.append(choice("Order", [["worst", "worst disagreement first"], ["metric", "highest score first"], ["human", "highest rating first"], ["file", "as in the file"]], state.sort, again("sort")));
  measure();
  apply();
  scatter();
}

/** A story with what is known about it. Everything from files goes in as text. */
function describeStory(i) {
  const S = DATA.stories, entry = S.texts[i], parts = [];
  parts.push(el("h3", {}, `${S.ids[i]} ${S.systems[S.system[i]]}`));
  if (entry && entry.prompt) parts.push(el("p", { class: "prompt" }, entry.prompt));
  else if (S.items[S.item[i]]) parts.push(el("p", { class: "prompt" }, S.items[S.item[i]]));
  if (entry) {
    parts.push(markedText(entry));
    if (entry.cut) parts.push(el("p", { class: "caption" }, "The text is longer; its end is left out to keep this file small."));
  } else {
    parts.push(el("p", { class: "caption" }, "The text of this story is not in this file."));
  }
  const table = (title, columns) => {
    const rows = columns.map((c) => el("tr", {}, el("th", { scope: "row", class: "word" }, c.name), el("td", {}, shown(c.values[i]))));
    return el("div", {}, el("h4", {}, title), el("table", {}, el("tbody", {}, ...rows)));
  };
  parts.push(el("div", { class: "numbers" }, table("Ratings (means)", S.columns.filter((c) => c.human)), table("Metrics", S.columns.filter((c) => !c.human))));
  return parts;
}

/** The text with what the model would change, and sentences that count against the story. Offsets are UTF-8 bytes. */
function markedText(entry) {
  const explanation = entry.explanation;
  const box = el("p", { class: "text" });
  if (!explanation || typeof explanation !== "object") { box.textContent = entry.text; return box; }
  const text = typeof explanation.text === "string" ? explanation.text : entry.text;
  const bytes = new TextEncoder().encode(text), decode = (a, b) => new TextDecoder().decode(bytes.slice(a, b));
  const list = (value) => (Array.isArray(value) ? value.filter((s) => s && Number.isInteger(s.start) && Number.isInteger(s.end) && s.start < s.end && s.end <= bytes.length) : []);
  const edits = list(explanation.edits), against = list(explanation.sentences).filter((s) => s.contribution < 0);
  const cuts = distinct([0, bytes.length, ...edits.flatMap((e) => [e.start, e.end]), ...against.flatMap((s) => [s.start, s.end])]).sort((a, b) => a - b);
  const over = (spans, a, b) => spans.find((s) => s.start <= a && b <= s.end);
  for (let k = 0; k + 1 < cuts.length; k++) {
    const [a, b] = [cuts[k], cuts[k + 1]], edit = over(edits, a, b), sentence = over(against, a, b);
    let node = document.createTextNode(decode(a, b));
    if (edit) { node = el("mark", { title: `the model would write: ${edit.suggestion} (${shown(edit.probability, 2)})` }, node); }
    if (sentence) node = el("span", { class: "against", title: `counts against the story: ${shown(sentence.contribution, 3)}` }, node);
    box.append(node);
  }
  return box;
}
