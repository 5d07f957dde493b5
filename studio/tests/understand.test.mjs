// A conflict is followed, a stroke tells why, a slider moves a curve.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { CIRCUIT, faults, node, picture, reading, scratch, serve, shutDown, text, until, visit } from "./harness.mjs";

after(shutDown);

test("a model is broken, the conflict is a path with reasons, and the model is mended", async (t) => {
  const source = "model Bench {\n    motor: Sf(1) -> rotor: 1 -> jm: I(1), bm: R(1)\n    rotor -> gear: TF(2) -> fin: 1 -> bf: R(1)\n}\nexperiment go of Bench { stop = 1 }\n";
  const { address } = await serve(t, path.join(scratch(t, { "bench.bond": source }), "bench.bond"));
  const page = await visit(t, address);
  await until("no errors", async () => /No messages|warning/.test(await page.locator(".status").textContent()));
  await page.locator(".cm-line", { hasText: "gear" }).click();
  await page.keyboard.press("End");
  await page.keyboard.type("\nclamp: Sf(0) -> fin");
  await until("the conflict is on the canvas", async () => (await page.locator(".react-flow__edge .bond-conflict").count()) > 0);
  assert.match(await page.locator(".status").textContent(), /error/);
  await until("the graph stays", async () => (await node(page, "rotor").count()) === 1 && (await node(page, "clamp").count()) === 1);

  await page.getByRole("tab", { name: /Messages/ }).click();
  const reasons = page.locator(".message .reasons li");
  await until("the way of the conflict", async () => (await reasons.count()) >= 2);
  assert.match(await page.locator(".message").first().textContent(), /two sources set the flow/);
  assert.ok((await page.locator(".badge").count()) >= 1, "steps are numbered on the graph");

  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 80 } });
  for (let i = 0; i < 40 && /clamp/.test(await text(page)); i++) await page.keyboard.press("Control+z");
  await until("mended", async () => (await page.locator(".react-flow__edge .bond-conflict").count()) === 0);
});

test("a bond tells why it has its stroke, and shows its curves", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "circuit.bond": CIRCUIT }), "circuit.bond"));
  const page = await visit(t, address);
  await until("a curve", async () => (await page.locator(".plot output").count()) > 0);
  await node(page, "c").click();
  await page.locator(".inspector .bond-rows button").first().click();
  await until("reasons", async () => (await page.locator(".inspector .reasons li").count()) >= 1);
  await until("effort, flow, power and energy", async () => (await page.locator(".signal-row").count()) === 4);
  // All that the source gives goes along its bond: 5 V times the charge, C·5 V (1 − 1/e).
  const energy = await page.evaluate(() => window.paynterStudio.get().bondCurves.curves[0][3].y.at(-1));
  const q = 1e-6 * 5 * (1 - Math.exp(-1));
  assert.ok(Math.abs(energy - (q * q) / 2e-6) < 1e-9, `${energy} J stored`);
  await page.keyboard.press("Control+4");
  await until("equations", async () => (await page.locator(".equations math").count()) >= 1);
});

test("a slider moves the curve", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "circuit.bond": CIRCUIT }), "circuit.bond"));
  const page = await visit(t, address);
  // After one time constant: 5 (1 − 1/e).
  await until("the first curve", async () => (await page.locator(".plot output").count()) > 0 && Math.abs((await reading(page)) - 5 * (1 - Math.exp(-1))) < 1e-3);
  await page.locator(".add-slider", { hasText: "R1" }).click();
  const slider = page.locator("#slider-R1");
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2, { steps: 10 });
  await until("the curve follows before the hand lets go", async () => Math.abs((await reading(page)) - 5 * (1 - Math.exp(-1))) > 0.2);
  await page.mouse.up();
  const R = Number(await slider.inputValue());
  const expected = 5 * (1 - Math.exp(-1e-3 / (R * 1e-6)));
  await until("the exact curve", async () => {
    const seen = await reading(page);
    return Math.abs(seen - expected) < 1e-3 ? { ok: true } : { seen, expected, R };
  });
  // By keyboard: one arrow is one percent of the range.
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await until("one percent more", async () => Number(await slider.inputValue()) > R);
});

