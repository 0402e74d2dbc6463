// Scores of four systems that write stories of other lengths and with other habits, and the tests
// of the page about them.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A name that is markup. */
const HOSTILE_NAME = '<img src=x onerror="window.pwned = 3">';

/** How long the stories of each system are, how good they seem, and what surrounds them. */
const SYSTEMS = [
  { name: "gpt2-small", words: 54, union: 0.72, rated: 1.9, flags: { cut: 5 } },
  { name: "parrot-chat", words: 1476, union: 0.31, rated: 3.6, flags: { preamble: 2, outro: 4 } },
  { name: "heron-7b", words: 640, union: 0.38, rated: 3.1, flags: { preamble: 3, markdown: 3 } },
  { name: HOSTILE_NAME, words: 310, union: 0.42, rated: 2.8, flags: { preamble: 4 } },
];
const CRITERIA = [
  "relevance",
  "coherence",
  "empathy",
  "surprise",
  "engagement",
  "complexity",
  "overall",
];
const ITEMS = 24;

/** What is said about the two learned metrics in the header of a score file. */
const VALIDITY = {
  union: {
    measures: "whether a short story hangs together",
    tested: "stories by models of 2018 to 2021",
    doubtful: "longer stories, and those of chat models",
    words: [20, 500],
  },
  criteria: {
    measures: "ratings that readers would give",
    tested: "stories by models of 2021",
    doubtful: "",
    words: [150, 900],
  },
};

/** Human stories by which longer ones score higher, so that percentiles turn the lead by union. */
const NORMS = {
  source: "stories of the test",
  low: 0,
  high: 1,
  classes: [
    { longest: 100, counts: [0, 0, 0, 0, 0, 0, 4, 8, 8, 4] },
    { longest: 400, counts: [0, 0, 2, 4, 4, 2, 0, 0, 0, 0] },
    { longest: null, counts: [4, 8, 8, 4, 0, 0, 0, 0, 0, 0] },
  ],
};

/** A story with an overused word behind letters that take several bytes, and two UTF-16 units. */
const OVERUSED = "🪁 Élodie’s heart was a tapestry of grief, and not just grief but hope.";
/** What stands before it in the file of the stories, and is not scored (`score --clean`). */
const PREAMBLE = "Sure, here is your story:\n\n";

function hit(part, kind) {
  const at = OVERUSED.indexOf(part);
  const start = Buffer.byteLength(OVERUSED.slice(0, at));
  return { start, end: start + Buffer.byteLength(part), text: part, kind, entry: part };
}
const HITS = [hit("tapestry", "word"), hit("not just grief but hope", "contrast")];

/** Writes `chat.jsonl`, its header and the stories of it. */
export function writeSystems(folder) {
  let state = 11;
  const draw = () =>
    (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32 - 0.5;
  const lines = [];
  const stories = [];
  for (let item = 0; item < ITEMS; item++) {
    for (const system of SYSTEMS) {
      const id = `${item}`;
      const flags = Object.keys(system.flags).filter((flag) => item % system.flags[flag] === 0);
      const scores = { union: system.union + 0.2 * draw() };
      for (const name of CRITERIA) scores[`criteria/${name}`] = system.rated + 0.8 * draw();
      const words = Math.round(system.words * (1 + 0.2 * draw()));
      const line = { id, system: system.name, item: `prompt ${item}`, words, scores };
      if (flags.length) line.flags = flags;
      const isFirst = lines.length === 0;
      if (isFirst) line.explanation = { slop: null, hits: HITS, text: OVERUSED };
      lines.push(JSON.stringify(line));
      const story = isFirst ? PREAMBLE + OVERUSED : `The lamp of ${id} would not light.`;
      stories.push(JSON.stringify({ id, system: system.name, item: line.item, story }));
    }
  }
  const content = lines.join("\n") + "\n";
  writeFileSync(join(folder, "chat.jsonl"), content);
  writeFileSync(join(folder, "chat-stories.jsonl"), stories.join("\n") + "\n");
  const column = (key, metric, member, range) => ({
    key,
    metric,
    preset: null,
    member,
    role: "metric",
    direction: "higher",
    range,
    signature: `${metric}|version:test`,
    counts: { present: lines.length, absent: 0, truncated: 0, empty: 0 },
    validity: VALIDITY[metric],
    ...(metric === "union" ? { norms: NORMS } : {}),
  });
  const ofCriterion = (name) =>
    column(`criteria/${name}`, "criteria", name, { low: 1, high: 5 });
  const header = {
    storymeter: "0.1.0",
    rows: lines.length,
    bytes: Buffer.byteLength(content),
    sha256: createHash("sha256").update(content).digest("hex"),
    skipped: 0,
    columns: [column("union", "union", null, { low: 0, high: 1 }), ...CRITERIA.map(ofCriterion)],
  };
  writeFileSync(join(folder, "chat.jsonl.meta.json"), JSON.stringify(header));
}

/** What a reader sees of the page before anything is scrolled. */
const SCREENS = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light", isMobile: true },
  "phone-dark": { viewport: { width: 390, height: 844 }, colorScheme: "dark", isMobile: true },
};

