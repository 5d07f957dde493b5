// Bodies in 3D: the slider-crank is animated, in space and in the plane.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { faults, picture, scratch, serve, shutDown, until, visit } from "./harness.mjs";

after(shutDown);

async function openSliderCrank(t, theme = "light") {
  const { address } = await serve(t, scratch(t));
  const page = await visit(t, address, { theme });
  await page.getByRole("searchbox").fill("slider");
  await page.locator(".card").first().click();
  await until("curves", async () => (await page.locator(".plot output").count()) > 0, 30_000);
  await page.keyboard.press("Control+5");
  await until("bodies", async () => (await page.locator(".bodies canvas").count()) === 1, 30_000);
  await page.locator(".joint-list summary").click();
  return page;
}

/** Place of a body as the list tells it, m. */
async function place(page, name) {
  const words = await page.locator(`[data-body="${name}"] td`).nth(2).textContent();
  return words.replaceAll("−", "-").replace(/·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, e) => `e${[...e].map((c) => (c === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c))).join("")}`).split(",").map(Number);
}

/** How many pixels of the picture are not background. */
async function pixels(page) {
  return page.locator(".bodies canvas").evaluate((canvas) => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const paint = copy.getContext("2d");
    paint.drawImage(canvas, 0, 0);
    const { data } = paint.getImageData(0, 0, copy.width, copy.height);
    const colours = new Map();
    let sum = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 250) continue;
      const key = `${data[i] >> 5},${data[i + 1] >> 5},${data[i + 2] >> 5}`;
      colours.set(key, (colours.get(key) ?? 0) + 1);
      sum = (31 * sum + data[i] + 7 * data[i + 1] + (i % 9973)) % 1_000_000_007;
    }
    return { solid: [...colours.values()].reduce((a, b) => a + b, 0), colours: colours.size, sum };
  });
}

test("the slider-crank is animated in 3D", async (t) => {
  const page = await openSliderCrank(t);
  const before = await until("a picture", async () => {
    const seen = await pixels(page);
    return seen.solid > 5000 && seen.colours > 8 ? { ok: true, ...seen } : seen;
  });

  // The crank is 0.2 m long and starts at 60 degrees: its centre is half way along.
  const slider = page.getByRole("slider", { name: "Time of the film" });
  await slider.fill("0");
  await until("the crank at 60 degrees", async () => {
    const [x, y] = await place(page, "crank");
    return Math.abs(x - 0.05) < 1e-3 && Math.abs(y - 0.0866) < 1e-3 ? { ok: true } : { x, y };
  });
  // The loop stays closed: the piston is on its line, and the rod ends at crank and piston.
  for (const time of ["0.4", "1", "1.5"]) {
    await slider.fill(time);
    await until(`closed at ${time} s`, async () => {
      const [crank, rod, piston] = [await place(page, "crank"), await place(page, "rod"), await place(page, "piston")];
      const pin = crank.map((x) => 2 * x);
      const ends = Math.hypot(pin[0] + piston[0] - 2 * rod[0], pin[1] + piston[1] - 2 * rod[1]);
      const length = Math.hypot(pin[0] - piston[0], pin[1] - piston[1]);
      return Math.abs(piston[1]) < 1e-3 && ends < 5e-3 && Math.abs(length - 0.5) < 3e-3 ? { ok: true } : { crank, rod, piston };
    });
  }
  await slider.fill("0.2");
  await page.waitForTimeout(200);
  await picture(page, "bodies_light");
  assert.deepEqual(await faults(page), []);
  const later = await pixels(page);
  assert.notEqual(later.sum, before.sum, "the picture follows the time");

  // Forces are told and drawn: at rest the bearing carries weight.
  assert.ok(Number(await page.locator('[data-joint="main"] td').nth(3).textContent()) > 0);
  assert.match(await page.locator(".stage-key").textContent(), /1 freedom.*longest arrow/);

  // Played, time runs by itself; paused, it stands.
  await page.getByRole("button", { name: "Play" }).click();
  const clock = () => page.locator(".clock").textContent();
  const then = await clock();
  await until("time runs", async () => (await clock()) !== then);
  await page.getByRole("button", { name: "Pause" }).click();

  // The camera orbits by mouse and by keys, follows a body, and looks from the front.
  const still = (await pixels(page)).sum;
  const box = await page.locator(".bodies canvas").boundingBox();
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.7, { steps: 4 });
  await page.mouse.up();
  await until("orbit", async () => (await pixels(page)).sum !== still);
  const orbited = (await pixels(page)).sum;
  await page.locator(".bodies canvas").focus();
  await page.keyboard.press("ArrowLeft");
  await until("keys turn", async () => (await pixels(page)).sum !== orbited);
  await page.getByLabel("Follow a body").selectOption("piston");
  await page.getByRole("button", { name: "Front" }).click();
  const front = (await pixels(page)).sum;
  await page.getByRole("button", { name: "Paths" }).click();
  await until("paths go", async () => (await pixels(page)).sum !== front);
});

test("a film strip is saved as one picture of five", async (t) => {
  const page = await openSliderCrank(t);
  await until("a picture", async () => (await pixels(page)).solid > 5000);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Film strip" }).click()]);
  const bytes = fs.readFileSync(await download.path());
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  assert.match(download.suggestedFilename(), /^SliderCrank\.png$/);
  // Five pictures side by side, each with something in it that the next one has not.
  // A page of its own: Studio's may fetch nothing but from its server.
  const blank = await page.context().newPage();
  const parts = await blank.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(data)).blob());
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [image.width, image.height];
    const paint = copy.getContext("2d");
    paint.drawImage(image, 0, 0);
    const width = Math.floor(image.width / 5);
    const sums = [0, 1, 2, 3, 4].map((k) => paint.getImageData(k * width, 0, width, image.height).data.reduce((a, b, i) => (31 * a + b + (i % 9973)) % 1_000_000_007, 0));
    return { ratio: image.width / image.height, sums };
  }, `data:image/png;base64,${bytes.toString("base64")}`);
  if (process.env.STUDIO_PICTURES) fs.writeFileSync(path.join(process.env.STUDIO_PICTURES, "slider_crank_film.png"), bytes);
  assert.ok(parts.ratio > 2, JSON.stringify(parts));
  assert.equal(new Set(parts.sums).size, 5, JSON.stringify(parts));
});

test("bodies of a plane are shown as well, and a circuit says that it has none", async (t) => {
  const page = await openSliderCrank(t, "dark");
  await page.getByLabel("Experiment", { exact: true }).selectOption("slidercrank_RC_1e7_200");
  await until("the plane", async () => (await page.locator(".joint-list td", { hasText: "Bar" }).count()) === 2, 30_000);
  const [x, y] = await place(page, "crank");
  assert.ok(Math.abs(Math.hypot(x, y) - 0.1) < 2e-3, `${x} ${y}`);
  await page.getByRole("slider", { name: "Time of the film" }).fill("0.2");
  await page.waitForTimeout(200);
  await picture(page, "bodies_dark");
  assert.deepEqual(await faults(page), []);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("model M { s: Se(1) -> j: 1 -> r: R(1), c: C(1) }");
  await page.locator(".bodies, .canvas-panel .empty").first().waitFor();
  await until("it says so", async () => /no bodies/.test(await page.locator(".canvas-panel").textContent()), 30_000);
});
