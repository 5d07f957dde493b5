// Runs that take long show their curves while they go on; zoomed plots are fine, whatever is run or kept beside.

import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";
import { faults, picture, scratch, serve, shutDown, until, visit } from "./harness.mjs";

after(shutDown);

const ENDLESS = "model M {\n    s: Se(sin(1000*time)) -> j: 1 -> i: I(1), c: C(1e-6), r: R(0.001)\n}\nexperiment long of M { stop = 1e6; output_step = 0.1; record i.p; plot i.p }\n";

const head = (page) => page.evaluate(() => window.paynterStudio.get().result?.head ?? null);
const lastTime = (page) => page.evaluate(() => window.paynterStudio.get().result?.curves[0]?.[0]?.x.at(-1) ?? -1);

test("a long run shows its curves while it goes on, and keeps them when it is cancelled", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": ENDLESS }), "m.bond"));
  const page = await visit(t, address);
  await until("the first curves", async () => (await page.locator(".plot output").count()) > 0);
  assert.equal((await head(page)).underWay, true);
  await until("it says how far it is", async () => /running, 0 %/.test(await page.locator(".status").textContent()));
  const first = await lastTime(page);
  await until("more of them", async () => (await lastTime(page)) > first);
  // The curve grows into the time of the whole run.
  assert.equal(await page.evaluate(() => window.paynterStudio.get().result.head.to), 1e6);
  assert.equal(await page.getByRole("progressbar", { name: "Run" }).count(), 1);
  assert.deepEqual(await faults(page), []);
  await picture(page, "under_way");
  await page.keyboard.press("Escape");
  await until("it says that it was cancelled", async () => /cancelled at/.test(await page.locator(".runs").textContent()));
  assert.ok((await lastTime(page)) >= first);
  assert.equal((await head(page)).underWay, undefined);
});

const RINGING = `model Ringing {
    param d = 0.02 [N*s/m]
    push: Se(1 [N]) -> v: 1 -> m: I(1 [kg]), k: C(1e-4 [m/N]), r: R(d)
    output x [m] = k.q
}
experiment go of Ringing { stop = 100 [s]; output_step = 1e-3 [s]; record x; plot x }
`;

/** Points of the present run and of the first pinned one between two times. */
function pointsIn(page, from, to) {
  return page.evaluate(([a, b]) => {
    const count = (run) => run?.curves[0][0].x.filter((x) => x >= a && x <= b).length ?? 0;
    const { result, pinned } = window.paynterStudio.get();
    return [count(result), count(pinned[0])];
  }, [from, to]);
}

test("in a zoomed plot the present run, a new one and a pinned one have all their points", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "m.bond": RINGING }), "m.bond"));
  const page = await visit(t, address);
  const isDone = () => page.evaluate(() => { const { result, running } = window.paynterStudio.get(); return running === null && result?.head.complete === true; });
  await until("the run", isDone);
  await page.getByRole("button", { name: "Pin this run" }).click();
  await page.locator(".add-slider", { hasText: "d" }).click();
  const field = page.getByRole("textbox", { name: "Value of d" });
  const run = async (value) => {
    const before = (await head(page)).run;
    await field.fill(value);
    await page.keyboard.press("Enter");
    await until("the run with another value", async () => (await head(page)).run > before && (await isDone()));
  };
  await run("0.2");
  // Wheel in to about a second.
  const box = await page.locator(".plot .u-over").first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await until("a narrow range", async () => {
    await page.mouse.wheel(0, -240);
    const range = await page.evaluate(() => window.paynterStudio.get().range);
    return range !== null && range[1] - range[0] < 1;
  });
  const [from, to] = await page.evaluate(() => window.paynterStudio.get().range);
  const wanted = Math.floor((to - from) / 1e-3) - 1;
  const isFine = async () => {
    const [now, pinned] = await pointsIn(page, from, to);
    return (now >= wanted && pinned >= wanted) || { now, pinned, wanted };
  };
  await until("all points of both", isFine);
  await run("0.4");
  await until("all points of the new run and the pinned one", isFine);
  await page.locator(".plot .u-over").first().dblclick();
  await until("the whole again, thinned", async () => {
    const [now, pinned] = await pointsIn(page, 0, 100);
    const [last, lastPinned] = await page.evaluate(() => { const { result, pinned: p } = window.paynterStudio.get(); return [result.curves[0][0].x.at(-1), p[0].curves[0][0].x.at(-1)]; });
    return (now < 20_000 && pinned < 20_000 && last > 99 && lastPinned > 99) || { now, pinned, last, lastPinned };
  });
});
