// Studies in the page: poles, Bode, step, margins, sweeps, samples, searches, methods; tables and curves, and cancel.

import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";
import { faults, picture, scratch, serve, shutDown, until, visit } from "./harness.mjs";

after(shutDown);

const PLANT = `/// A mass on a spring, held by a controller as stiff as three such springs: ω = 2, ζ = 0.1.
model Plant {
    param k = 1 [N/m], d = 0.4 [N*s/m]
    input F [N] = 1 [N]
    u [N] = F - 3 [N/m]*c.q
    push: Se(u) -> j: 1 -> m: I(1 [kg]), c: C(1/k), r: R(d)
    output x [m] = c.q
}

experiment go of Plant {
    stop = 10 [s]
    record x; plot x
    measure top = max(x)
}

experiment best of Plant {
    stop = 10 [s]
    record x; plot x
    measure top = max(x)
    optimize d in 0.1 [N*s/m] .. 4 [N*s/m] { minimize top; subject d <= 3 [N*s/m] }
}
`;

function numbers(text) {
  const plain = text.replaceAll("−", "-").replace(/·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, e) => `e${[...e].map((c) => (c === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c))).join("")}`);
  return Number(plain);
}

async function cell(page, table, row, column) {
  return numbers(await page.locator(".sheet-table", { has: page.locator("caption", { hasText: table }) }).locator("tbody tr").nth(row).locator("th, td").nth(column).textContent());
}

async function study(page, name, table) {
  await page.locator(".study-kinds").getByRole("radio", { name, exact: true }).click();
  await page.locator(".sheet-table caption", { hasText: table }).waitFor();
}

test("poles, Bode, step, margins, a sweep, a sample and a search, with their numbers", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "plant.bond": PLANT }), "plant.bond"));
  const page = await visit(t, address);
  await until("a curve", async () => (await page.locator(".plot output").count()) > 0);
  await page.getByRole("tab", { name: "Studies" }).click();
  const near = async (table, row, column, value, within) => {
    const seen = await cell(page, table, row, column);
    assert.ok(Math.abs(seen - value) < within, `${table}: ${seen} instead of ${value}`);
  };

  await study(page, "Poles", "Poles");
  await near("Poles", 0, 0, -0.2, 1e-6);
  await near("Poles", 0, 2, 0.1, 1e-6);
  await near("Poles", 0, 3, 2, 1e-6);
  assert.equal(await page.locator(".pole-map .pole").count(), 2);
  await picture(page, "study_poles");

  await study(page, "Bode", "Responses");
  const peak = 0.25 / (0.2 * Math.sqrt(0.99));
  await near("Responses", 0, 1, 20 * Math.log10(0.25), 1e-3);
  await near("Responses", 0, 2, 20 * Math.log10(peak), 1e-2);
  await until("gain, phase and locus", async () => (await page.locator(".study-curves .plot canvas").count()) === 3);
  await picture(page, "study_bode");
  assert.deepEqual(await faults(page), []);

  await study(page, "Step", "Steps");
  await near("Steps", 0, 2, 0.25, 1e-9);

  await page.getByRole("radio", { name: "Margins" }).click();
  await page.getByText(/name the signal at which the loop is cut/).waitFor();
  await page.getByLabel("Cut at").fill("u");
  await page.keyboard.press("Enter");
  await page.locator(".sheet-table caption", { hasText: "Margins" }).waitFor();
  // |3/(1 − ω² + 0.4 jω)| = 1.
  const w2 = (2 - 0.16 + Math.sqrt((2 - 0.16) ** 2 + 32)) / 2;
  await near("Margins", 0, 2, 180 - (Math.atan2(0.4 * Math.sqrt(w2), 1 - w2) * 180) / Math.PI, 1e-3);

  await page.getByRole("radio", { name: "Sweep" }).click();
  await page.getByText(/has no sweep line/).waitFor();
  await page.getByLabel("Over", { exact: true }).fill("k in [0, 1, 13] [N/m]");
  await page.keyboard.press("Enter");
  await page.locator(".sheet-table caption", { hasText: "Runs" }).waitFor();
  const top = 0.25 * (1 + Math.exp((-Math.PI * 0.1) / Math.sqrt(0.99)));
  await near("Runs", 1, 2, top, 1e-5);
  await page.getByLabel("Over", { exact: true }).fill("k in latin(12, mean = 1 [N/m], deviation = 0.1 [N/m])");
  await page.keyboard.press("Enter");
  await page.locator(".sheet-table caption", { hasText: "The sample" }).waitFor();
  assert.equal(await page.locator(".sheet-table").first().locator("tbody tr").count(), 12);
  await picture(page, "study_sweep");

  await page.getByLabel("Experiment", { exact: true }).selectOption("best");
  await study(page, "Optimize", "Values found");
  await near("Values found", 0, 1, 3, 1e-3);
  await page.getByRole("button", { name: "Put sliders at these values" }).click();
  await until("the slider is there", async () => Math.abs(Number(await page.locator("#slider-d").inputValue()) - 3) < 0.01);
});