test("the equations of a selected element are lit with its symbols, however long they are", async (t) => {
  const folder = scratch(t);
  fs.cpSync(path.resolve(import.meta.dirname, "../../gallery/servo"), folder, { recursive: true });
  const { address } = await serve(t, path.join(folder, "servo.bond"));
  const page = await visit(t, address);
  await until("drawn", async () => (await node(page, "tooth").count()) === 1);
  await page.keyboard.press("Control+4");
  await until("equations", async () => (await page.locator(".equations math").count()) > 5);
  await node(page, "tooth").click();
  await until("lit", async () => (await page.locator(".equations .equation.is-lit").count()) > 0);
  const rows = await page.evaluate(() => [...document.querySelectorAll(".equations .equation")].map((e) => [e.classList.contains("is-lit"), [...e.querySelectorAll("msub")].some((m) => m.children[1].textContent === "tooth"), e.querySelectorAll(".lit").length > 0]));
  assert.ok(rows.every(([isLit, has, hasSymbols]) => isLit === has && has === hasSymbols), JSON.stringify(rows));
  // The term that the symbol is in is lit, and no other: the bearing's is not.
  const terms = await page.evaluate(() => [...document.querySelectorAll(".equations .lit-term")].map((e) => [e.querySelectorAll("msub, msubsup").length, [...e.querySelectorAll("msub")].some((m) => m.children[1].textContent === "tooth")]));
  assert.ok(terms.length >= 2 && terms.some(([, hasSymbol]) => hasSymbol), JSON.stringify(terms));
  const widths = await page.evaluate(() => [...document.querySelectorAll(".equations .is-lit")].map((e) => [...e.querySelectorAll(".lit-term")].reduce((sum, term) => sum + term.getBoundingClientRect().width, 0) / e.querySelector("math").getBoundingClientRect().width));
  assert.ok(widths.every((part) => part < 0.95), JSON.stringify(widths));
  // Its own rate, and the two inertias that it pulls at.
  assert.equal(rows.filter(([isLit]) => isLit).length, 3);
  assert.equal(await page.locator(".inspector .terms .equation").count(), 3);
  // A brace grows with what it holds: that takes a font for mathematics.
  await until("the font", async () => page.evaluate(() => document.fonts.check('15px "STIX Two Math"')));
  const brace = await page.locator(".equations mo", { hasText: "{" }).first().boundingBox();
  assert.ok(brace.height > 50, `${brace.height} px`);
});

test("a moved slider is no failed comparison", async (t) => {
  const folder = path.join(scratch(t), "servo");
  fs.cpSync(path.resolve(import.meta.dirname, "../../gallery/servo"), folder, { recursive: true });
  const { address } = await serve(t, path.join(folder, "linear_servo.bond"));
  const page = await visit(t, address);
  await until("it agrees", async () => /Agrees with/.test(await page.locator(".runs").textContent()));
  await page.locator(".add-slider", { hasText: /^K/ }).click();
  const field = page.getByRole("textbox", { name: "Value of K" });
  await field.fill("200");
  await page.keyboard.press("Enter");
  await until("it says why", async () => /With the sliders moved/.test(await page.locator(".runs").textContent()));
  assert.equal(await page.locator(".runs .bad").count(), 0);
  await page.getByRole("button", { name: "Remove the slider of K" }).click();
  await until("it agrees again", async () => /Agrees with/.test(await page.locator(".runs").textContent()));
});

test("an algebraic loop is lit on the graph, and dependent storages are selected", async (t) => {
  const source = "model M {\n    s: Se(1) -> a: 1 -> r1: R(1), b: 0\n    b -> d: 1 -> r2: R(2), m1: I(1), m2: I(2)\n    b -> r4: R(4)\n    b -> g: 1 -> r5: R(5), r6: R(6)\n}\nexperiment go of M { stop = 1; record m1.f }\n";
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": source }), "m.bond"));
  const page = await visit(t, address);
  const loops = page.locator(".status").getByRole("button", { name: /algebraic loop/ });
  await loops.waitFor();
  await loops.click();
  await until("its bonds are lit", async () => (await page.locator(".react-flow__edge .bond.is-path").count()) >= 2);
  assert.ok((await page.locator(".edge-badge").count()) >= 2, "its bonds are numbered");
  assert.equal(await page.locator(".loop-row[aria-pressed=true]").count(), 1);
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 80 } });
  await until("it is out again", async () => (await page.locator(".bond.is-path").count()) === 0);
  await page.locator(".status").getByRole("button", { name: "1 dependent" }).click();
  await until("the one that follows is selected", async () => /^m[12]$/.test(await page.evaluate(() => window.paynterStudio.get().selection.map((s) => s.id).join())));
});

