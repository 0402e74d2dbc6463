// Opens reports in a real browser and uses them as a reader would.
// node check.mjs STORYMETER CHROMIUM SHARED [SHOTS]   with SHOTS set, screenshots are left in that folder.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { HOSTILE, writeData } from "./data.mjs";

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
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });

/** Opens a report; any console error, page error or request to the network fails the test that opened it. */
async function open(file, options = {}) {
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
  await page.goto(pathToFileURL(join(work, file)).href, { waitUntil: "load" });
  await page.waitForSelector("html[data-ready=yes]", { state: "attached" });
  return { page, faults, seconds: (performance.now() - started) / 1000 };
}

async function accessible(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  const bad = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  const told = bad.map(
    (v) =>
      `${v.id} (${v.impact}): ${v.nodes
        .slice(0, 3)
        .map((n) => n.html.slice(0, 160))
        .join(" | ")}`,
  );
  assert.deepEqual(told, [], `${what}: accessibility`);
}

const tests = {
  async "tables sort, the explorer switches, stories filter"() {
    const { page, faults } = await open("small.html");
    const table = page.locator("details.sheet").first();
    const name = () => table.locator("tbody tr th").allTextContents();
    const before = await name();
    await table.locator("thead button").first().click();
    assert.deepEqual(
      await name(),
      [...before].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })),
    );
    await table.locator("thead button").first().click();
    assert.equal(await table.locator("thead th").first().getAttribute("aria-sort"), "descending");

    const control = (label, at = "#explore-controls") =>
      page
        .locator(`${at} label`)
        .filter({ hasText: new RegExp(`^${label}`) })
        .locator("select,input");
    const result = JSON.parse(readFileSync(join(work, "result/result.json"), "utf8"));
    const value = (id, row, column) => {
      const sheet = result.sheets.find((s) => s.id === id);
      return sheet.rows.find((r) => r[0] === row)[
        sheet.columns.findIndex((c) => c.name === column)
      ];
    };
    for (const level of ["system", "story", "pooled"]) {
      for (const coefficient of ["kendall", "spearman", "pearson"]) {
        await control("Show").selectOption("against");
        await control("Level").selectOption(level);
        await control("Coefficient").selectOption(coefficient);
        const shown = Number(
          await page
            .locator('#explore-figure [data-r="alpha"][data-c="plot"]')
            .getAttribute("data-v"),
        );
        const real = value(`against-${level}-${coefficient}`, "alpha", "plot");
        assert.ok(
          Math.abs(shown - real) < 1e-5,
          `${level} ${coefficient}: ${shown} is not ${real}`,
        );
      }
    }
    await control("Metrics").fill("alp, bet");
    assert.equal(await page.locator('#explore-figure [data-c="plot"]').count(), 2);
    await page.locator('#explore-figure [data-r="alpha"][data-c="plot"]').hover();
    assert.match(await page.locator("#tip").textContent(), /alpha · plot: -?0\.\d{4}/);
    await control("Show").selectOption("williams");
    assert.equal(await control("Criterion").count(), 1);

    const count = () => page.locator("#story-count").textContent();
    assert.equal(await count(), "60 of 60 stories");
    await control("System", "#story-controls").selectOption("Wren");
    assert.equal(await count(), "12 of 60 stories");
    await control("Score at least", "#story-controls").fill("99");
    assert.equal(await count(), "0 of 60 stories");
    await control("Score at least", "#story-controls").fill("");
    await page.locator("#highlight").selectOption("Wren");
    assert.ok((await page.locator("svg .series.dim").count()) > 0);
    assert.equal(await page.locator('svg .series.dim[data-series="Wren"]').count(), 0);
    assert.deepEqual(faults, []);
  },

  async "worst disagreements come first and the list works from the keyboard"() {
    const { page, faults } = await open("small.html");
    const apart = (await page.locator("#story-list .row small").allTextContents()).map((t) =>
      Number(/apart (\d+)%/.exec(t)[1]),
    );
    assert.deepEqual(
      apart,
      [...apart].sort((a, b) => b - a),
    );
    await page.locator("#story-list").focus();
    await page.keyboard.press("End");
    const last = await page
      .locator("#story-list [aria-selected=true]")
      .getAttribute("aria-posinset");
    assert.equal(last, "60");
    assert.ok((await page.locator("#story h3").textContent()).startsWith("s"));
    assert.deepEqual(faults, []);
  },

  async "a hostile story is shown as text"() {
    const { page, faults } = await open("small.html");
    await page.locator("#story-controls label", { hasText: "Find" }).locator("input").fill("pwned");
    await page.locator("#story-list .row").first().click();
    assert.equal(await page.locator("#story .text").textContent(), HOSTILE);
    assert.equal(await page.locator("#story .text mark").textContent(), "<script>");
    assert.equal(await page.locator("#story img, #story script, #story b, #story i").count(), 0);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.deepEqual(faults, []);
  },

  async "no serious accessibility violation, light, dark and on a phone"() {
    for (const [name, options] of Object.entries({
      light: { colorScheme: "light" },
      dark: { colorScheme: "dark" },
      phone: { viewport: { width: 390, height: 844 }, colorScheme: "light" },
    })) {
      const { page, faults } = await open("small.html", options);
      await page.locator("#story-list .row").first().click();
      await accessible(page, name);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name}: the page is ${wide} pixels wider than the screen`);
      if (shots) await page.screenshot({ path: join(shots, `small-${name}.png`), fullPage: true });
      assert.deepEqual(faults, []);
      await page.close();
    }
  },

  async "two runs show what changed"() {
    const { page, faults } = await open("two.html");
    assert.match(await page.locator("#summary").textContent(), /shared correlations changed/);
    assert.ok((await page.locator("#changes tbody tr").count()) > 0);
    await accessible(page, "comparison");
    assert.deepEqual(faults, []);
  },

  async "100,000 stories stay small, quick and honest about sampling"() {
    writeData(work, 100_000);
    storymeter("report", "scores.jsonl", "--stories", "stories.jsonl", "-o", "large.html");
    const size = megabytes("large.html");
    assert.ok(size < 20, `${size} MB`);
    const { page, faults, seconds } = await open("large.html");
    assert.match(
      await page.locator("#stories .sampled").first().textContent(),
      /The texts of \d+ of 100000 stories/,
    );
    assert.match(await page.locator("#scatter-caption").textContent(), /stories are drawn as dots/);
    assert.ok(
      (await page.locator("#story-list .row").count()) < 60,
      "only rows in sight are in the page",
    );
    const filtered = await page.evaluate(() => {
      const select = [...document.querySelectorAll("#story-controls label")].find((l) =>
        l.textContent.startsWith("System"),
      ).lastChild;
      const started = performance.now();
      select.value = "Wren";
      select.dispatchEvent(new Event("change"));
      return performance.now() - started;
    });
    assert.equal(await page.locator("#story-count").textContent(), "20000 of 100000 stories");
    console.log(
      `  ${size.toFixed(1)} MB, ready after ${seconds.toFixed(2)} s, filtered in ${filtered.toFixed(0)} ms`,
    );
    assert.deepEqual(faults, []);
  },

  async "HANNA: under 6 MB, no console errors, every figure"() {
    const hanna = join(resolve(shared), "data/annotated/hanna");
    if (!existsSync(join(hanna, "hanna_metric_scores.csv"))) return "skipped: no shared data";
    const csv = join(hanna, "hanna_metric_scores.csv");
    storymeter("meta", "hanna", csv, "--ratings", join(hanna, "ratings.csv"), "-o", "hanna");
    storymeter(
      "report",
      "hanna",
      csv,
      "--stories",
      join(hanna, "stories_first48.jsonl.gz"),
      "-o",
      "hanna.html",
    );
    const size = megabytes("hanna.html");
    assert.ok(size < 6, `${size} MB`);
    const { page, faults, seconds } = await open("hanna.html");
    for (let number = 1; number <= 38; number++) {
      const figure = page.locator(
        `#figure-${number}, details.drawn[data-sheet="figure-${number}"]`,
      );
      assert.equal(await figure.count(), 1, `figure ${number}`);
    }
    const large = page.locator('details.drawn[data-sheet="figure-20"]');
    await large.locator("summary").click();
    assert.equal(await large.locator("rect[data-v]").count(), 72 * 72);
    console.log(`  ${size.toFixed(1)} MB, ready after ${seconds.toFixed(2)} s`);
    if (shots) {
      await page.reload();
      await page.screenshot({ path: join(shots, "hanna-light.png"), fullPage: true });
      await page.pdf({ path: join(shots, "hanna-print.pdf") });
      const dark = await open("hanna.html", { colorScheme: "dark" });
      await dark.page.screenshot({ path: join(shots, "hanna-dark.png"), fullPage: true });
      const phone = await open("hanna.html", { viewport: { width: 390, height: 844 } });
      await phone.page.screenshot({ path: join(shots, "hanna-phone.png"), fullPage: true });
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
  writeData(work, 120);
  storymeter("meta", "table", "scores.jsonl", "-o", "later");
  storymeter("report", "result", "later", "-o", "two.html");
  for (const [name, test] of Object.entries(tests)) {
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
