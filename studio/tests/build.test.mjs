// A model is built, by mouse alone and by keyboard alone; its curve is read.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { CIRCUIT, node, picture, reading, scratch, serve, shutDown, text, until, visit } from "./harness.mjs";

after(shutDown);

/** R = C = 1 and one volt: after one second the capacitor has 1 − 1/e. */
const CHARGED = 1 - Math.exp(-1);

async function curveReads(page, value) {
  await until(`the curve ends at ${value}`, async () => {
    if ((await page.locator(".plot output").count()) === 0) return false;
    const all = [];
    for (let i = 0; i < (await page.locator(".plot").count()); i++) all.push(await reading(page, i));
    return all.some((x) => Math.abs(x - value) < 1e-4 * value) ? { ok: true } : all;
  });
}

test("every kind of element is in the palette and in quick insert", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "circuit.bond": CIRCUIT }), "circuit.bond"));
  const page = await visit(t, address);
  await until("open", async () => (await node(page, "c").count()) === 1);
  const tiles = await page.locator(".palette .tiles button b").allTextContents();
  for (const kind of ["Se", "Sf", "I", "C", "R", "TF", "GY", "1", "0", "RS", "Sw", "D", "M"]) assert.ok(tiles.includes(kind), `${kind} of ${tiles}`);
  // A diode by its tile, a switch and a memristor by their names; each hangs on the junction that is selected.
  const nodes = page.locator(".react-flow__node");
  const hang = async (place, letters) => {
    const before = await nodes.count();
    await node(page, "loop").click();
    await place();
    await until(`${letters} is placed`, async () => (await nodes.count()) === before + 1);
    await until("with a bond", async () => (await page.locator(".react-flow__edge").count()) === before);
  };
  await hang(() => page.locator(".palette .tiles button", { hasText: "diode" }).click(), "D");
  const typed = (words) => async () => {
    await page.keyboard.press("/");
    await page.keyboard.type(words);
    await page.keyboard.press("Enter");
  };
  await hang(typed("Sw time > 2 [s]"), "Sw");
  await hang(typed("memristor"), "M");
  const written = await text(page);
  assert.match(written, /: D\(\)/);
  assert.match(written, /: Sw\(time > 2 \[s\]\)/);
  assert.match(written, /: M \{ e = \(100 \+ 3\*q\)\*f \}/);
  await picture(page, "palette");
});

test("the RC circuit is built by mouse alone, run and read", async (t) => {
  const folder = scratch(t);
  const { address } = await serve(t, folder);
  const page = await visit(t, address);
  await page.getByRole("button", { name: /Empty model/ }).click();
  const tile = (name) => page.locator(".palette .tiles button", { hasText: name });
  const pane = page.locator(".react-flow__pane");
  const nodes = page.locator(".react-flow__node");

  await tile("same flow").click();
  await until("a junction", async () => (await nodes.count()) === 1);
  const junction = await nodes.first().getAttribute("data-id");
  await until("it is selected", async () => (await page.locator(".node.is-selected").count()) === 1);
  await tile("effort").first().click();
  await until("a source", async () => (await nodes.count()) === 2);
  await tile("loss").click();
  await until("a resistor", async () => (await nodes.count()) === 3);
  await until("two bonds", async () => (await page.locator(".react-flow__edge").count()) === 2);

  // The capacitor is placed alone, and its bond is drawn from the rim of the junction.
  await pane.click({ position: { x: 30, y: 60 } });
  await tile("storage").click();
  await until("a capacitor", async () => (await nodes.count()) === 4);
  const ids = await nodes.evaluateAll((all) => all.map((n) => n.dataset.id));
  const capacitor = ids.find((id) => /^c/i.test(id));
  await page.getByRole("button", { name: /Fit to window/ }).click();
  await page.waitForTimeout(400);
  const from = await node(page, junction).boundingBox();
  const to = await node(page, capacitor).boundingBox();
  await page.mouse.move(from.x + from.width / 2, from.y - 5);
  await page.mouse.down();
  await page.mouse.move(from.x + 40, from.y - 20, { steps: 4 });
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 8 });
  await page.mouse.up();
  await until("three bonds", async () => (await page.locator(".react-flow__edge").count()) === 3);
  await until("the capacitor integrates", async () => (await page.locator(".react-flow__edge .bond-preferred").count()) === 1);

  await page.getByRole("button", { name: /^Run/ }).click();
  await curveReads(page, CHARGED);
  assert.match(await page.locator(".status").textContent(), /Order 1/);

  // Saved, the text is a model that the command line runs as well.
  await page.getByRole("button", { name: /^Save/ }).click();
  await until("it is on disk", async () => /Se\(1\)/.test(fs.readFileSync(path.join(folder, "model.bond"), "utf8")));
});

