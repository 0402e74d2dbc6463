// Opens reports of test suites for metrics, as check.mjs does with other reports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HOSTILE } from "./data.mjs";
import { ASPECTS, suiteResult, writeSuite } from "./suite.mjs";

/** Why the suite has no paraphrases. */
const MISSING = "needs a file of paraphrases";
/** Names of metrics that try to leave their place: markup, the other direction, and length. */
const HOSTILE_METRICS = [HOSTILE, "\u202eturned\u2066", "long".repeat(2000)];

/** A suite in which names, rules, ids, reasons and texts are hostile. */
function hostileSuite(metrics) {
  const result = suiteResult({ metrics, missing: { typo: HOSTILE } });
  for (const example of result.examples) {
    Object.assign(example, { rule: HOSTILE, id: HOSTILE });
    example.original = [{ text: HOSTILE, changed: true }];
  }
  result.aspects[0].left_out = [{ reason: HOSTILE, stories: 3 }];
  return result;
}

/** Writes three results: an ordinary one, one with hostile names and one of thirty metrics. */
export function writeSuites(work) {
  const strong = (name) => [name, "higher", 1, 1, 1];
  const many = Array.from({ length: 30 }, (_, at) => strong(`metric-${at}`));
  writeSuite(join(work, "sight"), suiteResult({ missing: { paraphrase: MISSING } }));
  writeSuite(join(work, "evil"), hostileSuite(HOSTILE_METRICS.map(strong)));
  writeSuite(join(work, "many"), suiteResult({ metrics: many }));
}

/** The tests, given what check.mjs opens and uses pages with. */
export const suiteTests = ({ open, unfold, accessible, work }) => ({
  async "what metrics see: words, one picture with the numbers of the result, and tables"() {
    const { page, faults } = await open("sight.html");
    assert.equal(await page.locator("#summary h2").textContent(), "What these metrics see");
    const told = await page.locator("#summary .meaning p").allTextContents();
    assert.equal(told.length, 5);
    assert.match(told[0], /^union sees lexical repetition \(AUC 0\.\d\d\)/);
    const cells = page.locator("#fig-what-metrics-see [data-v]");
    assert.equal(await cells.count(), 12 * 6, "twelve aspects, five metrics and the constant one");
    const drawn = await cells.evaluateAll((all) =>
      all.map(({ dataset: d }) => [d.r, d.c, Number(d.v)]),
    );
    const result = JSON.parse(readFileSync(join(work, "sight/result.json"), "utf8"));
    for (const [metric, aspect, value] of drawn.filter(([row]) => row !== "constant metric")) {
      const cell = result.cells.find((one) => one.metric === metric && one.aspect === aspect);
      assert.equal(value, cell.test === "discrimination" ? cell.auc : cell.shift);
    }
    const tip = page.locator("#tip");
    await cells.first().locator("text").hover();
    assert.match(await tip.textContent(), /^union · lexical repetition: sees; AUC 0\.\d+, shift/);
    await page.locator("#fig-what-metrics-see [data-tip*=absent]").first().hover();
    assert.equal(await tip.textContent(), `union · paraphrase: absent (${MISSING})`);

    await unfold(page, "suite-1-numbers");
    await unfold(page, "suite-1-sheet-2");
    const table = page.locator("#suite-1-sheet-2");
    assert.equal(await table.locator("tbody tr").count(), ASPECTS.length);
    await table.locator("thead button", { hasText: "AUC" }).click();
    const first = await table.locator("tbody tr th").first().textContent();
    assert.equal(first, "lexical repetition");
    const last = await table.locator("tbody tr th").last().textContent();
    assert.equal(last, "paraphrase", "an absent number comes last");
    await unfold(page, "suite-1-texts");
    const texts = await page.locator("#suite-1-texts tbody tr").allTextContents();
    assert.match(texts.find((row) => row.startsWith("paraphrase")), new RegExp(MISSING));
    assert.deepEqual(faults, []);
  },

  async "pairs stand side by side, stacked on a phone, and differ by more than a colour"() {
    for (const [width, isStacked] of [
      [1200, false],
      [390, true],
    ]) {
      const { page, faults } = await open("sight.html", { viewport: { width, height: 900 } });
      await unfold(page, "suite-1-examples");
      await unfold(page, "suite-1-examples-typo");
      const example = page.locator("#suite-1-examples-typo .example").first();
      const texts = example.locator(".twins > div");
      const [original, twin] = [texts.first(), texts.last()];
      const [left, right] = [await original.boundingBox(), await twin.boundingBox()];
      assert.equal(right.y >= left.y + left.height, isStacked);
      assert.deepEqual(await original.locator("del").allTextContents(), ["ferry", "baker"]);
      assert.deepEqual(await twin.locator("ins").allTextContents(), ["ferrz", "bakwr"]);
      const look = (node) => {
        const { textDecorationLine, backgroundColor } = getComputedStyle(node);
        return [textDecorationLine, backgroundColor];
      };
      const lost = await original.locator("del").first().evaluate(look);
      const fresh = await twin.locator("ins").first().evaluate(look);
      assert.deepEqual([lost[0], fresh[0]], ["line-through", "underline"]);
      assert.notEqual(lost[1], fresh[1]);
      assert.equal(await example.locator("tbody tr").count(), 5);
      assert.deepEqual(faults, []);
      await page.close();
    }
  },

  async "hostile names of metrics and hostile pairs are shown as text"() {
    for (const viewport of [
      { width: 1200, height: 900 },
      { width: 390, height: 844 },
    ]) {
      const { page, faults } = await open("evil.html", { viewport });
      await page.evaluate(() => document.querySelectorAll("details").forEach(unfold));
      const names = await page.locator("#suite-1-sheet-1 thead button").allTextContents();
      assert.deepEqual(names.slice(2, -1), HOSTILE_METRICS);
      const text = await page.locator(".example .text del").first().textContent();
      assert.equal(text, HOSTILE.replaceAll("\u2028", " "));
      assert.equal(await page.locator(".example b, main img, main script, main i").count(), 0);
      assert.equal(await page.evaluate(() => window.pwned), undefined);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} pixels wider than the screen`);
      const turned = await page.locator("#summary .meaning").textContent();
      assert.doesNotMatch(turned, /[\u202a-\u202e\u2066-\u2069]/);
      await accessible(page, "hostile names");
      assert.deepEqual(faults, []);
      await page.close();
    }
  },

  async "a study, scores and two test suites share a page, section after section"() {
    const { page, faults } = await open("mixed.html");
    assert.match(await page.locator("#summary h2").textContent(), /^Which metrics agree best/);
    const heads = await page.locator("section.suite > h2").allTextContents();
    assert.deepEqual(heads, ["What these metrics see: sight", "What these metrics see: many"]);
    assert.equal(await page.locator("#suite-2 .meaning p:visible").count(), 6);
    await page.locator("nav a", { hasText: "many" }).click();
    const box = await page.locator("#suite-2").boundingBox();
    assert.ok(box.y > -5 && box.y < 450, "the link leads to the section");
    await unfold(page, "suite-2-examples");
    await page.locator("#link").click();
    const address = page.url();
    const second = await open("mixed.html", {}, address.slice(address.indexOf("#")));
    assert.equal(await second.page.locator("details#suite-2-examples[open]").count(), 1);
    assert.equal(await second.page.locator("details#suite-1-examples[open]").count(), 0);
    assert.deepEqual([...faults, ...second.faults], []);
  },
});
