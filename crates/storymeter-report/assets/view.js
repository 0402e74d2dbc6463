// The view: what is open and chosen on the page, kept in the address so that a link shows the same;
// and what is opened for printing.

/** What the address says about the view: `#open=figures,stories&story=12`. */
const VIEW = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

/** Keeps one choice of the reader in the address. Null forgets it. */
function remember(key, value) {
  if (value === null || value === "") VIEW.delete(key);
  else VIEW.set(key, String(value));
  history.replaceState(null, "", `#${VIEW}`);
}

/** The folds that are filled when they are opened, with what fills them. */
const FILLERS = new Map();

/** Calls `build` once: when a fold is opened for the first time, or before it is printed. */
function whenOpen(details, build) {
  let isFilled = false;
  const fill = () => {
    if (!details.open || isFilled) return;
    isFilled = true;
    build();
  };
  if (!FILLERS.has(details)) FILLERS.set(details, []);
  FILLERS.get(details).push(fill);
  details.addEventListener("toggle", fill);
  fill();
}

/** Opens a fold and all folds around it. */
function unfold(node) {
  for (let at = node; at; at = at.parentElement) {
    if (at.tagName !== "DETAILS") continue;
    at.open = true;
    (FILLERS.get(at) || []).forEach((fill) => fill());
  }
}

/** Shows the part of the page with this id. */
function goTo(id) {
  const node = document.getElementById(id);
  if (!node) return;
  unfold(node);
  node.scrollIntoView({ block: "start" });
}

let isPrinting = false;
let openedForPrint = [];

/** Opens every fold but the shelves of large tables and figures, which print only if open. */
function openForPrint() {
  if (isPrinting) return;
  isPrinting = true;
  openedForPrint = [...document.querySelectorAll("details:not([open]):not(.shelf)")];
  openedForPrint.forEach(unfold);
  // Wide tables are made smaller, so that no column is lost at the edge of the paper.
  for (const table of document.querySelectorAll("main table")) {
    const share = PAPER_WIDTH / Math.max(1, table.scrollWidth);
    table.style.setProperty("--shrink", Math.min(1, share).toFixed(3));
  }
}
/** The width of an A4 page without its margins, in pixels of the screen. */
const PAPER_WIDTH = 690;

function closeAfterPrint() {
  openedForPrint.forEach((details) => (details.open = false));
  openedForPrint = [];
  isPrinting = false;
}

/** The part of the page that the reader looks at. */
function partInSight() {
  const parts = [...document.querySelectorAll("#summary, section.suite, details.part[open]")];
  const above = parts.filter((part) => part.getBoundingClientRect().top < innerHeight / 2);
  return above.length ? above[above.length - 1].id : null;
}

/** Puts a link to the view into the clipboard, or shows it where that is not allowed. */
async function copyLink() {
  const part = partInSight();
  remember("at", part === "summary" ? null : part);
  const button = document.getElementById("link");
  const box = document.getElementById("link-box");
  const text = document.getElementById("link-text");
  text.value = location.href;
  try {
    await navigator.clipboard.writeText(location.href);
    box.hidden = true;
    button.textContent = "Link copied";
    setTimeout(() => (button.textContent = "Copy link"), 2500);
  } catch {
    box.hidden = false;
    text.focus();
    text.select();
  }
}

function startView() {
  const folds = () => [...document.querySelectorAll("details[id]")];
  if (VIEW.has("open")) {
    const open = new Set(VIEW.get("open").split(","));
    folds().forEach((details) => (details.open = open.has(details.id)));
    folds()
      .filter((details) => details.open)
      .forEach(unfold);
  }
  document.addEventListener(
    "toggle",
    () => {
      if (isPrinting) return;
      const open = folds().filter((details) => details.open);
      remember("open", open.map((details) => details.id).join(","));
    },
    true,
  );
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (!link) return;
    event.preventDefault();
    goTo(link.getAttribute("href").slice(1));
  });
  addEventListener("hashchange", () => {
    if (location.hash.includes("=")) location.reload();
    else goTo(location.hash.slice(1));
  });
  document.getElementById("link").addEventListener("click", copyLink);
  addEventListener("beforeprint", openForPrint);
  addEventListener("afterprint", closeAfterPrint);
  const print = matchMedia("print");
  const react = () => (print.matches ? openForPrint() : closeAfterPrint());
  print.addEventListener("change", react);
  if (print.matches) openForPrint();
  if (VIEW.has("at")) goTo(VIEW.get("at"));
  else if (location.hash && !location.hash.includes("=")) goTo(location.hash.slice(1));
}
