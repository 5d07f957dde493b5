// Starts the real program on a folder of its own, and a real browser on its page.
//
// **Invariant:** a test fails if the page wrote an error to the console, whatever else it looked at.

import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

/** How long something may take to show, ms: two cores that build something else at the same time are slow. */
const PATIENCE = 60_000;

const ROOT = path.resolve(import.meta.dirname, "../..");
export const PROGRAM = process.env.PAYNTER ?? path.join(ROOT, "target/release/paynter");
export const KEY = "0123456789abcdef";
const BROWSER = process.env.PAYNTER_BROWSER ?? "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];

// A page that was not fetched from loopback may not open a socket there.
if (process.env.STUDIO_PAGE) FLAGS.push("--disable-features=LocalNetworkAccessChecks");

let browser;

export async function launch() {
  browser ??= await chromium.launch({ executablePath: BROWSER, args: FLAGS });
  return browser;
}

export async function shutDown() {
  await browser?.close();
}

const cleanups = new WeakMap();

/** Does something when a test is over: last things first, so that a page is closed before its server. */
export function later(t, work) {
  if (!cleanups.has(t)) {
    const stack = [];
    cleanups.set(t, stack);
    t.after(async () => {
      let failure;
      for (const next of stack.reverse()) await Promise.resolve(next()).catch((e) => (failure ??= e));
      if (failure) throw failure;
    });
  }
  cleanups.get(t).push(work);
}

/** A folder with some files, removed afterwards. */
export function scratch(t, files = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "paynter-studio-"));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  later(t, async () => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A port that is free now. */
export function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts `paynter studio`; gives its address once it listens. */
export async function serve(t, target, port = undefined) {
  const own = port ?? (await freePort());
  const child = spawn(PROGRAM, ["studio", target, "--no-browser", "--port", String(own), "--key", KEY], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const found = /http:\S+/.exec(text);
      if (found) resolve(found[0]);
    });
    child.on("exit", (code) => reject(new Error(`paynter ended with ${code}: ${text}`)));
  });
  const stop = () => new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done();
    child.once("exit", done);
    child.kill("SIGKILL");
  });
  later(t, stop);
  return { address, port: own, stop, pid: child.pid };
}

/** Opens a page; errors on its console fail the test, but for those named. */
export async function visit(t, address, options = {}) {
  const context = await (await launch()).newContext({ viewport: { width: 1600, height: 1000 }, colorScheme: options.theme ?? "light", permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const errors = [];
  const isAllowed = (text) => (options.allowed ?? []).some((pattern) => pattern.test(text));
  page.on("console", (m) => m.type() === "error" && !isAllowed(m.text()) && errors.push(`${m.text()} ${m.location().url}:${m.location().lineNumber}:${m.location().columnNumber}`));
  page.on("pageerror", (e) => errors.push(e.message));
  later(t, async () => {
    await context.close();
    if (errors.length > 0) throw new Error(`the page reported: ${errors.join("\n")}`);
  });
  if (process.env.STUDIO_PAGE) await fromDisk(page, address);
  await page.goto(address);
  return page;
}

/** With STUDIO_PAGE set to a folder the page comes from there, so that a change of it needs no new program. */
async function fromDisk(page, address) {
  const dist = path.resolve(process.env.STUDIO_PAGE);
  await page.route(`${address}**`, async (route) => {
    const name = new URL(route.request().url()).pathname.split("/").slice(2).join("/") || "index.html";
    const file = path.join(dist, name);
    if (!fs.existsSync(file)) return route.continue();
    if (name !== "index.html") return route.fulfill({ path: file });
    const real = await route.fetch();
    const nonce = /nonce-(\w+)/.exec(real.headers()["content-security-policy"])?.[1] ?? "";
    return route.fulfill({ response: real, body: fs.readFileSync(file, "utf8").replace("STYLE_NONCE", nonce) });
  });
}

export const node = (page, id) => page.locator(`.react-flow__node[data-id="${id}"]`);

/** The text of the editor. */
export async function text(page) {
  return page.evaluate(() => [...document.querySelectorAll(".cm-line")].map((l) => l.textContent).join("\n"));
}

/** Waits until something is so; says what was seen instead. */
export async function until(what, look, timeout = PATIENCE) {
  const end = Date.now() + timeout;
  let seen;
  while (Date.now() < end) {
    seen = await look();
    if (seen === true || (seen && typeof seen === "object" && seen.ok)) return seen;
    await new Promise((done) => setTimeout(done, 40));
  }
  throw new Error(`${what}: not within ${timeout} ms; last seen ${JSON.stringify(seen)}`);
}

/** The number that a plot shows for a curve, at the cursor or the end. */
export async function reading(page, panel = 0) {
  const words = await page.locator(".plot").nth(panel).locator("output b").first().textContent();
  return Number(words.replace("−", "-").replace("·10", "e").replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/g, (c) => (c === "⁻" ? "-" : String("⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c)))));
}

export const CIRCUIT = `/// A source charges a capacitor through a resistor.
model Circuit {
    param R1 = 1000 [ohm], C1 = 1 [uF]

    supply: Se(5 [V]) -> loop: 1 -> r: R(R1), c: C(C1)

    output v [V] = c.e
}

experiment charge of Circuit {
    stop = 1 [ms]
    record v; plot v
}
`;

const AXE = fs.readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const PICTURES = process.env.STUDIO_PICTURES;

/** Serious accessibility faults of the page. */
export async function faults(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" ")}`);
}

/** With STUDIO_PICTURES set, a picture of the page is kept there. */
export async function picture(page, name) {
  if (PICTURES) await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
}

/** A ladder: so many elements on one level. */
export function ladder(n) {
  const lines = ["    s: Se(1) -> j1: 1"];
  for (let i = 1; i <= n / 4; i++) lines.push(`    j${i} -> r${i}: R(1)`, `    j${i} -> n${i}: 0 -> c${i}: C(1)`, `    n${i} -> j${i + 1}: 1`);
  lines.push(`    j${Math.floor(n / 4) + 1} -> last: R(1)`);
  return `model Ladder {\n${lines.join("\n")}\n}\n`;
}
