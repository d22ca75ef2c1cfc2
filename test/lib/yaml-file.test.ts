import { expect, test } from "bun:test";
import { parseYaml } from "../../src/lib/yaml-file.ts";

test.each([
  ["a text", "base: &base { a: 1 }\nother:\n  <<: 4\n", 3],
  ["an alias of a text", "base: &base text\nother:\n  <<: *base\n", 3],
  ["a list with a text", "base: &base { a: 1 }\nother:\n  <<: [*base, text]\n", 3],
  ["nothing", "other:\n  <<:\n", 2],
])("a merge key whose value is %s is a problem with its line", (_, text, line) => {
  expect(parseYaml(text).problems).toEqual([
    { line, column: 3, message: "the value of << should be a map, or an alias (*) of one" },
  ]);
});

test("a merge key adds the members of a map or of several maps, and a quoted one is an ordinary name", () => {
  const text = "a: &a { x: 1 }\nb: &b { y: 2 }\nc: { <<: [*a, *b] }\nd: { <<: { z: 3 } }\ne: { '<<': 4 }\n";
  expect(parseYaml(text)).toMatchObject({
    problems: [],
    value: { c: { x: 1, y: 2 }, d: { z: 3 }, e: { "<<": 4 } },
  });
});

test("aliases that would make a small file a very large value are refused with the remedy", () => {
  const levels = Array.from({ length: 20 }, (_, level) => {
    const below = level === 0 ? "x" : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array.from({ length: 9 }, () => below).join(", ")}]`;
  });
  expect(parseYaml(levels.join("\n")).problems).toEqual([
    { line: 1, column: 1, message: expect.stringContaining("write some of the values") },
  ]);
});
