// Checks the reference page that `cargo xtask conformance` wrote, in a real Chromium:
// `node page.js CHROMIUM PAGE`. Saves a screenshot for each combination of width and colour scheme.

import { deepStrictEqual, strictEqual } from "node:assert";
import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, page] = argv.slice(2);
const url = pathToFileURL(page).href;
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

const WIDTHS = { desktop: 1280, phone: 390 };
const SCHEMES = ["light", "dark"];
const HEADINGS = [
  "Authentication", "Errors", "Limits", "Versions", "How to get a client", "Recipes", "Create a plant",
  "NewPlant", "Plant", "Error",
];
const LANGUAGES = ["curl", "Rust", "Python", "TypeScript"];

const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
try {
  for (const [device, width] of Object.entries(WIDTHS)) {
    for (const colorScheme of SCHEMES) await check(device, width, colorScheme);
  }
} finally {
  await browser.close();
}

async function check(device, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const tab = await context.newPage();
  const complaints = [];
  tab.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  tab.on("pageerror", (error) => complaints.push(String(error)));
  tab.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("data:")) complaints.push(request.url());
  });

  await tab.goto(url);
  await drawn(tab, colorScheme);
  for (const name of HEADINGS) await heading(tab, name).waitFor();
  strictEqual(await tab.evaluate(() => document.documentElement.scrollWidth), width, "the page fits the width");
  deepStrictEqual(await violations(tab, "html"), []);
  for (const language of LANGUAGES) {
    await tab.getByRole("tab", { name: language, exact: true }).click();
    deepStrictEqual(await violations(tab, "[role=tabpanel]"), [], language);
  }
  await tab.screenshot({ path: `page-${device}-${colorScheme}.png`, fullPage: true });
  // The reader's system may switch between light and dark while the page is open.
  const other = SCHEMES.find((scheme) => scheme !== colorScheme);
  await tab.emulateMedia({ colorScheme: other });
  await drawn(tab, other);

  deepStrictEqual(complaints, []);
  const [paint] = await tab.evaluate(() => performance.getEntriesByName("first-contentful-paint"));
  console.log(`${device}, ${colorScheme}: first paint after ${Math.round(paint.startTime)} ms`);
  await context.close();
}

function heading(tab, name) {
  // The name includes Redoc's link to the heading.
  return tab.getByRole("heading", { name: new RegExp(`^(\\S+ )?${name}$`) });
}

/** Waits until Redoc has drawn its headings: bright on a dark page, dark on a bright page. */
async function drawn(tab, colorScheme) {
  await tab.waitForFunction((isDark) => {
    const red = (element, property) => getComputedStyle(element)[property].match(/\d+/)[0];
    const heading = document.querySelector("main h2");
    if (heading === null) return false;
    const isBright = red(heading, "color") > 128;
    return isBright === isDark && red(document.body, "backgroundColor") > 128 !== isDark;
  }, colorScheme === "dark");
}

/** Returns the violations that axe finds in a part of the page, with all of its rules. */
async function violations(tab, part) {
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate((part) => globalThis.axe.run(part), part);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
