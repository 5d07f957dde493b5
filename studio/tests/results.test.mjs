// Results: several runs over one another, units to choose, files to save, events marked, long runs thinned.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { CIRCUIT, picture, reading, scratch, serve, shutDown, until, visit } from "./harness.mjs";

after(shutDown);

async function saved(page, format) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    (async () => {
      await page.locator(".menu summary").click();
      await page.getByRole("button", { name: new RegExp(`^${format}`) }).click();
    })(),
  ]);
  return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
}

test("runs are pinned over one another, shown in other units, and saved as CSV, Parquet, SVG and PNG", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "circuit.bond": CIRCUIT.replace("record v; plot v", "record v; plot v; measure end = final(v)") }), "circuit.bond"));
  const page = await visit(t, address);
  const end = 5 * (1 - Math.exp(-1));
  await until("the first curve", async () => (await page.locator(".plot output").count()) > 0 && Math.abs((await reading(page)) - end) < 1e-3);

  await page.getByRole("button", { name: "Pin this run" }).click();
  await page.locator(".add-slider", { hasText: "R1" }).click();
  const value = page.getByLabel("Value of R1");
  for (const [ohm, n] of [["500", 1], ["250", 2]]) {
    await value.fill(ohm);
    await value.press("Enter");
    const expected = 5 * (1 - Math.exp(-1e-3 / (Number(ohm) * 1e-6)));
    await until(`a run with ${ohm} ohm`, async () => Math.abs((await reading(page)) - expected) < 1e-3);
    await until("it is beside the pinned", async () => (await page.locator(".runs tbody tr").first().locator("td.pinned").count()) === n);
    await page.getByRole("button", { name: "Pin this run" }).click();
  }
  const pinned = await page.locator(".runs tbody tr").first().locator("td.pinned").allTextContents();
  assert.ok(Math.abs(Number(pinned[0]) - end) < 1e-3, `${pinned}`);
  await picture(page, "runs");

  await page.locator(".unit-choice").first().focus();
  await until("units", async () => (await page.locator(".unit-choice").first().locator("option").count()) > 2);
  await page.locator(".unit-choice").first().selectOption("mV");
  const last = 5000 * (1 - Math.exp(-4));
  await until("millivolts", async () => Math.abs((await reading(page)) - last) < 1);
  assert.ok(!(await page.locator(".unit-choice").first().locator("option").allTextContents()).some((o) => /\[A\]/.test(o)));

  const csv = await saved(page, "CSV");
  assert.equal(csv.name, "charge.csv");
  const rows = csv.bytes.toString().trim().split("\n").filter((l) => !l.startsWith("#"));
  assert.match(rows[0], /^time.*,.*v/);
  assert.ok(Math.abs(Number(rows.at(-1).split(",")[1]) - last / 1000) < 1e-3, rows.at(-1));
  const parquet = await saved(page, "Parquet");
  assert.equal(parquet.bytes.subarray(0, 4).toString(), "PAR1");
  const svg = await saved(page, "SVG: the plots");
  assert.match(svg.bytes.toString(), /^<svg[\s\S]*<\/svg>\s*$/);
  const png = await saved(page, "PNG: the plots");
  assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
  assert.ok(png.bytes.length > 5000);
});

test("events are counted and marked, and a million points stay few on the wire", async (t) => {
  const source = "model Ball {\n    ball: I(1 [kg]) \n    v: 1 -> ball\n    w: Se(-9.81 [N]) -> v\n    der(h) = v.f\n    when bounce: h < 0 [m] { reinit ball.p = -0.8*ball.p }\n    start h = 1 [m]\n}\n\nexperiment fall of Ball { stop = 2 [s]; record h; plot h }\n\nmodel Long {\n    s: Se(sin(50*time)) -> j: 1 -> i: I(1), r: R(1)\n}\n\nexperiment long of Long { stop = 100 [s]; output_step = 1e-4 [s]; record i.p; plot i.p }\n";
  const { address } = await serve(t, path.join(scratch(t, { "ball.bond": source }), "ball.bond"));
  const page = await visit(t, address);
  await until("events are counted", async () => /[2-9] events/.test(await page.locator(".runs").textContent()));
  await picture(page, "events");
  await page.getByLabel("Experiment", { exact: true }).selectOption("long");
  await until("the long run", async () => /long/.test(await page.locator(".runs").textContent()) && (await page.locator(".plot output").count()) > 0, 60_000);
  const points = () => page.evaluate(() => window.paynterStudio.get().result.curves[0][0].x.length);
  const many = await points();
  assert.ok(many > 500 && many < 20_000, `${many} points`);
  // Zoomed in by the wheel, the page gets the points of that part.
  const box = await page.locator(".plot .u-over").first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (let i = 0; i < 20; i++) await page.mouse.wheel(0, -120);
  await until("finer points", async () => {
    const [span, step] = await page.evaluate(() => {
      const { x } = window.paynterStudio.get().result.curves[0][0];
      return [x[x.length - 1] - x[0], (x[x.length - 1] - x[0]) / x.length];
    });
    return span < 20 && step < 5e-3 ? { ok: true } : { span, step };
  });
});
