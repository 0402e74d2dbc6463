// Opens reports in a real browser and uses them as a reader would.
// Usage: node check.mjs STORYMETER CHROMIUM SHARED [SHOTS]
// Where SHOTS is given, screenshots are left in that folder.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { CRITERIA, HOSTILE, REASON, writeData } from "./data.mjs";
import { suiteTests, writeSuites } from "./suite_checks.mjs";
import { systemTests, writeSystems } from "./systems.mjs";

const [binary, browserPath, shared, shots] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "storymeter-browser-"));
const here = fileURLToPath(new URL(".", import.meta.url));
const axe = readFileSync(join(here, "node_modules/axe-core/axe.min.js"), "utf8");
if (shots) mkdirSync(shots, { recursive: true });

const storymeter = (...args) =>
  execFileSync(resolve(binary), args, {
    cwd: work,
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  });
const megabytes = (file) => statSync(join(work, file)).size / 1e6;
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});

/** Opens a report. Any error of the page and any request to the network is a fault. */
async function open(file, options = {}, view = "") {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  const faults = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) faults.push(`request to ${request.url()}`);
  });
  const started = performance.now();
  await page.goto(pathToFileURL(join(work, file)).href + view, { waitUntil: "load" });
  await page.waitForSelector("html[data-ready=yes]", { state: "attached" });
  return { page, faults, seconds: (performance.now() - started) / 1000 };
}

/** Fails where axe-core finds a serious barrier. */
async function accessible(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  const found = serious.map((violation) => {
    const examples = violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160));
    return `${violation.id} (${violation.impact}): ${examples.join(" | ")}`;
  });
  assert.deepEqual(found, [], `${what}: accessibility`);
}

/** Opens parts of the page as a reader does. */
async function unfold(page, ...ids) {
  for (const id of ids) await page.locator(`details#${id} > summary`).click();
}

/** The text of the file that a button saves. */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
}

/** The field of a form with this label. */
const control = (page, label, form = "#explore-controls") => {
  const labelled = page.locator(`${form} label`).filter({ hasText: new RegExp(`^${label}`) });
  return labelled.locator("select,input");
};

/** A cell of the explorer's heat-map. */
const heatCell = (page, row, column) =>
  page
    .locator("#explore-figure [data-v]")
    .and(page.locator(`[data-r="${row}"][data-c="${column}"]`));

