// Values that arrive as text in a query or a path: times, dimensions, filters, cursors and amounts.

import { describe, expect, test } from "bun:test";
import type { z } from "zod";
import { parse } from "../../src/contract/problems.ts";
import { createTeamRequest } from "../../src/contract/teams.ts";
import { booleanText, uuidText, wholeNumberText } from "../../src/contract/text-values.ts";
import { cursorText, listRequestsQuery, momentText, toCursor, usageQuery } from "../../src/contract/usage.ts";
import { problemsOf } from "../support/thrown.ts";

const typesOf = (schema: z.ZodType, value: unknown) => problemsOf(() => parse(schema, value)).map(({ type }) => type);
const id = "0b7c1a52-5d4f-4c63-9f0e-3f0e8b8f5a11";

describe("a moment", () => {
  const hourMs = 3_600_000;

  test.each([
    ["24h", { kind: "ago", ms: 24 * hourMs }],
    ["7d", { kind: "ago", ms: 7 * 24 * hourMs }],
    ["2026-11-30", { kind: "day", day: Date.UTC(2026, 10, 30) }],
    ["2026-11-30T12:00:00Z", { kind: "instant", at: Date.UTC(2026, 10, 30, 12) }],
    ["2026-11-30T12:00:00.5+02:00", { kind: "instant", at: Date.UTC(2026, 10, 30, 10, 0, 0, 500) }],
  ])("is written as %s", (text, moment) => {
    expect<unknown>(momentText.parse(text)).toEqual(moment);
  });

  test.each([
    "",
    "7",
    "7w",
    "12345d",
    "-1d",
    "2026-13-01",
    "2026-02-30",
    "2026-11-30T12:00:00",
    "today",
  ])("is not written as %p", (text) => {
    expect(typesOf(momentText, text)).toEqual(["datetime_parsing"]);
  });
});

describe("the dimensions of a report", () => {
  const groupsOf = (...texts: readonly string[]) => usageQuery.parse({ group_by: texts }).group_by as string[];

  test("are separated by commas, or repeated, and count once", () => {
    expect(groupsOf("day, team", "team,tag:a b,")).toEqual(["day", "team", "tag:a b"]);
    expect(groupsOf()).toEqual([]);
    expect(usageQuery.parse({}).group_by).toEqual([]);
  });

  test("are at most ten, and known", () => {
    const tags = (count: number) => Array.from({ length: count }, (_, index) => `tag:${index}`);
    expect(groupsOf(...tags(10))).toHaveLength(10);
    expect(typesOf(usageQuery, { group_by: tags(11) })).toEqual(["too_long"]);
    expect(groupsOf(`tag:${"a".repeat(64)}`)).toHaveLength(1);
    for (const unknown of ["modle", "tag:", `tag:${"a".repeat(65)}`])
      expect([unknown, typesOf(usageQuery, { group_by: [unknown] })]).toEqual([unknown, ["literal_error"]]);
    expect(problemsOf(() => parse(usageQuery, { group_by: ["modle"] }))[0]?.msg).toContain("did you mean 'model'?");
  });
});

test("filters have up to 100 values, and the empty text stands for lines without one", () => {
  const { provider, key, team } = usageQuery.parse({
    provider: Array(100).fill("a"),
    key: ["", id.toUpperCase()],
    team: [""],
  });
  expect([provider.length, key, team]).toEqual([100, ["", id], [""]]);
  expect(typesOf(usageQuery, { provider: Array(101).fill("a") })).toEqual(["too_long"]);
  expect(typesOf(usageQuery, { key: ["a"] })).toEqual(["uuid_parsing"]);
  expect(usageQuery.safeParse({ team: ["a".repeat(256)] }).success).toBe(true);
  expect(typesOf(usageQuery, { team: ["a".repeat(257)] })).toEqual(["string_too_long"]);
  expect(typesOf(usageQuery, { team: ["a\nb"] })).toEqual(["value_error"]);
  // The longest name and value of a tag with the sign between them.
  expect(usageQuery.safeParse({ tag: ["a".repeat(321)] }).success).toBe(true);
  expect(typesOf(usageQuery, { tag: ["a".repeat(322)] })).toEqual(["string_too_long"]);
});

test("a time zone is one of the IANA database", () => {
  expect(usageQuery.parse({}).time_zone).toBe("UTC");
  expect(usageQuery.parse({ time_zone: "Europe/Berlin" }).time_zone).toBe("Europe/Berlin");
  expect(typesOf(usageQuery, { time_zone: "Europe/Nowhere" })).toEqual(["unknown_time_zone"]);
});

test("a cursor is what an earlier page returned, and nothing else", () => {
  const cursor = { time: 1_700_000_000_000, id };
  expect(cursorText.parse(toCursor(cursor))).toEqual(cursor);
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  for (const text of [
    "",
    "x",
    encode("1"),
    encode(`01 ${id}`),
    encode(`1 ${id} `),
    `${toCursor(cursor)}=`,
    encode("1 xyz"),
  ])
    expect([text, typesOf(cursorText, text)]).toEqual([text, ["unknown_cursor"]]);
});

test("an amount in USD is exact", () => {
  const amountOf = (text: string) => listRequestsQuery.parse({ min_cost: text }).min_cost;
  expect(["0", "0.05", "1234567.000000000001"].map(amountOf)).toEqual([
    0n,
    50_000_000_000n,
    1_234_567_000_000_000_001n,
  ]);
  for (const text of ["", ".5", "1.", "-1", "1e3", "12345678", "0.0000000000001"])
    expect([text, typesOf(listRequestsQuery, { min_cost: text })]).toEqual([text, ["decimal_parsing"]]);
});

test("integers, booleans and ids are read from texts", () => {
  const number = wholeNumberText(-2, 10);
  expect(["-2", "+7", "10", "007"].map((text) => number.parse(text))).toEqual([-2, 7, 10, 7]);
  expect(["-3", "11", "1.0", " 1", "1e1"].map((text) => typesOf(number, text)[0])).toEqual([
    "greater_than_equal",
    "less_than_equal",
    "int_parsing",
    "int_parsing",
    "int_parsing",
  ]);
  expect(["true", "false"].map((text) => booleanText.parse(text))).toEqual([true, false]);
  expect(typesOf(booleanText, "1")).toEqual(["literal_error"]);
  expect(uuidText.parse(id.toUpperCase())).toBe(id);
  for (const text of [id.slice(1), `${id}0`, id.replaceAll("-", "")])
    expect(typesOf(uuidText, text)).toEqual(["uuid_parsing"]);
});

test("a name that people read has no control characters and is valid Unicode", () => {
  for (const name of ["Zoë 😀", "a\u00a0b"]) expect(createTeamRequest.safeParse({ name }).success).toBe(true);
  for (const name of ["a\u0000", "a\u001f", "a\u007f", "a\u009f", "\ud800"])
    expect(typesOf(createTeamRequest, { name })).toEqual(["value_error"]);
});
