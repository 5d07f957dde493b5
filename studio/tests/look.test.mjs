// How it looks and reads: the gallery, light and dark, no accessibility fault; with figures of its speed.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { CIRCUIT, faults, node, picture, scratch, serve, shutDown, until, visit } from "./harness.mjs";

after(shutDown);

for (const theme of ["light", "dark"]) {
  test(`start page and model have no serious accessibility fault, ${theme}`, async (t) => {
    const { address } = await serve(t, scratch(t));
    const page = await visit(t, address, { theme });
    await until("the gallery", async () => (await page.locator(".card").count()) >= 10);
    await until("its pictures", async () => page.evaluate(() => [...document.querySelectorAll(".card img")].slice(0, 4).every((i) => i.complete && i.naturalWidth > 0)));
    assert.deepEqual(await faults(page), []);
    await picture(page, `start_${theme}`);
    await page.getByRole("searchbox").fill("gyro");
    await until("search", async () => (await page.locator(".card").count()) < 6);
    await page.getByRole("searchbox").fill("");
    await page.locator(".card", { has: page.locator("b", { hasText: /^Fin servo$/ }) }).click();
    await until("a graph", async () => (await page.locator(".react-flow__node").count()) > 8);
    await until("curves", async () => (await page.locator(".plot output").count()) > 0, 30_000);
    await page.waitForTimeout(500);
    await picture(page, `main_${theme}`);
    assert.deepEqual(await faults(page), []);
    await page.keyboard.press("Control+3");
    await page.waitForTimeout(1200);
    await picture(page, `power_${theme}`);
    await page.keyboard.press("Control+4");
    await page.waitForTimeout(800);
    await picture(page, `equations_${theme}`);
  });
}

test("every model of the gallery opens and is drawn", async (t) => {
  const { address } = await serve(t, scratch(t));
  const page = await visit(t, address);
  await until("the gallery", async () => (await page.locator(".card").count()) >= 10);
  const names = await page.locator(".card > b").allTextContents();
  for (const name of names) {
    await page.locator(".card", { hasText: name }).first().click();
    await until(`${name} is drawn`, async () => (await page.locator(".react-flow__node").count()) > 0, 30_000);
    await until(`${name} has no errors`, async () => !/\d error/.test(await page.locator(".status").textContent()));
    await page.getByRole("button", { name: "Start page" }).click();
    await until("the gallery", async () => (await page.locator(".card").count()) >= 10);
  }
});

test("keystroke to messages and strokes, slider to curve", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "circuit.bond": CIRCUIT }), "circuit.bond"));
  const page = await visit(t, address);
  await until("open", async () => (await node(page, "c").count()) === 1);
  const times = await page.evaluate(async () => {
    const { get, subscribe } = window.paynterStudio;
    const content = document.querySelector(".cm-content");
    content.focus();
    const found = [];
    for (let i = 0; i < 40; i++) {
      const before = get().analysis;
      const begin = performance.now();
      document.execCommand("insertText", false, i % 2 ? "\n" : "/");
      await new Promise((done) => {
        const stop = subscribe(() => {
          if (get().analysis === before) return;
          stop();
          requestAnimationFrame(() => done());
        });
      });
      found.push(performance.now() - begin);
    }
    return found.sort((a, b) => a - b);
  });
  const p95 = times[Math.floor(0.95 * times.length)];
  console.log(`keystroke to messages and strokes: median ${times[20].toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`);
  // The bound is generous for busy machines; BENCHMARKS.md has the figures.
  assert.ok(p95 < 500, `${p95} ms`);
});