test("a long sweep is cancelled at once and keeps what it has; methods are compared", async (t) => {
  const source = "model M {\n    param k = 1e6\n    s: Se(sin(1000*time)) -> j: 1 -> i: I(1), c: C(1/k), r: R(0.001)\n}\nexperiment long of M { stop = 200; output_step = 10; record c.q; measure top = max(c.q)\n    sweep k in 1e6 .. 2e6 by 1e3 }\n";
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": source }), "m.bond"));
  const page = await visit(t, address);
  await page.getByRole("tab", { name: "Studies" }).click();
  await page.getByRole("radio", { name: "Sweep" }).click();
  const cancel = page.getByRole("button", { name: "Cancel study" });
  await cancel.waitFor();
  await page.waitForTimeout(1500);
  const begin = Date.now();
  await cancel.click();
  await cancel.waitFor({ state: "detached" });
  assert.ok(Date.now() - begin < 2500, `${Date.now() - begin} ms`);
  await page.getByText(/cancelled after \d+ of 1001 runs/).waitFor();

  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("use mechanics2d: Ground, Bar, Pin, Weight\nmodel P {\n    ground: Ground()\n    bar: Bar(m = 1 [kg], l = 1 [m])\n    ground => hinge: Pin => bar.a\n    w: Weight(m = 1 [kg]) => bar.cg\n}\nexperiment swing of P { stop = 1 [s]; record hinge.angle }\n");
  await until("the new model", async () => /hinge/.test(await page.locator(".canvas-panel").textContent()), 30_000);
  await study(page, "Four methods", "Methods");
  const rows = page.locator(".sheet-table tbody tr");
  assert.equal(await rows.count(), 4);
  assert.match(await rows.nth(3).textContent(), /parasitic/);
  await picture(page, "study_methods");
});

test("loops through dependent storages and the strokes of the inverse are shown", async (t) => {
  const source = "model M {\n    param m1 = 4, m2 = 1\n    s: Se(1) -> j: 1 -> a: I(m1), b: I(m2), r: R(1)\n}\nexperiment go of M { stop = 1; record j.f }\n";
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": source }), "m.bond"));
  const page = await visit(t, address);
  await page.getByRole("tab", { name: "Studies" }).click();
  await study(page, "Loops", "Loops of class 1");
  // Two masses on one junction: m2/m1 = 1/4.
  assert.match(await page.locator(".sheet-table tbody tr").first().textContent(), /0\.25/);
  await page.getByRole("radio", { name: "Inverse" }).click();
  await page.getByRole("textbox", { name: "From" }).fill("s.e");
  await page.getByRole("textbox", { name: "To", exact: true }).fill("j.f");
  await study(page, "Inverse", "Bicausal lines");
  assert.match(await page.locator(".notes").textContent(), /the inverse has no states/);
  assert.deepEqual(await faults(page), []);
});

test("control, channels, activity and faults of a model, with their tables", async (t) => {
  const source =
    "model M {\n    param m = 2, k = 4, b = 0.5\n    s: Se(sin(time)) -> j: 1 -> a: I(m), c: C(1/k), r: R(b)\n}\nexperiment go of M { stop = 5; record j.f }\n";
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": source }), "m.bond"));
  const page = await visit(t, address);
  await page.getByRole("tab", { name: "Studies" }).click();
  await study(page, "Control", "Paths from s.e");
  assert.match(await page.locator(".notes").textContent(), /2 of 2 states reached/);
  await study(page, "Channels", "Inputs to outputs");
  await study(page, "Activity", "Elements");
  await page.locator(".sheet-table caption", { hasText: "Bonds, along the half arrow" }).waitFor();
  await study(page, "Faults", "Fault signatures");
  assert.deepEqual(await faults(page), []);
});
