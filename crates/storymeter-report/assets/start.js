// Theme, highlighting, and the start of all parts.

function applyHighlight() {
  const select = document.getElementById("highlight");
  const system = select ? select.value : "";
  for (const series of document.querySelectorAll("svg .series")) {
    const known = series.dataset.series in DATA.colours;
    series.classList.toggle("dim", system !== "" && known && series.dataset.series !== system);
  }
  for (const line of document.querySelectorAll("tr[data-name]")) line.classList.toggle("marked", system !== "" && line.dataset.name === system);
}

function startTheme() {
  const button = document.getElementById("theme"), root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-pressed", String(isDark())); button.setAttribute("aria-label", "Dark colours"); };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  label();
}

startTheme();
startTables();
startDrawn();
startExplorer();
startStories();
const highlight = document.getElementById("highlight");
if (highlight) highlight.addEventListener("change", applyHighlight);
document.addEventListener("toggle", applyHighlight, true);
document.documentElement.dataset.ready = "yes";