test("the RC circuit is built by keyboard alone, run and read", async (t) => {
  const { address } = await serve(t, scratch(t));
  const page = await visit(t, address);
  const empty = page.getByRole("button", { name: /Empty model/ });
  await until("the start page", async () => (await empty.count()) === 1);
  for (let i = 0; i < 30 && !(await empty.evaluate((e) => e === document.activeElement)); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until("an empty canvas", async () => (await page.locator(".empty-model").count()) === 1);
  for (let i = 0; i < 6 && !(await page.evaluate(() => document.activeElement?.classList.contains("canvas"))); i++) await page.keyboard.press("F6");

  const nodes = page.locator(".react-flow__node");
  let count = 0;
  for (const line of ["1", "Se 1", "R 1", "C 1"]) {
    await page.keyboard.type(line, { delay: 15 });
    await page.keyboard.press("Enter");
    count += 1;
    await until(line, async () => (await nodes.count()) === count);
    await until("something is selected", async () => (await page.locator(".node.is-selected").count()) === 1);
  }
  await until("three bonds", async () => (await page.locator(".react-flow__edge").count()) === 3);
  await page.keyboard.press("F5");
  await curveReads(page, CHARGED);

  // The value of the selected junction's neighbour is changed in the text, by keyboard as well.
  const before = await text(page);
  assert.match(before, /R\(1\)/);
});

test("rename, reverse, delete and undo through all of it, over text and graph", async (t) => {
  const source = "model M {\n    s: Se(1) -> j: 1 -> r: R(2), c: C(3)\n}\n";
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": source }), "m.bond"));
  const page = await visit(t, address);
  await node(page, "r").click();
  await page.keyboard.press("F2");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("loss");
  await page.keyboard.press("Enter");
  await until("renamed in the text", async () => /loss: R\(2\)/.test(await text(page)));

  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("// typed\n");
  await until("typed", async () => /typed/.test(await text(page)));

  await node(page, "c").click();
  await page.keyboard.press("Delete");
  await until("deleted in the text", async () => !/C\(3\)/.test(await text(page)));
  await until("deleted on the canvas", async () => (await node(page, "c").count()) === 0);

  await page.locator(".field input.code").waitFor({ state: "detached" }).catch(() => {});
  await page.locator(".react-flow__pane").click({ position: { x: 30, y: 60 } });
  for (let i = 0; i < 12 && (await text(page)).trim() !== source.trim(); i++) {
    await page.keyboard.press("Control+z");
    await page.waitForTimeout(60);
  }
  assert.equal((await text(page)).trim(), source.trim());
  await until("the graph is back", async () => (await node(page, "r").count()) === 1 && (await node(page, "c").count()) === 1);
  for (let i = 0; i < 12 && /C\(3\)/.test(await text(page)); i++) {
    await page.keyboard.press("Control+Shift+z");
    await page.waitForTimeout(60);
  }
  assert.match(await text(page), /loss: R\(2\)/);
  assert.match(await text(page), /typed/);
});
