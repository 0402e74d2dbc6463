// Stories, scores and ratings for the tests of the page. They are the same in every run.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A small linear congruential generator, so that the data never differ. */
function random(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

const OPENINGS = [
  "The ferry was late",
  "Nobody had fed the goat",
  "A letter came on Sunday",
  "The lamp would not light",
];
const MIDDLES = [
  "so Ines walked home along the dike",
  "and the baker laughed about it",
  "which her brother took badly",
  "as it had every winter",
];
const SYSTEMS = ["Heron", "Kestrel", "Magpie", "Plover", "Wren"];

/** Criteria whose names look like parts of a title, and are no file names. */
export const CRITERIA = ["story-level flow", "plot/pace"];

/** A hostile story: markup, a script, and the end of the element that holds it. */
export const HOSTILE =
  "</script><script>window.pwned = 1</script>" +
  `<img src=x onerror="window.pwned = 2"><!-- <b>bold</b> & "quotes" '\u2028`;

/** The reason why the fifth story has no score of alpha. */
export const REASON = "the story has no <b>word</b>";

function explanation() {
  const edit = { start: 9, end: 17, text: "<script>", suggestion: "<i>x</i>", probability: 0.9 };
  const sentence = { start: 0, end: 9, contribution: -0.4 };
  return { text: HOSTILE, sentences: [sentence], edits: [edit] };
}

/**
 * Writes scores and ratings of so many stories, and their texts.
 *
 * `noise` is added to the scores of alpha, so that two files can be two runs on the same stories.
 * Without `human`, the file has scores alone.
 */
export function writeData(folder, count, options = {}) {
  const { scores = "scores.jsonl", noise = 0.4, human: isRated = true } = options;
  const draw = random(7);
  const lines = [];
  const stories = [];
  for (let i = 0; i < count; i++) {
    const system = i % SYSTEMS.length;
    const item = Math.floor(i / SYSTEMS.length);
    const quality = draw() + system * 0.15;
    const rating = (shift) =>
      Math.min(5, Math.max(1, Math.round(1 + 3 * quality + shift + draw())));
    const human = {
      [CRITERIA[0]]: [rating(0), rating(0.3), rating(-0.3)],
      [CRITERIA[1]]: [rating(0.5), rating(-0.2), rating(0)],
    };
    const line = {
      id: `s${i}`,
      system: SYSTEMS[system],
      item: `item ${item}`,
      scores: { alpha: quality + draw() * noise, beta: draw(), gamma: -quality + draw() },
      ...(isRated ? { human } : {}),
    };
    if (i === 4) {
      line.scores.alpha = null;
      line.absent = { alpha: REASON };
    }
    if (i === 3) line.explanation = explanation();
    lines.push(JSON.stringify(line));
    const usual = `${OPENINGS[i % 4]}, ${MIDDLES[(i >> 2) % 4]}. It was the ${i}th time.`;
    const { id, system: writer, item: place } = line;
    const story = i === 3 ? HOSTILE : usual;
    const record = { id, system: writer, item: place, prompt: `Prompt <${item}>`, story };
    stories.push(JSON.stringify(record));
  }
  writeFileSync(join(folder, scores), lines.join("\n") + "\n");
  writeFileSync(join(folder, "stories.jsonl"), stories.join("\n") + "\n");
}
