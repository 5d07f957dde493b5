// The canvas: copy and paste as text, find, a bond that tells what it would be, completion and hover in the text.

import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";
import { CIRCUIT, faults, node, picture, scratch, serve, shutDown, text, until, visit } from "./harness.mjs";

after(shutDown);

const open = async (t, source, name = "m.bond") => {
  const { address } = await serve(t, path.join(scratch(t, { [name]: source }), name));
  return visit(t, address);
};

test("nodes are copied as text and pasted under new names; undo takes them back", async (t) => {
  const page = await open(t, CIRCUIT);
  await node(page, "loop").click();
  await node(page, "r").click({ modifiers: ["Control"] });
  await page.keyboard.press("Control+c");
  await until("text in the clipboard", async () => /R\(R1\)/.test(await page.evaluate(() => navigator.clipboard.readText())));
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 100 } });
  await page.keyboard.press("Control+v");
  await until("two more nodes", async () => (await page.locator(".react-flow__node").count()) === 6);
  assert.match(await text(page), /r2: R\(R1\)|R\(R1\)[\s\S]*R\(R1\)/);
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 100 } });
  await page.keyboard.press("Control+z");
  await until("undone", async () => (await page.locator(".react-flow__node").count()) === 4);
});

test("a node is found by name, kind or value", async (t) => {
  const page = await open(t, CIRCUIT);
  await until("open", async () => (await node(page, "c").count()) === 1);
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 100 } });
  await page.keyboard.press("Control+f");
  await page.getByLabel("Find on the canvas").fill("c1");
  await page.keyboard.press("Enter");
  await until("the capacitor is selected", async () => (await node(page, "c").locator(".is-selected").count()) === 1);
});

test("a bond tells its stroke and conflict before the hand lets go", async (t) => {
  const model = (loose) => `model M {\n    t: Sf(1) -> k: 1 -> q: R(1)\n    x: ${loose}\n    layout { t 0 0; k 160 0; q 320 0; x 160 160 }\n}\n`;
  const drag = async (page, from, to) => {
    await until("open", async () => (await node(page, from).count()) === 1);
    await page.waitForTimeout(400);
    const [a, b] = [await node(page, from).boundingBox(), await node(page, to).boundingBox()];
    await page.mouse.move(a.x + a.width / 2, a.y - 5);
    await page.mouse.down();
    await page.mouse.move(a.x + a.width / 2, a.y - 20, { steps: 3 });
    await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 6 });
  };
  const page = await open(t, model("C(1)"));
  await drag(page, "k", "x");
  await page.locator(".connection text.good").waitFor();
  assert.equal(await page.locator(".connection .stroke").count(), 1);
  await page.mouse.up();
  await until("it is drawn as it was shown", async () => (await page.locator(".react-flow__edge").count()) === 3);
  const other = await open(t, model("Sf(2)"));
  await drag(other, "x", "k");
  await other.locator(".connection text.bad", { hasText: "conflict" }).waitFor();
  await other.mouse.up();
  await until("the conflict is there", async () => (await other.locator(".react-flow__edge .bond-conflict").count()) > 0);
});

test("the text offers what the service knows, and explains what stands there", async (t) => {
  const page = await open(t, CIRCUIT);
  await page.locator(".cm-line", { hasText: "output v" }).click();
  await page.keyboard.press("End");
  await page.keyboard.type("\n    output w = sup");
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "supply" }).waitFor();
  // The editor takes no Enter for a list that has only just appeared.
  await page.waitForTimeout(200);
  await page.keyboard.press("Enter");
  await page.keyboard.type(".");
  await page.locator(".cm-tooltip-autocomplete li").first().waitFor();
  await page.keyboard.type("e*c.f");
  await until("no errors", async () => /No messages|warning/.test(await page.locator(".status").textContent()));
  // Ten letters and some before the name.
  await page.locator(".cm-line", { hasText: "param R1" }).hover({ position: { x: 86, y: 9 } });
  await until("a card", async () => /1000/.test(await page.locator(".hover-card").textContent().catch(() => "")));
});

test("causality is a lesson, step by step, and the graph shows the strokes set so far", async (t) => {
  const page = await open(t, CIRCUIT);
  await until("open", async () => (await node(page, "c").count()) === 1);
  await page.getByRole("button", { name: "Step by step" }).click();
  await page.getByRole("complementary", { name: "Lesson" }).waitFor();
  const strokes = () => page.locator(".react-flow__edge .stroke").count();
  const first = await strokes();
  assert.ok(first >= 1 && first < 3, `${first} strokes`);
  await picture(page, "lesson");
  assert.deepEqual(await faults(page), []);
  for (let i = 0; i < 5 && (await page.getByRole("button", { name: "Next" }).count()) > 0; i++) await page.getByRole("button", { name: "Next" }).click();
  await until("all strokes", async () => (await strokes()) === 3);
  await page.getByRole("button", { name: "Done" }).click();
  await until("the explorer is back", async () => (await page.getByRole("complementary", { name: "Explorer" }).count()) === 1);
});

test("the first model is guided from an empty canvas to a saved file", async (t) => {
  const { address } = await serve(t, scratch(t));
  const page = await visit(t, address);
  await page.getByRole("button", { name: /First model/ }).click();
  const task = page.getByRole("note", { name: "First model" });
  const count = async () => Number(/(\d+) of/.exec(await task.textContent())[1]);
  await until("an empty canvas", async () => (await page.locator(".empty-model").count()) === 1);
  await page.locator(".canvas").focus();
  let step = 1;
  for (const line of ["1", "Se 5 [V]", "R 1000 [ohm]", "C 1 [uF]"]) {
    await until(`task ${step}`, async () => (await count()) === step);
    await page.keyboard.type(line, { delay: 10 });
    await page.keyboard.press("Enter");
    step += 1;
    await until(`task ${step}`, async () => (await count()) === step);
    await until("the junction is selected", async () => (await page.locator(".node.is-selected").count()) === 1);
  }
  await picture(page, "first_model");
  await page.locator(".react-flow__edge").last().click({ force: true });
  await until("why is read", async () => (await count()) >= 6);
  await until("it runs by itself", async () => (await count()) >= 7);
  await page.keyboard.press("Control+3");
  await until("power", async () => (await count()) === 8);
  await page.locator(".cm-line span", { hasText: /^1000$/ }).first().dblclick();
  await page.keyboard.type("2000");
  await until("changed", async () => (await count()) === 9);
  await page.keyboard.press("Control+s");
  await until("done", async () => /Done/.test(await task.textContent()));
});
