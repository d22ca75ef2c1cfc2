import { describe, expect, test } from "bun:test";
import { findJsonError } from "../../src/lib/json-offset.ts";
import { editMembers, scanJson } from "../../src/lib/json-scan.ts";

const limits = { maxDepth: 64, maxTokens: 250_000 };
const noEdits = { replace: new Map<string, string>(), remove: new Set<string>(), append: [] as string[] };

function edit(text: string, edits: Partial<typeof noEdits>): string {
  return editMembers(text, scanJson(text, limits), { ...noEdits, ...edits });
}

/** A small generator of its own, so that a failure can be repeated from its seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state % below;
  };
}

function randomDocument(random: (below: number) => number): string {
  const space = () => ["", "", " ", "\n  ", "\t"][random(5)] ?? "";
  const strings = ['"a"', '"\\""', '"\\\\"', '"{[,:]}"', '"é😀"', '"\\u00e9"', '""'];
  const value = (depth: number): string => {
    const kind = random(depth > 3 ? 4 : 6);
    if (kind === 0) return strings[random(strings.length)] ?? '""';
    if (kind === 1) return ["0", "-1.50", "1e2", "12345678901234567890"][random(4)] ?? "0";
    if (kind === 2) return ["true", "false", "null"][random(3)] ?? "null";
    if (kind === 3) return random(2) === 0 ? "[]" : "{}";
    const inner = Array.from({ length: 1 + random(3) }, (_, index) =>
      kind === 4 ? value(depth + 1) : `"k${index}"${space()}:${space()}${value(depth + 1)}`,
    );
    const [open, close] = kind === 4 ? "[]" : "{}";
    return `${open}${space()}${inner.join(`${space()},${space()}`)}${space()}${close}`;
  };
  const names = ["model", "tags", "b", "routing", "session_id", "messages"].slice(random(3), 3 + random(4));
  const members = names.map((name) => `${space()}"${name}"${space()}:${space()}${value(1)}${space()}`);
  return `${space()}{${members.join(",")}}${space()}`;
}

describe("single members of a document can be changed", () => {
  test("all the rest stays as it was", () => {
    const text = '{ "n" : 1.50 ,\n "model":"a/b", "x":"\\u00e9", "tags" : {"k":[1,2]} , "z":null }';
    expect(edit(text, { replace: new Map([["model", '"b"']]) })).toBe(text.replace('"a/b"', '"b"'));
    expect(edit(text, { remove: new Set(["tags"]) })).toBe(
      '{ "n" : 1.50 ,\n "model":"a/b", "x":"\\u00e9" , "z":null }',
    );
    expect(edit(text, { remove: new Set(["n", "tags", "z"]) })).toBe('{ "model":"a/b", "x":"\\u00e9" }');
    expect(edit(text, { append: ['"q":1'] })).toBe(text.replace(" }", ' ,"q":1}'));
    expect(edit("{}", { append: ['"q":1'] })).toBe('{"q":1}');
    expect(edit('{"tags":1}', { remove: new Set(["tags"]), append: ['"q":1'] })).toBe('{"q":1}');
  });

  test("for 3,000 random documents the result means what was asked for", () => {
    for (let seed = 1; seed <= 3_000; seed++) {
      const random = createRandom(seed);
      const text = randomDocument(random);
      const before = JSON.parse(text) as Record<string, unknown>;
      const removed = ["tags", "routing", "session_id", "model", "b"].filter(() => random(2) === 0);
      const wanted: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(before)) {
        if (!removed.includes(name)) wanted[name] = name === "model" ? "new" : value;
      }
      const appends = random(2) === 0;
      if (appends) wanted["added"] = [1];
      const result = edit(text, {
        replace: new Map([["model", '"new"']]),
        remove: new Set(removed),
        append: appends ? ['"added":[1]'] : [],
      });
      expect({ seed, result: JSON.parse(result) }).toEqual({ seed, result: wanted });
    }
  });
});

describe("a document is measured before it is parsed", () => {
  test("the member that is nested too deep is named", () => {
    const nest = (count: number) => `{"a":1,"metadata":${'{"a":'.repeat(count)}1${"}".repeat(count)}}`;
    expect(scanJson(nest(63), limits).tooDeepIn).toBeNull();
    expect(scanJson(nest(64), limits).tooDeepIn).toBe("metadata");
    expect(scanJson(nest(5_000), limits).tooDeepIn).toBe("");
  });

  test("nothing is too deep without a limit, except what is hopeless", () => {
    const nest = (count: number) => `${"[".repeat(count)}${"]".repeat(count)}`;
    const { tooDeepIn, tooComplex } = scanJson(nest(1_000));
    expect({ tooDeepIn, tooComplex }).toEqual({ tooDeepIn: null, tooComplex: false });
    const hopeless = scanJson(nest(1_001));
    expect([hopeless.tooDeepIn, hopeless.tooComplex]).toEqual(["", false]);
  });

  test("the names of inner objects and of strings are not members", () => {
    const text = '{"a":{"b":"c","d":[{"e":1}]},"f":"g:h","i\\n":1}';
    expect(scanJson(text).members.map(({ name }) => name)).toEqual(["a", "f", "i\n"]);
    expect(scanJson('[{"a":1},"b"]').members).toEqual([]);
    expect(scanJson('"a"').members).toEqual([]);
  });

  test("a limit of brackets, colons and commas allows as many as it says", () => {
    const isTooComplex = (text: string, maxTokens: number) => scanJson(text, { ...limits, maxTokens }).tooComplex;
    for (const text of ['{"a":[0,1]}', '{"a":["b","c"]}', "[[[]]]"])
      expect([text, isTooComplex(text, 6), isTooComplex(text, 5)]).toEqual([text, false, true]);
  });

  test("too many members and elements are noticed without reading on", () => {
    expect(scanJson(`[${"0,".repeat(250_001)}0]`, limits).tooComplex).toBe(true);
    expect(scanJson(`[${"0,".repeat(200_000)}0]`, limits).tooComplex).toBe(false);
  });

  test("numbers that may not fit a double are noticed, and ordinary ones are not", () => {
    for (const text of [
      "[1e999]",
      "1e999",
      "[-1.5E+400]",
      `[${"9".repeat(400)}]`,
      `[${"9".repeat(302)}]`,
      `[1.${"0".repeat(300)}]`,
    ])
      expect(scanJson(text, limits).hasLongNumber).toBe(true);
    const short = `[${"9".repeat(300)}]`;
    for (const text of ["[1.25,-3,true,false,null]", '{"e":"1e9"}', '{"value":true}', "[0 ,true]", short])
      expect(scanJson(text, limits).hasLongNumber).toBe(false);
  });
});

test("where a text stops being JSON is told by its offset", () => {
  const cases: [string, number][] = [
    ['{"model":"x","messages":[', 25],
    ["  \n\t ", 5],
    ["/*x*/{}", 0],
    ["{'a':1}", 1],
    ['{"a":1}{}', 7],
    ['{"t":NaN}', 5],
    ['{"a":1,}', 7],
    ["[1,]", 3],
    ['{"a" 1}', 5],
    ['{"a":01}', 5],
    ['{"a":"\n"}', 5],
    ["", 0],
    ["[1}", 2],
    ['{"a":1]', 6],
    ["]", 0],
    ["}", 0],
    ["[,1]", 1],
    ["{,}", 1],
    ["{:1}", 1],
    ["{1:1}", 1],
    ['{"a"}', 4],
    ['{"a":}', 5],
    ['{"a":,}', 5],
    ['{"a":1 "b":2}', 7],
    ['{"a":1,2}', 7],
    ["[1:2]", 2],
    ["[1 2]", 3],
    ["[[1],{}] x", 9],
    ["1 2", 2],
    ["[[]", 3],
    ['[{"a":[]},{}', 12],
    ["-", 0],
    ["1.", 0],
  ];
  for (const [text, offset] of cases) expect([text, findJsonError(text)]).toEqual([text, offset]);
  // The offset of valid JSON is its length.
  for (const text of ['{"a":{},"b":[]}', '[[],{"a":null},[1,"x",true,false]]', "0", '""'])
    expect([text, findJsonError(text)]).toEqual([text, text.length]);
});
