// The list of stories: filter, sort by disagreement between metric and people, choose one to read.
// Only the rows that are visible are in the document, so that 100,000 stories stay quick.

const ROW_HEIGHT = 44;
const ORDERS = [
  ["worst", "worst disagreement first"],
  ["metric", "highest score first"],
  ["human", "highest rating first"],
  ["file", "as in the file"],
];
/** The stories that are printed as a list. */
const MOST_PRINTED = 40;
const KEY_STEPS = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

/** Ranks between 0 and 1. Equal values share their mean rank; an absent value has null. */
function ranks(values) {
  const present = values.map((_, i) => i).filter((i) => values[i] !== null);
  const order = present.sort((a, b) => values[a] - values[b]);
  const out = new Array(values.length).fill(null);
  const last = Math.max(1, order.length - 1);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[start]]) end++;
    for (let at = start; at <= end; at++) out[order[at]] = (start + end) / 2 / last;
    start = end + 1;
  }
  return out;
}

/** How far a story's rank by the metric is from its rank by people, between 0 and 1. */
function disagreements(metric, criterion) {
  const points = pointsOf(
    metric,
    criterion,
    metric.values.map((_, i) => i),
  );
  const slope = points.length > 2 ? leastSquares(points).slope : 1;
  const isReversed = metric.direction === "none" ? slope < 0 : metric.direction === "lower";
  const byPeople = ranks(criterion.values);
  return ranks(metric.values).map((rank, i) => {
    if (rank === null || byPeople[i] === null) return null;
    return Math.abs((isReversed ? 1 - rank : rank) - byPeople[i]);
  });
}

