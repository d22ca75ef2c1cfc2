// A JSON text changed in single values, with every other character as it was.

import { expect, test } from "bun:test";
import { elementTexts, patchJson } from "../../src/inference/responses/patch-json.ts";

test("what does not change keeps its spelling, its order and its white space", () => {
  const text = ' { "b" : 1.0, "a":[ 1E2 , {"id":"x","n":12345678901234567890} ],\n"c":"\\u00e9" } ';
  const from = JSON.parse(text);
  expect(patchJson(text, from, from)).toBe(text);
  expect(patchJson(text, from, JSON.parse(text))).toBe(text);
  const to = { ...from, a: [from.a[0], { ...from.a[1], id: "y" }], d: null };
  expect(patchJson(text, from, to)).toBe(
    ' { "b" : 1.0, "a":[ 1E2 , {"id":"y","n":12345678901234567890} ],\n"c":"\\u00e9" ,"d":null} ',
  );
});

test("objects that were empty, lists of another length and names that stand twice", () => {
  expect(patchJson("{}", {}, { a: 1 })).toBe('{"a":1}');
  expect(patchJson("{ }", {}, { a: { b: [] } })).toBe('{ "a":{"b":[]}}');
  expect(patchJson('{"a":[1]}', { a: [1] }, { a: [1, 2] })).toBe('{"a":[1,2]}');
  expect(patchJson('{"a":null}', { a: null }, { a: { b: 1 } })).toBe('{"a":{"b":1}}');
  const twice = '{"id":"theirs","id":"theirs too","n":1}';
  expect(patchJson(twice, JSON.parse(twice), { id: "ours", n: 1 })).toBe('{"id":"ours","id":"ours","n":1}');
  expect(patchJson('{"i\\u0064":"x"}', { id: "x" }, { id: "y" })).toBe('{"i\\u0064":"y"}');
});

test("brackets, quotes and backslashes inside strings are no structure", () => {
  const from = { 'a"]}': 'x"}],{["', b: "\\", c: ["\\\\", "]"], id: "1" };
  const text = JSON.stringify(from);
  expect(patchJson(text, from, { ...from, id: "2" })).toBe(text.replace('"id":"1"', '"id":"2"'));
  expect(elementTexts(JSON.stringify(["a,b", { c: ",]" }, 1, [2, 3]]))).toEqual(['"a,b"', '{"c":",]"}', "1", "[2,3]"]);
  expect(elementTexts(" [ ] ")).toEqual([]);
});

test("no depth of nesting exhausts the stack", () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const text = `{"deep":${deep},"id":"1"}`;
  const inner: unknown[] = [];
  expect(patchJson(text, { deep: inner, id: "1" }, { deep: inner, id: "2" })).toBe(`{"deep":${deep},"id":"2"}`);
});

test("whatever is changed into whatever, the result parses to it", () => {
  const value = (depth: number): unknown => {
    const kind = Math.floor(Math.random() * (depth > 3 ? 4 : 6));
    if (kind === 0) return null;
    if (kind === 1) return Math.round(Math.random() * 1e6) / 1e3;
    if (kind === 2) return ['"', "\\", "\n", "é", "{}", "[,]", ""][Math.floor(Math.random() * 7)];
    if (kind === 3) return Math.random() < 0.5;
    const length = Math.floor(Math.random() * 4);
    if (kind === 4) return Array.from({ length }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}"`, value(depth + 1)]));
  };
  const isObject = (one: unknown): one is Record<string, unknown> =>
    typeof one === "object" && one !== null && !Array.isArray(one);
  /** Members that the second lacks stay. */
  const merged = (from: unknown, to: unknown): unknown => {
    if (Array.isArray(from) && Array.isArray(to) && from.length === to.length)
      return to.map((one, index) => merged(from[index], one));
    if (!isObject(from) || !isObject(to)) return to;
    const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return Object.fromEntries(names.map((name) => [name, name in to ? merged(from[name], to[name]) : from[name]]));
  };
  for (let round = 0; round < 3_000; round += 1) {
    const [from, to] = [value(0), value(0)];
    const text = JSON.stringify(from, null, round % 3);
    expect(JSON.parse(patchJson(text, from, to))).toEqual(merged(from, to));
  }
});
