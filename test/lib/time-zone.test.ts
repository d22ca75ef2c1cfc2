import { describe, expect, test } from "bun:test";
import { dayMs, hourMs } from "../../src/lib/time-units.ts";
import { openTimeZone, splitByOffset, type TimeZone } from "../../src/lib/time-zone.ts";

function open(name: string): TimeZone {
  const zone = openTimeZone(name);
  if (zone === null) throw new Error(`${name} is unknown`);
  return zone;
}

const startOf = (name: string, day: string) => new Date(open(name).startOf(Date.parse(day))).toISOString();

describe("a time zone", () => {
  test("is found by its IANA name only", () => {
    expect(openTimeZone("Europe/Berlin")?.name).toBe("Europe/Berlin");
    for (const name of ["Mars/Olympus", "", "berlin", "../etc/passwd", "\u0000"])
      expect([name, openTimeZone(name)]).toEqual([name, null]);
  });

  test("begins its days at local midnight, or when clocks skip it", () => {
    expect(startOf("UTC", "2026-03-29")).toBe("2026-03-29T00:00:00.000Z");
    expect(startOf("Europe/Berlin", "2026-03-29")).toBe("2026-03-28T23:00:00.000Z");
    expect(startOf("Europe/Berlin", "2026-03-30")).toBe("2026-03-29T22:00:00.000Z");
    expect(startOf("America/New_York", "2026-11-01")).toBe("2026-11-01T04:00:00.000Z");
    expect(startOf("America/New_York", "2026-11-02")).toBe("2026-11-02T05:00:00.000Z");
    expect(startOf("Asia/Kolkata", "2026-03-29")).toBe("2026-03-28T18:30:00.000Z");
    // Beirut goes from 23:59 to 01:00.
    expect(startOf("Asia/Beirut", "2026-03-29")).toBe("2026-03-28T22:00:00.000Z");
    expect(startOf("Pacific/Kiritimati", "2026-01-01")).toBe("2025-12-31T10:00:00.000Z");
    // Apia skipped this day.
    expect(startOf("Pacific/Apia", "2011-12-30")).toBe(startOf("Pacific/Apia", "2011-12-31"));
  });

  test("says on which day an instant is", () => {
    const dayAt = (name: string, instant: string) =>
      new Date(open(name).dayAt(Date.parse(instant))).toISOString().slice(0, 10);
    expect(dayAt("America/Los_Angeles", "2026-03-08T07:59:59.999Z")).toBe("2026-03-07");
    expect(dayAt("America/Los_Angeles", "2026-03-08T08:00:00Z")).toBe("2026-03-08");
    expect(dayAt("Asia/Tokyo", "2026-03-07T15:00:00Z")).toBe("2026-03-08");
  });

  test("splits a range where clocks change, without gaps", () => {
    const range = { from: Date.parse("2026-01-01T00:00:00Z"), to: Date.parse("2027-01-01T00:00:00Z") };
    for (const [name, changes] of [
      ["Europe/Berlin", ["2026-03-29T01:00:00.000Z", "2026-10-25T01:00:00.000Z"]],
      ["America/New_York", ["2026-03-08T07:00:00.000Z", "2026-11-01T06:00:00.000Z"]],
      ["Asia/Kolkata", []],
      // Casablanca changes its clocks for Ramadan.
      ["Africa/Casablanca", ["2026-02-15T02:00:00.000Z", "2026-03-22T02:00:00.000Z"]],
      ["UTC", []],
    ] as const) {
      const zone = open(name);
      const parts = splitByOffset(zone, range, { maxMs: 500 * dayMs, stepMs: hourMs });
      expect([name, parts.slice(1).map(({ from }) => new Date(from).toISOString())]).toEqual([name, [...changes]]);
      const months = splitByOffset(zone, range, { maxMs: 31 * dayMs, stepMs: hourMs });
      expect(months[0]?.from).toBe(range.from);
      expect(months.at(-1)?.to).toBe(range.to);
      for (const [index, part] of months.entries()) {
        if (index > 0) expect(part.from).toBe(months[index - 1]?.to ?? 0);
        for (let at = part.from; at < part.to; at += hourMs)
          if (zone.offsetAt(at) !== part.offsetMs) throw new Error(`${name} ${at}`);
      }
    }
  });
});
