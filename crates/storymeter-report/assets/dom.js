// Small helpers. Text from files only ever reaches the page through textContent and setAttribute.
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; a string child becomes text. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** An SVG element. */
function svg(name, attributes = {}, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/** A number as a reader wants it. */
function shown(value, decimals = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return String(value);
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? value.toExponential(1) : text;
}

/** A labelled select; `options` are [value, text]. */
function choice(label, options, value, onchange) {
  const select = el("select", { onchange: () => onchange(select.value) });
  for (const [key, text] of options) {
    const option = el("option", { value: key }, text);
    option.selected = String(key) === String(value);
    select.append(option);
  }
  return el("label", {}, label, select);
}

/** A labelled field. */
function field(label, type, value, oninput, more = {}) {
  const input = el("input", { type, value, ...more, oninput: () => oninput(input.value) });
  return el("label", {}, label, input);
}

/** Values in order of appearance, each once. */
const distinct = (values) => [...new Set(values)];

/** The sheet of a run. */
const sheetOf = (run, id) => DATA.runs[run].sheets.find((sheet) => sheet.id === id);

// One tip for all figures: what the mark under the pointer stands for.
const TIP = document.getElementById("tip");
function showTip(event) {
  const mark = event.target.closest && event.target.closest("[data-tip],[data-v]");
  if (!mark) { TIP.hidden = true; return; }
  const d = mark.dataset;
  TIP.textContent = d.tip || `${d.r} · ${d.c}: ${shown(Number(d.v))}`;
  TIP.hidden = false;
  const x = Math.min(event.clientX + 14, innerWidth - TIP.offsetWidth - 8);
  const y = Math.min(event.clientY + 14, innerHeight - TIP.offsetHeight - 8);
  TIP.style.left = `${Math.max(0, x)}px`;
  TIP.style.top = `${Math.max(0, y)}px`;
}
document.addEventListener("pointermove", showTip);
document.addEventListener("pointerdown", showTip);