test("a bond of heat has its flow as its power", async (t) => {
  const source = "model Heater {\n    hot: Se(300 [K]) -> wall: 1 -> room: C(1000 [J/K])\n    wall -> loss: R(2 [K/W])\n}\nexperiment go of Heater { stop = 10 [s]; record room.e }\n";
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": source }), "m.bond"));
  const page = await visit(t, address);
  await until("a curve", async () => (await page.locator(".plot output").count()) > 0);
  await node(page, "room").click();
  await until("its signals", async () => (await page.locator(".signal-row").count()) === 4);
  const [e, f, p] = await page.evaluate(() => window.paynterStudio.get().bondCurves.curves[0].map((c) => [...c.y]));
  const names = await page.evaluate(() => window.paynterStudio.get().bondCurves.head.panels[0].series.map((s) => s.name));
  assert.match(names[1], /^f\|W$/, names.join());
  assert.ok(e.some((x) => x > 1) && f[0] > 1);
  assert.deepEqual(p, f);
});

test("ways out of a conflict are shown with what they write, and one is taken", async (t) => {
  const source = "model Bench {\n    motor: Sf(1) -> rotor: 1 -> jm: I(1), bm: R(1)\n    rotor -> gear: TF(2) -> fin: 1 -> bf: R(1)\n    clamp: Sf(0) -> fin\n}\nexperiment go of Bench { stop = 1; record bf.e }\n";
  const { address } = await serve(t, path.join(scratch(t, { "bench.bond": source }), "bench.bond"));
  const page = await visit(t, address);
  await until("the conflict", async () => (await page.locator(".react-flow__edge .bond-conflict").count()) > 0);
  await page.keyboard.press("Control+.");
  const cards = page.locator(".fix-card");
  await until("ways out", async () => (await cards.filter({ hasText: "Delete clamp" }).count()) === 1);
  assert.match(await cards.filter({ hasText: "Delete clamp" }).textContent(), /no conflict · order 0 · jm\.p dependent.*- clamp: Sf\(0\) -> fin/);
  const give = cards.filter({ hasText: "Let it give" }).first();
  assert.match(await give.textContent(), /\+ .*C\(1/);
  assert.deepEqual(await faults(page), []);
  await picture(page, "ways_out");
  await give.getByRole("button", { name: "Apply" }).click();
  await until("no conflict, and a run", async () => (await page.locator(".bond-conflict").count()) === 0 && (await page.evaluate(() => window.paynterStudio.get().result?.head.complete)) === true);
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 80 } });
  await page.keyboard.press("Control+z");
  await until("undone in one step", async () => (await page.locator(".react-flow__edge .bond-conflict").count()) > 0);
});

test("inside of a part strokes and curves are those of the whole, and the runs go on", async (t) => {
  const source = "model Mass {\n    param m\n    port a: translational\n    a -> v: 1 -> i: I(m), r: R(1)\n}\nmodel Whole {\n    left: Mass(m = 2)\n    right: Mass(m = 2)\n    pull: Se(1) -> left.a\n    push: Sf(time) -> right.a\n}\nexperiment go of Whole { stop = 1; record left.v.f; plot left.v.f }\n";
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": source }), "m.bond"));
  const page = await visit(t, address);
  await until("a curve", async () => (await page.locator(".plot output").count()) > 0);
  const run = () => page.evaluate(() => window.paynterStudio.get().result.head.run);
  const before = await run();
  const strokeClass = (head) => page.evaluate((h) => window.paynterStudio.get().analysis.view.bonds.find((b) => b.head === h)?.class, head);
  for (const [part, wanted] of [["left", "preferred"], ["right", "derivative"]]) {
    await node(page, part).dblclick();
    await until(`inside of ${part}`, async () => (await node(page, "i").count()) === 1);
    assert.match(await page.locator(".breadcrumb").textContent(), new RegExp(`Whole${part}$`));
    assert.equal(await strokeClass("i"), wanted);
    await node(page, "i").click();
    await until("its curves", async () => (await page.locator(".signal-row").count()) === 4);
    await page.locator(".breadcrumb").getByRole("button", { name: "Whole" }).click();
    await until("back", async () => (await node(page, "left").count()) === 1);
  }
  assert.equal(await run(), before, "nothing was run again");
  assert.equal(await page.locator(".trouble-line").count(), 0);
});
