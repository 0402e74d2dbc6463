// Results of test suites for metrics. They are the same in every run, and their numbers are made up
// from effect sizes, so that AUC, shift and r fit together.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The aspects in their order, each with its effect on an ordinary metric and its pairs. */
export const ASPECTS = [
  ["lexical repetition", 1.3, 481],
  ["semantic repetition", 1.0, 402],
  ["character behaviour", 0.8, 266],
  ["common sense", 0.6, 318],
  ["consistency", 0.4, 377],
  ["relatedness", 0.9, 455],
  ["cause", 0.2, 18],
  ["time", 0.25, 240],
  ["synonym", 0.15, 492],
  ["paraphrase", 0.1, 160],
  ["punctuation", 0.12, 433],
  ["contraction", 0.03, 210],
  ["typo", 0.55, 500],
];
const testOf = (at) => (at < 8 ? "discrimination" : "invariance");

/** Metrics and how strongly they react to damages, to harmless changes and to typos. */
const METRICS = [
  ["union", "higher", 1.25, 1.2, 1.6],
  ["perplexity:gpt2", "lower", 0.55, 2.2, 1.5],
  ["ruber:bert", "higher", 0.25, 0.2, 0.15],
  ["self-bleu", "lower", 0.9, -0.6, -0.35],
  ["length", "none", -0.45, 0.3, 0],
];

/** The cumulative distribution of the normal distribution (Abramowitz and Stegun, 26.2.17). */
function normal(z) {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const powers = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const sum = powers.reduce((total, power, i) => total + power * t ** (i + 1), 0);
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum;
  return z > 0 ? 1 - tail : tail;
}

function cellOf(metric, at, pairs, shift, typo) {
  const half = 1.96 * Math.sqrt(2 / pairs);
  const absent = { absent: "no-typo-shift" };
  return {
    metric,
    aspect: ASPECTS[at][0],
    test: testOf(at),
    pairs,
    originals: pairs,
    twins: pairs,
    absent: 0,
    auc: normal(shift / Math.SQRT2),
    shift,
    shift_low: shift - half,
    shift_high: shift + half,
    right_order: normal(shift),
    ties: 0,
    r: shift / Math.sqrt(shift * shift + 4),
    p_r: Math.exp(-pairs * shift * shift),
    times_typo: typo === 0 ? absent : shift / Math.abs(typo),
    mean_original: 0.6,
    mean_twin: 0.6 - 0.2 * shift,
    sd: 0.2,
  };
}

/** Why a story has no pair, by aspect. */
const REASONS = ["the story has no word that the rule could change", "the story has one sentence"];

const piece = (text, changed = false) => ({ text, changed });
const mistyped = (ship, trade) => [
  piece("The "),
  piece(ship, true),
  piece(" was late, and the "),
  piece(trade, true),
  piece(" laughed."),
];
/** Pairs of texts as pieces: what is the same, and what differs. */
const PAIRS = {
  "lexical repetition": [
    "repeat a sentence",
    [piece("The ferry was late. Ines walked home along the dike. Her brother took it badly.")],
    [
      piece("The ferry was late. "),
      piece("The ferry was late. ", true),
      piece("Ines walked home along the dike. Her brother took it badly."),
    ],
  ],
  consistency: [
    "negate a verb",
    [piece("Nobody had fed the goat, so the baker "), piece("gave", true), piece(" it bread.")],
    [
      piece("Nobody had fed the goat, so the baker "),
      piece("did not give", true),
      piece(" it bread."),
    ],
  ],
  time: [
    "exchange two sentences",
    [
      piece("The lamp would not light. "),
      piece("First Ines looked for matches.", true),
      piece(" "),
      piece("Then she went to bed in the dark.", true),
    ],
    [
      piece("The lamp would not light. "),
      piece("Then she went to bed in the dark.", true),
      piece(" "),
      piece("First Ines looked for matches.", true),
    ],
  ],
  punctuation: [
    "drop commas",
    [piece("A letter came"), piece(",", true), piece(" as it had every winter, on Sunday.")],
    [piece("A letter came as it had every winter, on Sunday.")],
  ],
  typo: [
    "mistype letters",
    mistyped("ferry", "baker"),
    mistyped("ferrz", "bakwr"),
  ],
};

function examplesOf(metrics) {
  const examples = [];
  ASPECTS.forEach(([aspect], at) => {
    for (let nth = 0; nth < 3; nth++) {
      const [rule, original, twin] = PAIRS[aspect] || PAIRS.consistency;
      const scores = metrics.map(([metric], m) => ({
        metric,
        original: nth === 2 && m === 1 ? null : 0.61 + 0.07 * m + 0.013 * nth,
        twin: 0.55 + 0.08 * m - 0.011 * at * nth,
      }));
      examples.push({ aspect, rule, id: `s${at * 3 + nth}`, original, twin, scores });
    }
  });
  return examples;
}

/** The result of a suite with these metrics; `missing` names aspects without pairs. */
export function suiteResult({ metrics = METRICS, missing = {}, examples } = {}) {
  const tested = ASPECTS.map(([aspect], at) => ({ aspect, at })).filter(
    ({ aspect }) => !(aspect in missing),
  );
  const jitter = (m, at) => 1 + 0.35 * Math.sin(7 * m + 3 * at);
  const shiftOf = (m, at) => {
    const [, , damage, harmless, typo] = metrics[m];
    const strength = at === 12 ? typo : at < 8 ? damage : harmless;
    return ASPECTS[at][1] * strength * jitter(m, at);
  };
  const row = (metric, shift) =>
    tested.map(({ at }) => cellOf(metric, at, ASPECTS[at][2], shift(at), shift(12)));
  const cells = metrics.flatMap(([metric], m) => row(metric, (at) => shiftOf(m, at)));
  return {
    kind: "suite",
    version: "0.1.0",
    signature: "suite|aspects:13|compat:no|seed:1|resamples:1000|confidence:0.95|version:0.1.0",
    method: { compat: false, resamples: 1000, confidence: 0.95, seed: 1 },
    aspects: tested.map(({ aspect, at }) => ({
      aspect,
      test: testOf(at),
      pairing: "paired",
      pairs: ASPECTS[at][2],
      originals: ASPECTS[at][2],
      twins: ASPECTS[at][2],
      stories: 500,
      left_out: ASPECTS[at][2] < 500
        ? [
            { reason: REASONS[0], stories: Math.ceil((500 - ASPECTS[at][2]) / 2) },
            { reason: REASONS[1], stories: Math.floor((500 - ASPECTS[at][2]) / 2) },
          ]
        : [],
      rules: [{ rule: (PAIRS[aspect] || PAIRS.consistency)[0], pairs: ASPECTS[at][2] }],
    })),
    missing: Object.entries(missing).map(([aspect, reason]) => ({ aspect, reason })),
    metrics: metrics.map(([key, direction]) => ({ key, role: "metric", direction })),
    cells,
    constant: row("constant", () => 0).map((cell) => ({
      ...cell,
      r: { absent: "constant" },
      p_r: { absent: "constant" },
      ties: 1,
      right_order: 0,
      shift_low: 0,
      shift_high: 0,
    })),
    examples: examples || examplesOf(metrics),
    warnings: [
      {
        kind: "few",
        subject: "cause",
        message: "there are only 18 pairs, so that chance alone may look good",
      },
      {
        kind: "direction",
        subject: "length",
        message: "it is not known whether more is better, so more counts as better here",
      },
    ],
  };
}

/** Writes a result into a folder, as `suite run` does. */
export function writeSuite(folder, result) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "result.json"), JSON.stringify(result));
}