function startStories() {
  const S = DATA.stories;
  const controls = document.getElementById("story-controls");
  if (!controls) return;
  controls.addEventListener("submit", (event) => event.preventDefault());
  const list = document.getElementById("story-list");
  const article = document.getElementById("story");
  const count = document.getElementById("story-count");
  const columns = S.columns.map((_, c) => c);
  const metrics = columns.filter((c) => !S.columns[c].human);
  const criteria = columns.filter((c) => S.columns[c].human);
  const state = {
    metric: S.metric ?? metrics[0] ?? null,
    criterion: S.criterion ?? criteria[0] ?? null,
    system: "",
    low: "",
    high: "",
    find: "",
    sort: "worst",
  };
  // A link to a view has the choices of whoever made it.
  const isColumn = (c, list) => VIEW.has(c) && list.includes(Number(VIEW.get(c)));
  if (isColumn("metric", metrics)) state.metric = Number(VIEW.get("metric"));
  if (isColumn("criterion", criteria)) state.criterion = Number(VIEW.get("criterion"));
  for (const key of ["system", "low", "high", "find", "sort"]) {
    if (VIEW.has(key)) state[key] = VIEW.get(key);
  }
  const hasPair = state.metric !== null && state.criterion !== null;
  if (!hasPair && state.sort === "worst") state.sort = "file";
  let rows = [];
  let selected = -1;
  let disagreement = [];
  const spacer = el("div", { role: "presentation" });
  list.append(spacer);

  function measure() {
    if (hasPair) disagreement = disagreements(S.columns[state.metric], S.columns[state.criterion]);
  }

  /** Whether a story passes the fields of the form. */
  function passes(i) {
    if (state.system && S.systems[S.system[i]] !== state.system) return false;
    if (state.metric !== null && (state.low !== "" || state.high !== "")) {
      const value = S.columns[state.metric].values[i];
      if (value === null) return false;
      if (state.low !== "" && value < Number(state.low)) return false;
      if (state.high !== "" && value > Number(state.high)) return false;
    }
    if (!state.find) return true;
    const needle = state.find.toLowerCase();
    const text = S.texts[i] ? S.texts[i].text : "";
    return S.ids[i].toLowerCase().includes(needle) || text.toLowerCase().includes(needle);
  }

  /** What the stories are sorted by, largest first; null stands for the order of the file. */
  function sortValues() {
    if (state.sort === "worst" && hasPair) return disagreement;
    const column = { metric: state.metric, human: state.criterion }[state.sort] ?? null;
    return column === null ? null : S.columns[column].values;
  }

  function apply() {
    rows = S.ids.map((_, i) => i).filter(passes);
    const values = sortValues();
    const absentLast = (a, b) =>
      (values[a] === null) - (values[b] === null) || values[b] - values[a] || a - b;
    if (values) rows.sort(absentLast);
    spacer.style.height = `${rows.length * ROW_HEIGHT}px`;
    list.scrollTop = 0;
    const sampled = S.ids.length < S.total ? ` (of ${S.total} scored)` : "";
    count.textContent = `${rows.length} of ${S.ids.length} stories${sampled}`;
    paint();
  }

  /** The line of numbers under a story's name in the list. */
  function summaryOf(i) {
    const numbers = [state.metric, state.criterion].filter((c) => c !== null);
    const parts = numbers.map((c) => {
      const value = S.columns[c].values[i];
      return `${S.columns[c].name} ${value === null ? "absent" : shown(value, 3)}`;
    });
    const apart = disagreement[i] ?? null;
    if (apart !== null) parts.push(`apart ${Math.round(apart * 100)}%`);
    return parts.join(" · ");
  }

  function rowOf(at) {
    const i = rows[at];
    const system = S.systems[S.system[i]];
    const row = el("div", {
      class: "row",
      role: "option",
      id: `row-${i}`,
      "aria-selected": String(i === selected),
      "aria-setsize": rows.length,
      "aria-posinset": at + 1,
      onclick: () => tap(i),
    });
    row.style.top = `${at * ROW_HEIGHT}px`;
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = COLOURS.get(system) || "transparent";
    row.append(swatch, `${S.ids[i]} ${system}`, el("small", {}, summaryOf(i)));
    return row;
  }

  function paint() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - 4);
    const end = Math.ceil((list.scrollTop + list.clientHeight) / ROW_HEIGHT) + 4;
    const parts = [spacer];
    for (let at = first; at < Math.min(rows.length, end); at++) parts.push(rowOf(at));
    list.replaceChildren(...parts);
    if (document.getElementById(`row-${selected}`)) {
      list.setAttribute("aria-activedescendant", `row-${selected}`);
    } else {
      list.removeAttribute("aria-activedescendant");
    }
  }

  function open(i) {
    selected = i;
    article.dataset.open = "yes";
    const back = el("button", { type: "button", class: "back", onclick: () => show(list) });
    back.append("Back to the list");
    article.replaceChildren(...describeStory(i), back);
    article.scrollTop = 0;
    remember("story", i);
    paint();
  }

  /** Opens a story that was tapped, and scrolls to it where it lies below the list. */
  function tap(i) {
    open(i);
    if (article.getBoundingClientRect().top > innerHeight * 0.6) show(article);
  }

  function show(node) {
    node.scrollIntoView({ block: "start" });
    node.focus({ preventScroll: true });
  }

  /** The first stories of the list as a table, for paper, where nothing can be scrolled. */
  function print() {
    const names = ["story", "system"];
    const columns = [state.metric, state.criterion].filter((c) => c !== null);
    const sheet = {
      id: "stories",
      title: `The first ${Math.min(rows.length, MOST_PRINTED)} of ${rows.length} stories`,
      columns: [...names, ...columns.map((c) => S.columns[c].name)].map((name) => [name, 3]),
      p: [],
      rows: rows.slice(0, MOST_PRINTED).map((i) => {
        const number = (c) => S.columns[c].values[i] ?? { absent: reasonOf(S.columns[c], i) };
        return [S.ids[i], S.systems[S.system[i]], ...columns.map(number)];
      }),
    };
    const table = document.getElementById("story-print");
    table.replaceChildren(el("h3", {}, sheet.title), buildTable(sheet));
  }
  addEventListener("beforeprint", print);
  matchMedia("print").addEventListener("change", (event) => event.matches && print());

  function step(by) {
    if (!rows.length) return;
    const at = Math.min(rows.length - 1, Math.max(0, rows.indexOf(selected) + by));
    const [top, bottom] = [at * ROW_HEIGHT, (at + 1) * ROW_HEIGHT];
    if (top < list.scrollTop) list.scrollTop = top;
    if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    open(rows[at]);
  }

  function scatter() {
    const figure = document.getElementById("story-scatter").closest("figure");
    figure.hidden = !hasPair;
    if (!hasPair) return;
    const isOwn = (i) => !state.system || S.systems[S.system[i]] === state.system;
    const own = S.ids.map((_, i) => i).filter(isOwn);
    drawScatter(S.columns[state.metric], S.columns[state.criterion], own, tap);
  }

  list.addEventListener("scroll", () => requestAnimationFrame(paint));
  // A closed fold has no height, so its rows are painted when it is opened.
  list.closest("details").addEventListener("toggle", paint);
  list.addEventListener("keydown", (event) => {
    const by = KEY_STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step(Math.min(rows.length, Math.max(-rows.length, by)));
  });

  const setFilter = (key) => (value) => {
    state[key] = value;
    remember(key, value || null);
    apply();
    if (key === "system") scatter();
  };
  const setColumn = (key) => (value) => {
    state[key] = Number(value);
    remember(key, value);
    measure();
    apply();
    scatter();
  };
  const named = (c) => [c, S.columns[c].name];
  const systems = S.systems.filter(Boolean).map((system) => [system, system]);
  const number = { step: "any" };
  if (metrics.length) {
    controls.append(choice("Metric", metrics.map(named), state.metric, setColumn("metric")));
  }
  if (criteria.length) {
    const set = setColumn("criterion");
    controls.append(choice("Criterion", criteria.map(named), state.criterion, set));
  }
  if (systems.length) {
    const all = [["", "all"], ...systems];
    controls.append(choice("System", all, state.system, setFilter("system")));
  }
  if (metrics.length) {
    controls.append(
      field("Score at least", "number", state.low, setFilter("low"), number),
      field("Score at most", "number", state.high, setFilter("high"), number),
    );
  }
  controls.append(
    field("Find in id or text", "search", state.find, setFilter("find")),
    choice("Order", hasPair ? ORDERS : ORDERS.slice(1), state.sort, setFilter("sort")),
  );
  measure();
  apply();
  scatter();
  const find = () => document.querySelector("#story-scatter svg");
  const button = figureButton("scatter", "metric against criterion", find);
  document.getElementById("scatter-save").append("Save: ", button);
  const linked = VIEW.has("story") ? Number(VIEW.get("story")) : -1;
  if (S.ids[linked] !== undefined) open(linked);
}
