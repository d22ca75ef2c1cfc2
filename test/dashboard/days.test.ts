// Days of the viewer's calendar, in programs that run in other time zones: days on which clocks change, and midnights that are skipped.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { toInstants } from "../../src/dashboard/lib/instants.ts";
import { runProgram } from "../support/run-program.ts";

const sources = join(import.meta.dir, "../../src/dashboard");

/** The JSON that `statements` print in a program whose clocks show the time of the zone. */
async function runIn(zone: string, statements: string): Promise<unknown> {
  const script = `
    import { stepsAt, toCourse } from "${sources}/lib/usage.ts";
    import { toInstants } from "${sources}/lib/instants.ts";
    import { addDays } from "${sources}/lib/days.ts";
    import { forecastMonth } from "${sources}/pages/spend/forecast.ts";
    const show = (time) => new Date(time).toLocaleString("sv-SE").slice(0, 16);
    ${statements}`;
  const command = [process.execPath, "-e", script];
  const { code, out, errors } = await runProgram(command, { env: { ...process.env, TZ: zone } });
  expect(errors).toBe("");
  expect(code).toBe(0);
  return JSON.parse(out);
}

/** The days of a report without rows. */
const listDays = (from: string, to: string) =>
  `console.log(JSON.stringify(toCourse({ from: "${from}", to: "${to}" }, []).times.map(show)));`;

test("days begin at midnight again after a day whose midnight is skipped", async () => {
  expect(await runIn("Africa/Cairo", listDays("2026-04-22T22:00:00Z", "2026-04-26T21:00:00Z"))).toEqual([
    "2026-04-23 00:00",
    "2026-04-24 01:00",
    "2026-04-25 00:00",
    "2026-04-26 00:00",
  ]);
});

test("a row of a day after a skipped midnight is no second point of that day", async () => {
  const rows = `[{ day: "2026-04-25", lines: 3, input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost: 1, average_latency_ms: 1 }]`;
  const period = `{ from: "2026-04-23T22:00:00Z", to: "2026-04-25T21:00:00Z" }`;
  const printed = await runIn(
    "Africa/Cairo",
    `const { times, sums } = toCourse(${period}, ${rows});
     console.log(JSON.stringify(times.map((time, index) => [show(time), sums[index].lines])));`,
  );
  expect(printed).toEqual([
    ["2026-04-24 01:00", 0],
    ["2026-04-25 00:00", 3],
  ]);
});

test.each([
  ["Asia/Kolkata", "2026-11-01T18:00:00Z", "2026-11-02T18:30:00Z", 2],
  ["Europe/Berlin", "2026-03-27T23:00:00Z", "2026-03-29T22:00:00Z", 2],
  ["Africa/Cairo", "2026-04-22T22:00:00Z", "2026-04-23T22:00:00Z", 1],
  // The report begins in the middle of the first day.
  ["Europe/Berlin", "2026-03-27T10:00:00Z", "2026-03-27T10:00:00Z", 0],
] as const)("a step of latencies is drawn on its day in %s", async (zone, from, step, index) => {
  const printed = await runIn(
    zone,
    `const { times } = toCourse({ from: "${from}", to: "2026-12-01T00:00:00Z" }, []);
     const step = { from: "${step}" };
     console.log(JSON.stringify(stepsAt(times, [step]).indexOf(step)));`,
  );
  expect(printed).toBe(index);
});

test("the last day of a period ends at midnight, also when its own midnight is skipped", async () => {
  const print = `console.log(JSON.stringify(toInstants({ from: "2026-04-24", to: "2026-04-24" })));`;
  expect(await runIn("Africa/Cairo", print)).toEqual({
    from: "2026-04-23T22:00:00.000Z",
    to: "2026-04-24T21:00:00.000Z",
  });
});

test.each([
  "2026-13-45",
  "2026-02-30",
  "2026-00-00",
])("%s, which is no day, is left to the gateway to refuse", (text) => {
  expect(toInstants({ from: text, to: text })).toEqual({ from: text, to: text });
});

test("the pace of a forecast has seven whole days on a day whose midnight is skipped", async () => {
  // Nothing but the first of the seven days cost something.
  const printed = await runIn(
    "Africa/Cairo",
    `const days = [{ time: new Date(2026, 3, 17).getTime(), cost: 7 }];
     console.log(JSON.stringify(forecastMonth(days, new Date(2026, 3, 24, 9))));`,
  );
  expect(printed).toBe(7 + 7);
});

test("the day before one whose midnight is skipped begins at midnight", async () => {
  const print = `console.log(JSON.stringify(show(addDays(new Date(2026, 3, 24, 9), -1))));`;
  expect(await runIn("Africa/Cairo", print)).toBe("2026-04-23 00:00");
});
