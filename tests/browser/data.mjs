// Data of our own for the page: stories, scores and ratings, the same on every run.
import { writeFileSync } from "node:fs";

/** A small linear congruential generator: the tests must not differ from run to run. */
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

/** What a hostile story looks like: markup, script, an end of the element it is embedded in. */
export const HOSTILE = `</script><script>window.pwned = 1</script><img src=x onerror="window.pwned = 2"><!-- <b>bold</b> & "quotes" '\u2028`;

/** Writes `count` stories of five systems with scores, and ratings for all; returns the paths. */
export function writeData(folder, count, { texts = true } = {}) {
  const draw = random(7);
  const systems = ["Heron", "Kestrel", "Magpie", "Plover", "Wren"];
  const scores = [],
    stories = [];
  for (let i = 0; i < count; i++) {
    const system = i % systems.length,
      item = Math.floor(i / systems.length);
    const quality = draw() + system * 0.15;
    const rating = (shift) =>
      Math.min(5, Math.max(1, Math.round(1 + 3 * quality + shift + draw())));
    const human = {
      plot: [rating(0), rating(0.3), rating(-0.3)],
      style: [rating(0.5), rating(-0.2), rating(0)],
    };
    const line = {
      id: `s${i}`,
      system: systems[system],
      item: `item ${item}`,
      scores: { alpha: quality + draw() * 0.4, beta: draw(), gamma: -quality + draw() },
      human,
    };
    const text =
      i === 3 ? HOSTILE : `${OPENINGS[i % 4]}, ${MIDDLES[(i >> 2) % 4]}. It was the ${i}th time.`;
    if (i === 3)
      line.explanation = {
        text: HOSTILE,
        sentences: [{ start: 0, end: 9, contribution: -0.4 }],
        edits: [{ start: 9, end: 17, text: "<script>", suggestion: "<i>x</i>", probability: 0.9 }],
      };
    scores.push(JSON.stringify(line));
    stories.push(
      JSON.stringify({
        id: line.id,
        system: line.system,
        item: line.item,
        prompt: `Prompt <${item}>`,
        story: text,
      }),
    );
  }
  writeFileSync(`${folder}/scores.jsonl`, scores.join("\n") + "\n");
  if (texts) writeFileSync(`${folder}/stories.jsonl`, stories.join("\n") + "\n");
}
