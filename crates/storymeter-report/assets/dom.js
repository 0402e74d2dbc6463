// Helpers for the other scripts. Text from files reaches the page only through text nodes,
// textContent and setAttribute, never as markup.
const DATA = JSON.parse(document.getElementById("data").textContent);
const COLOURS = new Map(Object.entries(DATA.colours));
const SVG = "http://www.w3.org/2000/svg";

/** Makes an element with attributes, listeners (`onclick`) and children. A string becomes text. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** Makes an SVG element. */
function svg(name, attributes = {}, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/** Writes a number. One that rounds to zero has an exponent; a rounding error is zero. */
function shown(value, decimals = 4) {
  if (Number.isInteger(value)) return String(value);
  return digitsOf([value], decimals)(value);
}

/**
 * Writes the numbers of a column with the same number of digits, as `storymeter_core::number` does:
 * with an exponent only if none of them would show a digit otherwise. Rounding errors are zero.
 */
function digitsOf(values, decimals) {
  const unit = 10 ** -decimals;
  const vanishes = (value) => Math.abs(value) < 0.5 * unit;
  const isNoise = (value) => Math.abs(value) < 1e-9 * unit;
  const isSmall = decimals > 0 && values.some((value) => !isNoise(value));
  if (isSmall && values.every(vanishes)) {
    return (value) => (isNoise(value) ? 0 : value).toExponential(2);
  }
  return (value) => (vanishes(value) ? 0 : value).toFixed(decimals);
}

/** Makes a labelled list of choices; `options` are pairs of value and text. */
function choice(label, options, value, onchange) {
  const select = el("select", { onchange: () => onchange(select.value) });
  for (const [key, text] of options) {
    const option = el("option", { value: key }, text);
    option.selected = String(key) === String(value);
    select.append(option);
  }
  return el("label", {}, label, select);
}

/** Makes a labelled input field. */
function field(label, type, value, oninput, more = {}) {
  const input = el("input", { type, value, ...more, oninput: () => oninput(input.value) });
  return el("label", {}, label, input);
}

/** The distinct values, in order of appearance. */
const distinct = (values) => [...new Set(values)];

/** The sheet of a run, by position, or a sheet that belongs to no run. */
const sheetOf = (details) =>
  details.extra === undefined
    ? DATA.runs[Number(details.run)].sheets[Number(details.sheet)]
    : DATA.extra[Number(details.extra)];

// One tip serves all figures. It tells what the mark under the pointer stands for.
const TIP = document.getElementById("tip");
function showTip(event) {
  const mark = event.target.closest && event.target.closest("[data-tip],[data-v]");
  if (!mark) {
    TIP.hidden = true;
    return;
  }
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
document.addEventListener("scroll", () => (TIP.hidden = true), { capture: true, passive: true });