export function systemTests({ open, unfold, accessible, shots }) {
  /** Fails unless a part is in sight without scrolling. */
  async function onFirstScreen(page, part, name, height) {
    const box = await page.locator(part).first().boundingBox();
    assert.ok(box && box.y >= 0, `${name}: ${part} is there`);
    assert.ok(box.y + box.height <= height, `${name}: ${part} ends at ${box.y + box.height}`);
  }

  return {
    async "four systems of other lengths and habits: no winner, and why, on the first screen"() {
      for (const [name, options] of Object.entries(SCREENS)) {
        const { page, faults } = await open("chat.html", options);
        if (shots) {
          await page.screenshot({ path: join(shots, `chat-${name}.png`) });
          await page.screenshot({ path: join(shots, `chat-${name}-whole.png`), fullPage: true });
        }
        const headline = await page.locator("#summary .headline").textContent();
        // The headline sums the matrix up, which a phone has no room for on its first screen.
        assert.match(headline, /^No clear winner: gpt2-small leads by union; parrot-chat leads by/);
        assert.equal(await page.locator("#summary .verdict.winner").count(), 0);
        const reasons = (await page.locator("#summary .verdict li").allTextContents()).join("\n");
        assert.match(reasons, /different lengths/);
        assert.match(reasons, /gpt2-small have fewer than 5\d words/);
        assert.match(reasons, /50% of the texts of parrot-chat begin with words to the user/);
        const { height } = options.viewport;
        await onFirstScreen(page, "#summary .headline", name, height);
        const isSeen = (text) =>
          onFirstScreen(page, `#summary .verdict li:has-text("${text}")`, name, height);
        await isSeen("different lengths");
        await isSeen("begin with words to the user");
        await onFirstScreen(page, "#summary .verdict .brief", name, height);
        if (!name.startsWith("phone")) {
          await onFirstScreen(page, "#summary table.leaders", name, height);
        }
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name}: ${wide} pixels wider than the screen`);
        await accessible(page, `chat, ${name}`);
        assert.equal(await page.evaluate(() => window.pwned), undefined);
        assert.deepEqual(faults, []);
        await page.close();
      }
    },

    async "the matrix says who leads by what, how long the stories are, and what is in them"() {
      const { page, faults } = await open("chat.html", SCREENS.light);
      const matrix = page.locator("#summary table.leaders");
      const heads = await matrix.locator("thead th").allTextContents();
      assert.deepEqual(heads, ["by", ...SYSTEMS.map((system) => system.name)]);
      const row = (key) => matrix.locator("tbody tr").filter({ has: page.locator(`th:text("${key}")`) });
      const cells = (key) => row(key).first().locator("td").allTextContents();
      const union = await cells("union");
      assert.match(union[0], /^★ 0\.7\d+ 0\.\d+ to 0\.\d+ adj\. 0\.\d+; above \d+%$/);
      const legend = await page.locator("#summary .caption").first().textContent();
      assert.match(legend, /adj\.: the mean of the scores less what the logarithm/);
      assert.match(legend, /above: the mean share of human stories of the same length/);
      assert.ok(union.slice(1).every((cell) => !cell.includes("★")), union.join("; "));
      const overall = await cells("criteria/overall");
      assert.match(overall[1], /^★ 3\.\d+ \S+ to \S+ adj\. \d\.\d+$/);
      assert.match((await cells("words"))[0], /^5\d \d+ to \d+$/);
      assert.match((await cells("flags"))[1], /preamble 50%/);
      // All numbers of a row have as many digits.
      for (const key of ["union", "criteria/overall"]) {
        const numbers = (await cells(key)).flatMap((cell) => cell.match(/\d+\.\d+/g));
        assert.equal(new Set(numbers.map((text) => text.split(".")[1].length)).size, 1, key);
      }
      const warnings = await page.locator("#summary .trust .warning").allTextContents();
      assert.ok(warnings.some((text) => text.startsWith("Warning: union")), warnings.join("\n"));
      assert.equal(await page.locator("#summary img").count(), 0);
      assert.deepEqual(faults, []);
    },

    async "overused words are marked in the story, as text"() {
      const { page, faults } = await open("chat.html");
      await unfold(page, "stories");
      await page.locator("#story-list .row").filter({ hasText: /^0 gpt2-small/ }).first().click();
      const marked = await page.locator("#story .overused").allTextContents();
      assert.deepEqual(marked, HITS.map((one) => one.text));
      assert.equal(await page.locator("#story .text").textContent(), OVERUSED);
      assert.match(await page.locator("#story").textContent(), /slop, 2 in all/);
      assert.deepEqual(faults, []);
    },

    /** The places are those of the cleaned text, although the file of stories has the raw one. */
    async "hits of a cleaned story are marked where the program found them"() {
      const { page, faults } = await open("slop.html");
      await unfold(page, "stories");
      await page.locator("#story-list .row").filter({ hasText: /^0 gpt2-small/ }).first().click();
      assert.equal(await page.locator("#story .text").textContent(), OVERUSED);
      const marked = await page.locator("#story .overused").allTextContents();
      assert.deepEqual(marked, ["heart", "a tapestry of", "grief", "not just ", "grief", " but"]);
      assert.deepEqual(faults, []);
    },
  };
}
