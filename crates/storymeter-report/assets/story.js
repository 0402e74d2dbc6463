// One story: its text, its numbers and what the model would change in it.

/** A story with what is known about it. Everything from files goes in as text. */
function describeStory(i) {
  const S = DATA.stories;
  const entry = S.texts[i];
  const caption = (text) => el("p", { class: "caption" }, text);
  const parts = [el("h3", {}, `${S.ids[i]} ${S.systems[S.system[i]]}`)];
  const prompt = (entry && entry.prompt) || S.items[S.item[i]];
  if (prompt) parts.push(el("p", { class: "prompt" }, prompt));
  if (entry) parts.push(markedText(entry), ...hitsOf(entry).map(caption));
  if (!entry) parts.push(caption("The text of this story is not in this file."));
  else if (entry.cut && explainedText(entry) === undefined) {
    parts.push(caption("The end of the text is left out, to keep this file small."));
  }
  const humans = S.columns.filter((column) => column.human);
  const metrics = S.columns.filter((column) => !column.human);
  const tables = [];
  if (humans.length) tables.push(numbersOf("Ratings (means over the raters)", humans, i));
  if (metrics.length) tables.push(numbersOf("Metrics", metrics, i));
  return [...parts, el("div", { class: "numbers" }, ...tables)];
}

/** A table of one story's numbers. An absent number is shown with its reason. */
function numbersOf(title, columns, i) {
  const rows = columns.map((column) => {
    const value = column.values[i];
    const cell =
      value === null
        ? el("td", { class: "absent" }, `absent: ${reasonOf(column, i)}`)
        : el("td", {}, shown(value));
    return el("tr", {}, el("th", { scope: "row", class: "word" }, column.name), cell);
  });
  return el("div", {}, el("h4", {}, title), el("table", {}, el("tbody", {}, ...rows)));
}

/** Why a story has no value in a column. */
function reasonOf(column, i) {
  const found = column.absent.find(([, rows]) => rows.includes(i));
  return found ? found[0] : "no reason is given";
}

/** The most overused entries that are listed under a story. */
const MOST_ENTRIES = 8;

/** The overused words, phrases and constructions of a story, if it was looked through for them. */
function hitsOf(entry) {
  const hits = entry.explanation && entry.explanation.hits;
  if (!Array.isArray(hits) || explainedText(entry) === undefined) return [];
  if (hits.length === 0) return ["No overused words, phrases or constructions were found (slop)."];
  const counts = new Map();
  for (const { entry: name } of hits) counts.set(name, (counts.get(name) || 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]);
  const named = most
    .slice(0, MOST_ENTRIES)
    .map(([name, count]) => (count === 1 ? `“${name}”` : `“${name}” ${count} times`));
  const more = most.length > MOST_ENTRIES ? ` and ${most.length - MOST_ENTRIES} more` : "";
  return [`Underlined with dots (slop, ${hits.length} in all): ${named.join(", ")}${more}.`];
}

/** What stands at a place that is marked as overused. */
const overused = (hits) => hits.map((hit) => `overused ${hit.kind}: ${hit.entry}`).join("; ");

/** The text that the places of an explanation are in; undefined if there is none. */
const explainedText = ({ explanation }) =>
  explanation && typeof explanation.text === "string" ? explanation.text : undefined;

/**
 * The text, in which words that the model would change, sentences that count against the story and
 * overused words and phrases are marked. Offsets count bytes of UTF-8 in the text of the
 * explanation, which need not be that of the story (`score --clean`). Without it, nothing is
 * marked.
 */
function markedText(entry) {
  const explanation = entry.explanation;
  const text = explainedText(entry);
  const box = el("p", { class: "text" });
  if (text === undefined) {
    box.textContent = entry.text;
    return box;
  }
  const bytes = new TextEncoder().encode(text);
  const decode = (start, end) => new TextDecoder().decode(bytes.slice(start, end));
  const isSpan = (span) =>
    span &&
    Number.isInteger(span.start) &&
    Number.isInteger(span.end) &&
    0 <= span.start &&
    span.start < span.end &&
    span.end <= bytes.length;
  const spans = (value) => (Array.isArray(value) ? value.filter(isSpan) : []);
  const edits = spans(explanation.edits);
  const against = spans(explanation.sentences).filter((sentence) => sentence.contribution < 0);
  const hits = spans(explanation.hits);
  const ends = [...edits, ...against, ...hits].flatMap((span) => [span.start, span.end]);
  const cuts = distinct([0, bytes.length, ...ends]).sort((a, b) => a - b);
  const covering = (list, start, end) =>
    list.find((span) => span.start <= start && end <= span.end);
  for (let at = 0; at + 1 < cuts.length; at++) {
    const [start, end] = [cuts[at], cuts[at + 1]];
    const edit = covering(edits, start, end);
    const sentence = covering(against, start, end);
    let node = document.createTextNode(decode(start, end));
    // A contrast may have overused words in it.
    const found = hits.filter((hit) => hit.start <= start && end <= hit.end);
    if (found.length) node = el("span", { class: "overused", title: overused(found) }, node);
    if (edit) node = el("mark", { title: suggestionOf(edit) }, node);
    if (sentence) {
      const title = `counts against the story: ${shown(sentence.contribution, 3)}`;
      node = el("span", { class: "against", title }, node);
    }
    box.append(node);
  }
  return box;
}

function suggestionOf(edit) {
  const chance = typeof edit.probability === "number" ? ` (${shown(edit.probability, 2)})` : "";
  return `the model would write: ${edit.suggestion}${chance}`;
}