const tests = {
  async "tables sort, the explorer switches, stories filter"() {
    const { page, faults } = await open("small.html");
    await unfold(page, "explore", "tables", "stories");
    const table = page.locator("details.sheet").first();
    await table.locator("summary").click();
    const name = () => table.locator("tbody tr th").allTextContents();
    const before = await name();
    const sorted = [...before].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    await table.locator("thead button").first().click();
    assert.deepEqual(await name(), sorted);
    await table.locator("thead button").first().click();
    assert.equal(await table.locator("thead th").first().getAttribute("aria-sort"), "descending");

    const study = JSON.parse(readFileSync(join(work, "result/study.json"), "utf8"));
    const agreements = study.findings.map((finding) => finding.agreements).find(Boolean);
    let compared = 0;
    for (const criterion of CRITERIA) {
      for (const level of ["system", "story", "pooled"]) {
        for (const coefficient of ["kendall", "spearman", "pearson"]) {
          await control(page, "Show").selectOption("against");
          await control(page, "Level").selectOption(level);
          await control(page, "Coefficient").selectOption(coefficient);
          const cell = heatCell(page, "beta", criterion);
          const shown = Number(await cell.getAttribute("data-v"));
          const wanted = { metric: "beta", criterion, level, coefficient };
          const isWanted = (one) => Object.keys(wanted).every((key) => one[key] === wanted[key]);
          const real = agreements.find(isWanted).value.value;
          assert.ok(Math.abs(shown - real) < 1e-5, `${Object.values(wanted)}: ${shown}, ${real}`);
          compared += 1;
        }
      }
    }
    assert.equal(compared, 18);
    await control(page, "Metrics").fill("alp, bet");
    assert.equal(await page.locator(`#explore-figure [data-c="${CRITERIA[0]}"]`).count(), 2);
    await heatCell(page, "alpha", CRITERIA[0]).hover();
    assert.match(await page.locator("#tip").textContent(), /alpha · story-level flow: -?0\.\d{4}/);
    await control(page, "Show").selectOption("tests");
    const criteria = await control(page, "Criterion").locator("option").allTextContents();
    assert.deepEqual(criteria, CRITERIA);

    const count = () => page.locator("#story-count").textContent();
    assert.equal(await count(), "60 of 60 stories");
    await control(page, "System", "#story-controls").selectOption("Wren");
    assert.equal(await count(), "12 of 60 stories");
    await control(page, "Score at least", "#story-controls").fill("99");
    assert.equal(await count(), "0 of 60 stories");
    await control(page, "Score at least", "#story-controls").fill("");
    await page.locator("#highlight").selectOption("Wren");
    assert.ok((await page.locator("svg .series.dim").count()) > 0);
    assert.equal(await page.locator('svg .series.dim[data-series="Wren"]').count(), 0);
    assert.deepEqual(faults, []);
  },

  async "worst disagreements come first and the list works from the keyboard"() {
    const { page, faults } = await open("small.html");
    await unfold(page, "stories");
    const lines = await page.locator("#story-list .row small").allTextContents();
    const apart = lines.map((line) => Number(/apart (\d+)%/.exec(line)[1]));
    assert.ok(apart.length > 5);
    const sorted = [...apart].sort((a, b) => b - a);
    assert.deepEqual(apart, sorted);
    await page.locator("#story-list").focus();
    await page.keyboard.press("End");
    const last = page.locator("#story-list [aria-selected=true]");
    assert.equal(await last.getAttribute("aria-posinset"), "60");
    assert.ok((await page.locator("#story h3").textContent()).startsWith("s"));
    assert.deepEqual(faults, []);
  },

  async "an absent score is shown as absent, with its reason as text"() {
    const { page, faults } = await open("small.html");
    await unfold(page, "stories");
    await control(page, "Metric", "#story-controls").selectOption({ label: "alpha" });
    await page.locator("#story-controls label", { hasText: "Find" }).locator("input").fill("s4");
    const row = page.locator("#story-list .row").filter({ hasText: /^s4 / });
    assert.match(await row.textContent(), /alpha absent/);
    await row.click();
    assert.equal(await page.locator("#story td.absent").textContent(), `absent: ${REASON}`);
    assert.equal(await page.locator("#story td.absent b").count(), 0);
    assert.doesNotMatch(await page.locator("main").innerText(), /\bNaN\b/);
    assert.deepEqual(faults, []);
  },

  async "a hostile story is shown as text"() {
    const { page, faults } = await open("small.html");
    await unfold(page, "stories");
    await page.locator("#story-controls label", { hasText: "Find" }).locator("input").fill("pwned");
    await page.locator("#story-list .row").first().click();
    assert.equal(await page.locator("#story .text").textContent(), HOSTILE);
    assert.equal(await page.locator("#story .text mark").textContent(), "<script>");
    assert.equal(await page.locator("#story img, #story script, #story b, #story i").count(), 0);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.deepEqual(faults, []);
  },

  async "the first screen is a ranked table, a picture and what it means"() {
    for (const [file, question, told] of [
      ["small.html", /^Which metrics agree best with people, and is that certain\?/, /metric/],
      ["scores.html", /^Which system is best, and is that certain\?/, /^No clear winner/],
      ["two.html", /^What changed from result to later, and is that certain\?/, /changes are/],
    ]) {
      const { page, faults } = await open(file, { viewport: { width: 1280, height: 800 } });
      assert.match(await page.locator("#summary h2").textContent(), question);
      assert.match((await page.locator(".meaning").textContent()).trim(), told);
      assert.equal(await page.locator("#summary table tbody tr").first().isVisible(), true);
      // A page about systems has a matrix instead of a picture.
      const picture = file === "scores.html" ? "#summary table.leaders" : "#summary figure svg";
      for (const part of ["#summary table", picture, ".meaning p"]) {
        const box = await page.locator(part).first().boundingBox();
        assert.ok(box.y + box.height < 800, `${file}: ${part} is on the first screen`);
      }
      assert.equal(await page.locator("details.part[open]").count(), 0, "everything else folds");
      assert.deepEqual(faults, []);
      await page.close();
    }
  },

  async "a report of scores alone has systems, pairs, distributions and stories"() {
    const { page, faults } = await open("scores.html");
    const systems = await page.locator("#summary thead th").allTextContents();
    assert.deepEqual(systems.slice(1).sort(), ["Heron", "Kestrel", "Magpie", "Plover", "Wren"]);
    await unfold(page, "pairs", "distribution", "others", "stories");
    assert.equal(await page.locator("#fig-pairs rect[data-v]").count(), 20);
    assert.equal(await page.locator("#pairs tbody tr").count(), 10);
    assert.ok((await page.locator("#fig-distribution circle[data-v]").count()) > 50);
    assert.equal(await page.locator("#story-count").textContent(), "60 of 60 stories");
    assert.deepEqual(faults, []);
  },

  async "buttons save CSV, LaTeX and SVG"() {
    const { page, faults } = await open("small.html");
    const button = (name) => page.locator("#summary .save button", { hasText: name }).first();
    const [csvName, csv] = await saved(page, button("CSV"));
    assert.equal(csvName, "best-metrics.csv");
    assert.match(csv, /^rank,metric,story level,/);
    const best = page.locator("#summary tbody tr").first();
    const shown = await best.locator("td").nth(1).textContent();
    assert.ok(Math.abs(Number(csv.split("\n")[1].split(",")[2]) - Number(shown)) < 6e-4, csv);
    const [texName, tex] = await saved(page, button("LaTeX"));
    assert.equal(texName, "best-metrics.tex");
    assert.match(tex, /\\begin\{tabular\}\{rlrrrl\}[^]*\\toprule[^]*\\end\{tabular\}\n$/);
    const [svgName, svg] = await saved(page, button("SVG"));
    assert.equal(svgName, "ranking.svg");
    assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"[^]*<\/svg>\n$/);
    assert.match(svg, /alpha/);
    const escaped = await page.evaluate(() => [
      tex("50% of a_b & {c}\\ < \u039e"),
      unarmed("=1+1"),
    ]);
    const wanted = "50\\% of a\\_b \\& \\{c\\}\\textbackslash{} \\textless{} $\\Xi$";
    assert.deepEqual(escaped, [wanted, "'=1+1"]);
    assert.deepEqual(faults, []);
  },

  async "a link to the view opens the same parts, choices and story"() {
    const { page, faults } = await open("small.html");
    await unfold(page, "explore", "stories");
    await control(page, "Level").selectOption("pooled");
    await control(page, "Metric", "#story-controls").selectOption({ label: "beta" });
    await page.locator("#story-list .row").nth(2).click();
    const title = await page.locator("#story h3").textContent();
    await page.locator("#link").click();
    const address = page.url();
    assert.match(address, /#.*open=explore%2Cstories/);
    const second = await open("small.html", {}, address.slice(address.indexOf("#")));
    const opened = second.page.locator("details.part[open]");
    assert.deepEqual(await opened.evaluateAll((all) => all.map((one) => one.id)), [
      "explore",
      "stories",
    ]);
    assert.equal(await control(second.page, "Level").inputValue(), "pooled");
    assert.equal(await second.page.locator("#story h3").textContent(), title);
    const link = await open("small.html", {}, "#figures");
    assert.equal(await link.page.locator("details#figures[open]").count(), 1, "a plain link");
    assert.deepEqual([...faults, ...second.faults, ...link.faults], []);
  },

  async "a tap on a story shows it on a phone"() {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page, faults } = await open("small.html", phone);
    await page.locator("details#stories > summary").tap();
    await page.locator("#story-list .row").nth(1).tap();
    const inSight = async (part) => {
      const box = await page.locator(part).boundingBox();
      return box.y >= -5 && box.y < 844 / 2;
    };
    assert.ok(await inSight("#story"), "the story is in sight");
    assert.ok((await page.locator("#story .text").textContent()).length > 10);
    await page.locator("#story .back").tap();
    assert.ok(await inSight("#story-list"), "and the list again");
    assert.deepEqual(faults, []);
  },

  async "paper has every folded table, on white, and nothing is cut"() {
    for (const file of ["small.html", "scores.html", "two.html", "sight.html"]) {
      const { page, faults } = await open(file, {
        colorScheme: "dark",
        viewport: { width: 718, height: 1000 },
      });
      await page.emulateMedia({ media: "print" });
      // The page hears of it a moment later; a real print waits for the page.
      await page.locator("details.part:not([open])").first().waitFor({ state: "detached" });
      const seen = await page.evaluate(() => {
        const isVisible = (node) => node.checkVisibility({ contentVisibilityAuto: true });
        const folds = [...document.querySelectorAll("details:not(.shelf)")];
        const tables = [...document.querySelectorAll("main table")].filter(isVisible);
        return {
          closed: folds.filter((fold) => !fold.open).map((fold) => fold.id),
          empty: [...document.querySelectorAll("details.sheet:not(.shelf), .sorted")]
            .filter((place) => !place.querySelector("table"))
            .map((place) => place.id),
          tables: tables.length,
          ground: getComputedStyle(document.body).backgroundColor,
          ink: getComputedStyle(document.body).color,
          wide: tables
            .filter((table) => table.getBoundingClientRect().right > innerWidth + 1)
            .map((table) => table.parentElement.getAttribute("aria-label")),
        };
      });
      assert.deepEqual(seen.closed, [], `${file}: closed on paper`);
      assert.deepEqual(seen.empty, [], `${file}: empty on paper`);
      assert.ok(seen.tables > 2, `${file}: ${seen.tables} tables`);
      assert.deepEqual([seen.ground, seen.ink], ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
      assert.deepEqual(seen.wide, [], `${file}: wider than the paper`);
      await page.emulateMedia({ media: "screen" });
      // The folds close again, which takes a moment.
      await page.locator("details.part[open]").first().waitFor({ state: "detached" });
      assert.deepEqual(faults, []);
      await page.close();
    }
  },

  async "marks of figures can be seen on a dark page"() {
    const { page } = await open("small.html", { colorScheme: "dark" });
    await unfold(page, "figures");
    const faint = await page.evaluate(() => {
      const luminance = (text) => {
        const parts = text.match(/[\d.]+/g).slice(0, 3).map((part) => Number(part) / 255);
        const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const [r, g, b] = parts.map(linear);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ground = luminance(getComputedStyle(document.body).backgroundColor);
      const marks = [...document.querySelectorAll("main figure circle[data-v], .series path")];
      const colours = marks.flatMap((mark) => {
        const { fill, stroke } = getComputedStyle(mark);
        return [fill === "none" ? stroke : fill].filter((colour) => colour.startsWith("rgb("));
      });
      const contrast = (colour) => (luminance(colour) + 0.05) / (ground + 0.05);
      return [...new Set(colours)].filter((colour) => contrast(colour) < 3);
    });
    assert.deepEqual(faint, []);
  },

  async "no serious accessibility violation on four pages, light, dark and on a phone"() {
    const modes = {
      light: { colorScheme: "light", viewport: { width: 1280, height: 800 } },
      dark: { colorScheme: "dark", viewport: { width: 1280, height: 800 } },
      phone: { viewport: { width: 390, height: 844 }, colorScheme: "light" },
    };
    for (const file of ["small", "scores", "two", "sight"]) {
      for (const [name, options] of Object.entries(modes)) {
        const { page, faults } = await open(`${file}.html`, options);
        if (shots) await page.screenshot({ path: join(shots, `${file}-${name}.png`) });
        await page.evaluate(() =>
          document.querySelectorAll("details:not(.shelf)").forEach(unfold),
        );
        if (file !== "sight") await page.locator("#story-list .row").first().click();
        await accessible(page, `${file}, ${name}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${file}, ${name}: ${wide} pixels wider than the screen`);
        if (shots && name === "light") await page.pdf({ path: join(shots, `${file}-print.pdf`) });
        assert.deepEqual(faults, []);
        await page.close();
      }
    }
  },

  async "two runs on the same stories are compared by a paired test"() {
    const { page, faults } = await open("two.html");
    await unfold(page, "changes");
    const summary = await page.locator("#summary").textContent();
    assert.match(summary, /shared correlations changed/);
    assert.match(summary, /Williams' test for dependent correlations on the 60 stories/);
    assert.ok((await page.locator("#changes tbody tr").count()) > 0);
    const tested = page.locator("#changes tbody tr").filter({ hasText: "Williams" });
    assert.ok((await tested.count()) > 0);
    assert.deepEqual(faults, []);
  },

  async "100,000 stories stay small and quick, and the page says what is a sample"() {
    writeData(work, 100_000);
    storymeter("report", "scores.jsonl", "--stories", "stories.jsonl", "-o", "large.html");
    const size = megabytes("large.html");
    assert.ok(size < 20, `${size} MB`);
    const { page, faults, seconds } = await open("large.html");
    await unfold(page, "stories");
    const notes = (await page.locator("#stories .note").allTextContents()).join("\n");
    assert.match(notes, /The texts of \d+ of 100000 stories/);
    assert.match(await page.locator("#scatter-caption").textContent(), /stories are drawn as dots/);
    const rows = await page.locator("#story-list .row").count();
    assert.ok(0 < rows && rows < 60, "only rows in sight are in the page");
    const filtered = await page.evaluate(() => {
      const labels = [...document.querySelectorAll("#story-controls label")];
      const select = labels.find((label) => label.textContent.startsWith("System")).lastChild;
      const started = performance.now();
      select.value = "Wren";
      select.dispatchEvent(new Event("change"));
      return performance.now() - started;
    });
    assert.equal(await page.locator("#story-count").textContent(), "20000 of 100000 stories");
    const times = `ready after ${seconds.toFixed(2)} s, filtered in ${filtered.toFixed(0)} ms`;
    console.log(`  ${size.toFixed(1)} MB, ${times}`);
    assert.deepEqual(faults, []);
  },

  async "HANNA: under 6 MB, no console errors, every figure"() {
    const hanna = join(resolve(shared), "data/annotated/hanna");
    const csv = join(hanna, "hanna_metric_scores.csv");
    if (!existsSync(csv)) return "SKIPPED: there is no shared data";
    const stories = join(hanna, "stories_first48.jsonl.gz");
    storymeter("meta", "hanna", csv, "--ratings", join(hanna, "ratings.csv"), "-o", "hanna");
    storymeter("report", "hanna", csv, "--stories", stories, "-o", "hanna.html");
    const size = megabytes("hanna.html");
    assert.ok(size < 6, `${size} MB`);
    const { page, faults, seconds } = await open("hanna.html");
    for (let number = 1; number <= 38; number++) {
      const id = `figure-${number}`;
      const figure = page.locator(`figure[data-id="${id}"], details.drawn[data-id="${id}"]`);
      assert.equal(await figure.count(), 1, id);
    }
    const told = await page.locator(".meaning").textContent();
    assert.match(told, /^What this meansNo metric is clearly the best: chrF/);
    assert.match(await page.locator("#summary").textContent(), /Human\) are excluded/);
    assert.match(await page.locator("#summary").textContent(), /Signs behind a name/);
    assert.ok((await page.locator("#figures figure").count()) <= 10, "few figures by default");
    await unfold(page, "more-figures");
    const large = page.locator('details.drawn[data-id="figure-20"]');
    await large.locator("summary").click();
    assert.equal(await large.locator("rect[data-v]").count(), 72 * 72);
    console.log(`  ${size.toFixed(1)} MB, ready after ${seconds.toFixed(2)} s`);
    if (shots) {
      await page.pdf({ path: join(shots, "hanna-print.pdf") });
      for (const [name, options] of Object.entries({
        light: { viewport: { width: 1280, height: 800 } },
        dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
        phone: { viewport: { width: 390, height: 844 } },
      })) {
        const shot = await open("hanna.html", options);
        await shot.page.screenshot({ path: join(shots, `hanna-${name}.png`) });
        await shot.page.close();
      }
    }
    await accessible(page, "HANNA");
    assert.deepEqual(faults, []);
  },
};

let failed = 0;
try {
  writeData(work, 60);
  storymeter("meta", "table", "scores.jsonl", "-o", "result");
  storymeter("report", "result", "scores.jsonl", "--stories", "stories.jsonl", "-o", "small.html");
  writeData(work, 60, { scores: "alone.jsonl", human: false });
  storymeter("report", "alone.jsonl", "--stories", "stories.jsonl", "-o", "scores.html");
  writeData(work, 60, { scores: "later.jsonl", noise: 2 });
  storymeter("meta", "table", "later.jsonl", "-o", "later");
  storymeter("report", "result", "later", "scores.jsonl", "later.jsonl", "-o", "two.html");
  writeSuites(work);
  storymeter("report", "sight", "-o", "sight.html");
  storymeter("report", "evil/result.json", "-o", "evil.html");
  const inputs = ["sight", "result", "scores.jsonl", "many"];
  storymeter("report", ...inputs, "--stories", "stories.jsonl", "-o", "mixed.html");
  writeSystems(work);
  storymeter("report", "chat.jsonl", "--stories", "chat-stories.jsonl", "-o", "chat.html");
  const explained = ["score", "chat-stories.jsonl", "-m", "slop", "--clean", "--explain"];
  storymeter(...explained, "-o", "slop.jsonl");
  storymeter("report", "slop.jsonl", "--stories", "chat-stories.jsonl", "-o", "slop.html");
  const ofSuites = suiteTests({ open, unfold, accessible, work });
  const ofSystems = systemTests({ open, unfold, accessible, shots });
  for (const [name, test] of Object.entries({ ...tests, ...ofSystems, ...ofSuites })) {
    try {
      console.log(`${name} ... ${(await test()) || "ok"}`);
    } catch (error) {
      failed += 1;
      console.log(`${name} ... FAILED\n${error.message}`);
    }
  }
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
