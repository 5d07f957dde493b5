// Large levels stay usable, parts come from the library, nodes become parts, the start page knows the last files, energy is a picture.

import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";
import { CIRCUIT, faults, ladder, node, picture, scratch, serve, shutDown, text, until, visit } from "./harness.mjs";

after(shutDown);

const open = async (t, source, name = "m.bond") => {
  const { address } = await serve(t, path.join(scratch(t, { [name]: source }), name));
  return visit(t, address);
};

test("a level of 5000 elements opens near, is seen from far away, searched and changed", async (t) => {
  const page = await open(t, ladder(5000));
  await until("nodes near by", async () => (await page.locator(".react-flow__node").count()) > 5, 120_000);
  await page.getByRole("button", { name: /Live/ }).click();
  // Only what is in sight is kept in the page.
  assert.ok((await page.locator(".react-flow__node").count()) < 400);
  await page.locator(".small-map").waitFor();
  await page.locator(".react-flow__pane").click({ position: { x: 300, y: 8 } });
  await page.keyboard.press("f");
  await page.locator(".overview").waitFor();
  assert.equal(await page.locator(".react-flow__node").count(), 0);
  await page.waitForTimeout(400);
  await picture(page, "overview");
  await page.keyboard.press("Control+f");
  await page.getByLabel("Find on the canvas").fill("c777");
  await page.keyboard.press("Enter");
  await until("it is found", async () => (await node(page, "c777").locator(".is-selected").count()) === 1, 30_000);
  await page.keyboard.press("Escape");
  await page.getByRole("complementary", { name: "Inspector" }).getByLabel("Value").fill("25");
  await page.keyboard.press("Enter");
  await until("the text says so", async () => /c777: C\(25\)/.test(await text(page)), 60_000);
  await picture(page, "large");
});

test("a part of the library is placed by typing its name", async (t) => {
  const page = await open(t, "model M {\n    s: Se(12 [V]) -> j: 1\n}\n");
  await until("open", async () => (await node(page, "j").count()) === 1);
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 100 } });
  await page.keyboard.press("/");
  await page.locator(".quick-insert input").fill("DcMotor");
  await until("it is offered", async () => (await page.locator(".quick-insert li b", { hasText: "DcMotor" }).count()) > 0);
  await page.keyboard.press("Enter");
  await until("it is placed", async () => (await page.locator(".node-box").count()) === 1);
  assert.match(await text(page), /^use \w+: DcMotor/m);
});

test("selected nodes become a part, which is opened in place again; undo goes all the way", async (t) => {
  const page = await open(t, CIRCUIT);
  await until("open", async () => (await node(page, "c").count()) === 1);
  const before = await text(page);
  for (const name of ["loop", "r", "c"]) await node(page, name).click({ modifiers: ["Control"] });
  await page.keyboard.press("Control+g");
  await until("a part", async () => (await page.locator(".node-box").count()) === 1);
  assert.match(await text(page), /model Group \{/);
  await page.locator(".node-box").click();
  await page.getByRole("button", { name: "Open in place" }).click();
  await until("its nodes", async () => (await page.locator(".react-flow__node").count()) === 4);
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 100 } });
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await until("as before", async () => (await text(page)) === before);
});

test("a node changes its kind in the inspector", async (t) => {
  const page = await open(t, CIRCUIT);
  await node(page, "c").click();
  await page.getByRole("complementary", { name: "Inspector" }).getByLabel("Kind").selectOption("I");
  await until("an inertia", async () => /c: I\(/.test(await text(page)));
});

for (const theme of ["light", "dark"]) {
  test(`the start page shows the library and the last files, the energy tab a picture, ${theme}`, async (t) => {
    const { address } = await serve(t, path.join(scratch(t, { "m.bond": CIRCUIT }), "m.bond"));
    const page = await visit(t, address, { theme });
    await until("curves", async () => (await page.locator(".plot output").count()) > 0, 30_000);
    await page.getByRole("tab", { name: "Energy" }).click();
    await page.locator(".energy-flow .ribbon").first().waitFor();
    assert.match(await page.locator(".energy-flow").getAttribute("aria-label"), /supplied .* J/);
    await picture(page, `energy_${theme}`);
    assert.deepEqual(await faults(page), []);
    await page.getByRole("button", { name: "Start page" }).click();
    await page.locator(".recent .row", { hasText: "just now" }).waitFor();
    await page.getByRole("radio", { name: "Library" }).click();
    await page.getByRole("searchbox").fill("motor");
    await until("parts", async () => { const n = await page.locator(".card").count(); return n > 0 && n < 20; });
    await page.waitForTimeout(800);
    await picture(page, `library_${theme}`);
    assert.deepEqual(await faults(page), []);
  });
}
