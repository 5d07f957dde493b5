import { expect, test } from "vitest";
import { progressWords } from "./progress";

const running = (done: number) => ({ run: 1, done, isLong: true, begin: 1000 });

test("a run says how far it is, and how long the rest takes", () => {
  expect(progressWords(running(0.25), 11_000)).toBe("running, 25 %, 30 s left");
  expect(progressWords(running(0.999), 11_000)).toBe("running, 99 %, 1 s left");
  expect(progressWords(running(0.5), 601_000)).toBe("running, 50 %, 10 min left");
  expect(progressWords(running(0.02), 601_000)).toBe("running, 2 %, 8 h left");
  expect(progressWords(running(0.02), 6_001_000)).toBe("running, 2 %, 3 days left");
});

test("at the very start nobody knows", () => {
  expect(progressWords(running(0), 1500)).toBe("running, 0 %");
});
