// The local engine for grammar, in its real worker, with the real rules.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import grammarRight from "../quality/text/grammar-right.json" with { type: "json" };
import grammarWrong from "../quality/text/grammar-wrong.json" with { type: "json" };
import { measureGrammar } from "../quality/text/measure-groups.ts";
import spellCheckRight from "../quality/text/spell-check-right.json" with { type: "json" };
import spellCheckWrong from "../quality/text/spell-check-wrong.json" with { type: "json" };
import { fitsTask, longTimeLimitsMs, runLocal } from "./local-call.ts";

interface Item {
  readonly text: string;
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly suggestions: readonly { readonly suggestion: string; readonly score: number | null }[];
}

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const task = "text/spell_check";
const model = "harper";
// The first call makes hundreds of rules ready.
const withinMs = 120_000;
let local: LocalEngines;

const isInstalled = createLocalEngines({ log }).engines.some(
  (engine) => engine.models.includes(model) && engine.unavailableReason === null,
);

beforeAll(() => {
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(() => local.close());

async function itemsOf(text: string, language: string | null = "en"): Promise<readonly Item[]> {
  const { output } = await runLocal(local, task, { text, language }, { model, withinMs });
  expect(fitsTask(task, output)).toBe(true);
  expect(output["text"]).toBe(text);
  return output["items"] as readonly Item[];
}

function shortOf(items: readonly Item[]): unknown[] {
  return items.map(({ text, suggestions }) => [text, suggestions[0]?.suggestion]);
}

describe.skipIf(!isInstalled)("the group grammar", () => {
  test(
    "mistakes of grammar and of spelling are found in the order of the text, with what would be right",
    async () => {
      const text = "He definately could of told me. The the last train was late, and I recieve no mail.";
      const items = await itemsOf(text);
      expect(shortOf(items)).toContainEqual(["could of", "could have"]);
      expect(shortOf(items)).toContainEqual(["The the", "The"]);
      expect(shortOf(items)).toContainEqual(["definately", "definitely"]);
      const offsets = items.map(({ offset }) => offset);
      expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
      for (const item of items) expect(text.slice(item.offset, item.offset + item.length)).toBe(item.text);
      expect(items.find((item) => item.text === "definately")?.type).toBe("UnknownToken");
      expect(items.find((item) => item.text === "could of")?.type).toBe("WordChoice");
    },
    withinMs,
  );

  test("the spelling alone is checked when no model is named", async () => {
    const { output } = await runLocal(local, task, { text: "He could of told me.", language: "en" });
    expect(output["items"]).toEqual([]);
  });

  test("offsets and lengths count characters, also behind emoji and in a long text", async () => {
    const filler = "The council met on Monday and spoke about the bridge. ".repeat(120);
    for (const before of ["👍🏽 👩‍👩‍👧‍👦 ", filler]) {
      const text = `${before}He could of come.`;
      const item = (await itemsOf(text)).find((one) => one.text === "could of");
      if (item === undefined) throw new Error("it was not found");
      expect([...text].slice(item.offset, item.offset + item.length).join("")).toBe("could of");
    }
  });

  test("British and American spelling are both correct, and matters of style are not mistakes", async () => {
    const british = "She organised the programme at the town centre and coloured the posters grey.";
    expect(await itemsOf(british, "en-GB")).toEqual([]);
    expect(await itemsOf(british, null)).toEqual([]);
    expect(await itemsOf("Bring flour, eggs and sugar.")).toEqual([]);
  });

  test("a long address of a page is not a mistake", async () => {
    const address = `https://example.com/${"reports/".repeat(20)}`;
    for (const text of [`Please see ${address} for the details.`, `${address} is the page.`, `The page is ${address}`])
      expect(await itemsOf(text)).toEqual([]);
  });

  test("a sentence that is too long for one call of the rules has no mistakes where it is split", async () => {
    const clause = "she walked along the river for longer than we did, ";
    for (const start of ["My brother knows", "They know", "Everyone knows", "I know", "You know"])
      expect(await itemsOf(`${start} that ${clause.repeat(42)}and then we all went home.`)).toEqual([]);
  });

  test("words that a split would make wrong are not mistakes", async () => {
    const clause = "she walked along the river for longer than we did, ";
    for (const [before, after] of [
      ["and the the", "n mayor came"],
      ["and they is", "land hop"],
      ["and we has", "ten home"],
    ] as const) {
      const start = `They know that ${clause.repeat(38)}`;
      const name = `An${"n".repeat(2_000 - start.length - before.length - 3)}`;
      const text = `${start}${name} ${before}${after}, and then we all went home.`;
      expect(text.slice(0, 2_000).endsWith(before)).toBe(true);
      expect(await itemsOf(text)).toEqual([]);
    }
  });

  test("mistakes are found in long sentences, too", async () => {
    const clause = "she walked along the river for longer than we did, ";
    for (const count of [1, 5, 20, 60]) {
      const text = `My brother knows that ${clause.repeat(count)}and he could of come with us.`;
      expect(shortOf(await itemsOf(text))).toEqual([["could of", "could have"]]);
    }
  });

  test("a word that both checkers find is reported once", async () => {
    const items = await itemsOf("Its raining alot, isnt it?");
    for (const [index, { offset, length }] of items.entries()) {
      const next = items[index + 1];
      if (next !== undefined) expect(offset + length).toBeLessThanOrEqual(next.offset);
    }
    expect(items.length).toBeGreaterThan(0);
  });

  test("misspelt words and their suggestions are those of the spell check, whatever the rules say about them", async () => {
    const words = spellCheckWrong.cases.map(({ wrong }) => wrong);
    for (let from = 0; from < words.length; from += 20) {
      const text = words
        .slice(from, from + 20)
        .map((word) => `I wrote ${word} in the letter, and alot of people seen it.`)
        .join(" ");
      const plain = await runLocal(local, task, { text, language: "en" });
      const items = await itemsOf(text);
      for (const one of plain.output["items"] as readonly Item[]) {
        const same = items.find(({ offset }) => offset === one.offset);
        expect(same).toMatchObject({ text: one.text, type: one.type });
        expect(same?.suggestions.slice(0, one.suggestions.length)).toEqual([...one.suggestions]);
      }
    }
  }, 300_000);

  test("no suggestion replaces a word by one that is misspelt", async () => {
    const sentences = [...grammarWrong.cases, ...grammarRight.cases, ...spellCheckRight.cases].map(({ text }) => text);
    const count = async (text: string) =>
      ((await runLocal(local, task, { text, language: "en" })).output["items"] as unknown[]).length;
    for (const text of sentences) {
      const items = await itemsOf(text);
      const before = items.length === 0 ? 0 : await count(text);
      for (const item of items)
        for (const { suggestion } of item.suggestions) {
          const mended = text.slice(0, item.offset) + suggestion + text.slice(item.offset + item.length);
          const after = await count(mended);
          expect([mended, after]).toEqual([mended, Math.min(after, before)]);
        }
    }
  }, 300_000);

  test("answers to unusual texts match the schema, and the engine still works", async () => {
    for (const text of [
      " ",
      "a",
      "👩‍👩‍👧‍👦",
      "?!... --- (((",
      "a\u0000b\u0007c\u001b[31m\u0085\u2028d\ufeff",
      "x".repeat(50_000),
      `Z${"\u0301".repeat(300)}algo is here`,
      "\"'".repeat(10_000),
      "Hello Привет 你好 مرحبا",
      "4111 1111 ".repeat(2_000),
      "<p>Hello <b>world</b></p>",
    ])
      await itemsOf(text);
    expect(shortOf(await itemsOf("He could of come."))).toEqual([["could of", "could have"]]);
  }, 300_000);

  test("a lone surrogate becomes the replacement character, as everywhere", async () => {
    const { output } = await runLocal(local, task, { text: "broken \ud800 text", language: "en" }, { model, withinMs });
    expect(output["text"]).toBe("broken \ufffd text");
  });

  test("another language and too long a text are refused", async () => {
    const french = "Le dernier train était déjà parti quand nous sommes arrivés à la gare, alors nous sommes rentrés.";
    for (const [text, place] of [
      [french, "language"],
      ["A short sentence. ".repeat(3_000), "text"],
    ] as const) {
      const error = await runLocal(local, task, { text }, { model, withinMs }).catch((one: unknown) => one);
      expect(error).toBeInstanceOf(ValidationError);
      expect((error as ValidationError).problems[0].loc).toEqual(["body", "input", place]);
    }
  });

  test(
    "many calls do not make the worker grow",
    async () => {
      const call = (number: number) => itemsOf(`He have ${number} cars and could of gone to to the house.`);
      for (let warm = 0; warm < 30; warm++) await call(warm);
      const before = local.state().heavy.memoryBytes;
      for (let more = 0; more < 200; more++) await call(more);
      expect(local.state().heavy.memoryBytes - before).toBeLessThan(30 * 1_048_576);
    },
    withinMs,
  );

  test(
    "it is no worse on the labelled sets than it was",
    async () => {
      const lines = await measureGrammar(
        async (name, input, chosen) => (await runLocal(local, name, input, { model: chosen ?? null, withinMs })).output,
        () => {},
      );
      const resultOf = (start: string) =>
        Number.parseFloat(lines.find((line) => `${line.task} ${line.measure}`.startsWith(start))?.result ?? "");
      expect(resultOf(`${task}/local/${model} mistakes`)).toBeGreaterThanOrEqual(57);
      expect(resultOf(`${task}/local/${model} right sentences`)).toBeLessThanOrEqual(16);
    },
    withinMs,
  );
});
