// Opens a report of hostile stories and reads every one of them.
// Usage: node browser.mjs CHROMIUM PAGE STORIES
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../browser/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [browserPath, file, stories] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
const faults = [];
page.on("console", (message) => {
  if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
});
page.on("pageerror", (error) => faults.push(String(error)));
page.on("dialog", (dialog) => {
  faults.push(`dialog: ${dialog.message()}`);
  dialog.dismiss();
});
page.on("request", (request) => {
  if (!/^(file|data):/.test(request.url())) faults.push(`request to ${request.url()}`);
});
await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
await page.waitForSelector("html[data-ready=yes]", { state: "attached" });
assert.equal(await page.locator("#story-count").textContent(), `${stories} of ${stories} stories`);
await page.locator("details:has(#story-list) > summary").click();
await page.locator("#story-list").focus();
const seen = new Set();
for (let at = 0; at < stories; at++) {
  await page.keyboard.press("ArrowDown");
  const story = await page.evaluate(() => ({
    title: document.querySelector("#story h3")?.textContent ?? "",
    text: document.querySelector("#story .text")?.textContent ?? "",
    markup: document.querySelectorAll(
      "#story img, #story script, #story svg[onload], #story iframe, #story a[href], #story base",
    ).length,
    pwned: window.pwned,
  }));
  seen.add(story.title);
  assert.equal(story.pwned, undefined, `a script of a story ran: ${story.title}`);
  assert.equal(story.markup, 0, `a story became markup: ${story.title}`);
  assert.match(story.text, /Rain fell\./, `a story is not shown: ${story.title}`);
}
await browser.close();
assert.ok(seen.size >= stories - 1, `only ${seen.size} of ${stories} stories were reached`);
assert.deepEqual(faults, []);
process.stdout.write(`${seen.size} hostile stories were read, no script ran, no request\n`);
