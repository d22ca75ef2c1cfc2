import { expect, test } from "bun:test";
import { toCsv } from "../../src/lib/csv.ts";

test("cells with separators, quotes and line ends are quoted", () => {
  const rows = [
    ["name", "count"],
    ['a "b"', 1],
    ["c,d", 2.5],
    ["e\r\nf", 0],
    [" g ", null],
  ];
  expect(toCsv(rows)).toBe('name,count\r\n"a ""b""",1\r\n"c,d",2.5\r\n"e\r\nf",0\r\n" g ",\r\n');
});

test("a text that a spreadsheet would execute begins with an apostrophe", () => {
  for (const first of ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
    expect(toCsv([[`${first}1+1`]])).toBe(`"'${first}1+1"\r\n`);
  expect(toCsv([["a=1", "0.5", "-"]])).toBe(`a=1,0.5,"'-"\r\n`);
  expect(toCsv([[-1]])).toBe("-1\r\n");
});
