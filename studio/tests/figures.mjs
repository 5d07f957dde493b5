// Figures for BENCHMARKS.md, measured by the page itself in a real browser: `node tests/figures.mjs`.

import os from "node:os";
import path from "node:path";
import { test, after } from "node:test";
import { CIRCUIT, ladder, serve, scratch, shutDown, until, visit } from "./harness.mjs";

after(shutDown);

const say = (line) => console.log(`FIGURE ${line} (load ${os.loadavg()[0].toFixed(1)})`);

function spread(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (p) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))].toFixed(0);
  return `shortest ${at(0)} ms, median ${at(0.5)} ms, p95 ${at(0.95)} ms of ${sorted.length}`;
}

/** What the page worked and heard while something was done `n` times: for each time, whatever else the machine did. */
async function work(page, n, what, act) {
  const wire = await page.context().newCDPSession(page);
  // By the clock of the thread: what other programs do at the same time does not count.
  await wire.send("Performance.enable", { timeDomain: "threadTicks" });
  await wire.send("Network.enable");
  const heard = { sent: 0, received: 0, bytes: 0 };
  wire.on("Network.webSocketFrameSent", () => (heard.sent += 1));
  wire.on("Network.webSocketFrameReceived", (e) => {
    heard.received += 1;
    heard.bytes += e.response.payloadData.length;
  });
  const look = async () => Object.fromEntries((await wire.send("Performance.getMetrics")).metrics.map((m) => [m.name, m.value]));
  const before = await look();
  const found = await act();
  const after = await look();
  const each = (name, scale = 1) => ((scale * (after[name] - before[name])) / n).toFixed(1);
  say(`work of the page for each ${what}: script ${each("ScriptDuration", 1e3)} ms, style ${each("RecalcStyleDuration", 1e3)} ms in ${each("RecalcStyleCount")}, layout ${each("LayoutDuration", 1e3)} ms in ${each("LayoutCount")}, all tasks ${each("TaskDuration", 1e3)} ms; messages out ${(heard.sent / n).toFixed(1)}, in ${(heard.received / n).toFixed(1)} of ${(heard.bytes / n / 1024).toFixed(1)} kB`);
  await wire.detach();
  return found;
}

/** From a keystroke to the frame in which messages and strokes of the new text are drawn. */
async function keystrokes(page, n) {
  return page.evaluate(async (count) => {
    const { get, subscribe } = window.paynterStudio;
    document.querySelector(".cm-content").focus();
    const found = [];
    const server = [];
    for (let i = 0; i < count; i++) {
      const before = get().analysis;
      const begin = performance.now();
      document.execCommand("insertText", false, i % 2 ? "\n" : "/");
      await new Promise((done) => {
        const stop = subscribe(() => {
          if (get().analysis === before) return;
          stop();
          server.push(get().analysis.ms);
          requestAnimationFrame(() => setTimeout(done));
        });
      });
      found.push(performance.now() - begin);
      await new Promise((done) => setTimeout(done, 120));
    }
    return [found, server];
  }, n);
}

async function sliderMoves(page, name, n) {
  return page.evaluate(async ([slider, count]) => {
    const { get, subscribe } = window.paynterStudio;
    const input = document.getElementById(`slider-${slider}`);
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    const found = [];
    const middle = Number(input.value);
    for (let i = 0; i < count; i++) {
      const before = get().result;
      const begin = performance.now();
      setter.call(input, String(middle * (1 + 0.2 * Math.sin(i + 1))));
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => {
        const stop = subscribe(() => {
          if (get().result === before) return;
          stop();
          requestAnimationFrame(() => setTimeout(done));
        });
      });
      found.push(performance.now() - begin);
      await new Promise((done) => setTimeout(done, 60));
    }
    return found;
  }, [name, n]);
}

test("circuit and servo", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "circuit.bond": CIRCUIT }), "circuit.bond"));
  const page = await visit(t, address);
  await until("a curve", async () => (await page.locator(".plot output").count()) > 0);
  const [times, server] = await work(page, 40, "keystroke, circuit", () => keystrokes(page, 40));
  say(`keystroke, circuit: ${spread(times)}; analysis itself ${spread(server)}`);
  await page.goto("about:blank");
  const again = await visit(t, address);
  await until("painted", async () => (await again.locator(".react-flow__node").count()) > 0);
  const paint = await again.evaluate(() => performance.getEntriesByType("paint").map((p) => `${p.name} ${p.startTime.toFixed(0)} ms`).join(", "));
  say(`first paint: ${paint}`);
  const { address: other } = await serve(t, path.resolve(import.meta.dirname, "../../gallery/servo/linear_servo.bond"));
  const second = await visit(t, other);
  await until("a curve", async () => (await second.locator(".plot output").count()) > 0, 30_000);
  const [slow, own] = await work(second, 30, "keystroke, linear servo", () => keystrokes(second, 30));
  say(`keystroke, linear servo: ${spread(slow)}; analysis itself ${spread(own)}`);
  // What was typed has left errors; a fresh server has the text of the disk.
  const { address: fresh } = await serve(t, path.resolve(import.meta.dirname, "../../gallery/servo/linear_servo.bond"));
  const third = await visit(t, fresh);
  await until("a curve", async () => (await third.locator(".plot output").count()) > 0, 30_000);
  const first = third.locator(".add-slider").first();
  const name = await first.locator("code").textContent();
  await first.click();
  say(`slider to curve, linear servo: ${spread(await work(third, 30, "move of a slider", () => sliderMoves(third, name, 30)))}`);
});

test("2000 elements, and a drag at 500 nodes", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "ladder.bond": ladder(2000) }), "ladder.bond"));
  const page = await visit(t, address);
  await until("drawn", async () => (await page.locator(".react-flow__node").count()) > 0, 120_000);
  await page.getByRole("button", { name: /Live/ }).click();
  await page.waitForTimeout(3000);
  const [times, server] = await work(page, 8, "keystroke, 2000 elements", () => keystrokes(page, 8));
  say(`keystroke, 2000 elements: ${spread(times)}; analysis itself ${spread(server)}`);
});

test("a drag at 500 nodes", async (t) => {
  const { address } = await serve(t, path.join(scratch(t, { "ladder.bond": ladder(500) }), "ladder.bond"));
  const page = await visit(t, address);
  await until("drawn", async () => (await page.locator(".react-flow__node").count()) > 0, 60_000);
  await page.getByRole("button", { name: /Live/ }).click();
  await page.waitForTimeout(2000);
  const box = await page.locator(".react-flow__node").nth(5).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  const counting = page.evaluate(() => new Promise((done) => {
    const begin = performance.now();
    let frames = 0;
    requestAnimationFrame(function count() {
      frames += 1;
      if (performance.now() - begin < 2000) requestAnimationFrame(count);
      else done((1000 * frames) / (performance.now() - begin));
    });
  }));
  for (let i = 0; i < 60; i++) await page.mouse.move(box.x + 40 * Math.sin(i / 5), box.y + 40 * Math.cos(i / 5));
  say(`drag at 500 nodes: ${(await counting).toFixed(0)} frames/s`);
  await page.mouse.up();
});
