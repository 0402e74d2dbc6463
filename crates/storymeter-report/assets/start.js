// Theme and highlighting, and the start of all parts of the page.

/** Dims the marks of all systems but the chosen one, and marks its rows in tables. */
function applyHighlight() {
  const select = document.getElementById("highlight");
  const system = select ? select.value : "";
  for (const series of document.querySelectorAll("svg .series")) {
    const isOther = COLOURS.has(series.dataset.series) && series.dataset.series !== system;
    series.classList.toggle("dim", system !== "" && isOther);
  }
  for (const line of document.querySelectorAll("tr[data-name]")) {
    line.classList.toggle("marked", system !== "" && line.dataset.name === system);
  }
}

function startTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : preferred.matches);
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(isDark()));
    button.setAttribute("aria-label", "Dark colours");
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  label();
}

function startHighlight() {
  const select = document.getElementById("highlight");
  if (!select) return;
  if (VIEW.has("highlight")) select.value = VIEW.get("highlight");
  if (select.selectedIndex < 0) select.value = "";
  select.addEventListener("change", () => {
    remember("highlight", select.value);
    applyHighlight();
  });
  document.addEventListener("toggle", applyHighlight, true);
  applyHighlight();
}

startTheme();
startSaving();
startTables();
startDrawn();
startExplorer();
startStories();
startHighlight();
startView();
document.documentElement.dataset.ready = "yes";
