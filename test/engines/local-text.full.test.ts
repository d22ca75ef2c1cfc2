// The local engines for text, in their real workers, with the real models.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { checkBytes } from "../../src/engines/local/checksums.ts";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { localEngines } from "../../src/engines/local/list.ts";
import { createLog } from "../../src/log.ts";
import { runnerOf } from "../quality/run-task.ts";
import { measureText } from "../quality/text/measure.ts";
import { fitsTask, longTimeLimitsMs, refusalOf, runLocal } from "./local-call.ts";

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const tasks = localEngines
  .filter(({ task, group }) => group === undefined && /^(?:text|translation)\//.test(task))
  .map(({ task }) => task);
let local: LocalEngines;

beforeAll(() => {
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(() => local.close());

async function outputOf(task: string, input: Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> {
  const { output } = await runCore(task, input);
  expect(fitsTask(task, output)).toBe(true);
  return output;
}

/** The engine that comes with the gateway, even if a group has a better one. */
function runCore(task: string, input: Record<string, unknown>) {
  const engine = localEngines.find((one) => one.task === task && one.group === undefined);
  return runLocal(local, task, input, { model: engine?.models?.[0] ?? null });
}

async function itemsOf(task: string, input: Record<string, unknown>): Promise<readonly Record<string, unknown>[]> {
  return (await outputOf(task, input))["items"] as Record<string, unknown>[];
}

/** Long texts are cut to what the engine takes, or to a quarter of it: the refusal has its own test. */
const longest: Readonly<Record<string, number>> = {
  "text/anonymization": 60_000,
  "text/named_entity_recognition": 60_000,
  "text/syntax_analysis": 100_000,
  "text/spell_check": 250_000,
  "text/moderation": 300_000,
};
const longestText = "a mega without a space";

const oddTexts: Readonly<Record<string, string>> = {
  "a space": " ",
  "one letter": "a",
  "one emoji": "👍🏽",
  "a family of emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 ☎️",
  digits: "12345 67890",
  punctuation: "?!... --- (((",
  "control characters": "a\u0000b\u0007c\u001b[31m\u0085\u2028d\ufeff",
  "a lone surrogate": "broken \ud800 text",
  "words of many scripts": "Hello Привет 你好 مرحبا שלום नमस्ते こんにちは 안녕하세요 Γειά σου",
  "combining marks": `Z${"\u0301".repeat(300)}algo is here and everywhere`,
  "one endless word": "supercalifragilistic".repeat(500),
  "nothing but letters in capitals": "THIS IS ALL IN CAPITALS AND NOBODY KNOWS WHY IT WAS WRITTEN LIKE THAT",
  markup: "<p>Hello <b>world</b> &amp; everyone</p><script>alert('x')</script>",
  code: "for (const x of y) { z['a'] = `b${c}`; } // __proto__ constructor toString hasOwnProperty",
  "names of members of objects": "constructor __proto__ toString valueOf hasOwnProperty constructor constructor",
  "many lines": "first line\r\nsecond line\n\n\n\tthird line\u2029fourth",
  "a mega of prose":
    "The committee met John Smith in Berlin on Monday and spoke about the old bridge over the river. ".repeat(10_800),
  [longestText]: "x".repeat(1_000_000),
  "a mega of digits": "4111 1111 1111 1111 ".repeat(50_000),
  "many capitalised words": "Alpha Beta Gamma Delta ".repeat(2_000),
  "many addresses in the making": "12 Alpha Beta Gamma ".repeat(2_000),
  "many colons": "a:".repeat(5_000),
  "many quotes": "\"'".repeat(10_000),
};

describe("odd texts", () => {
  test.each(tasks)("%s refuses a text that is longer than it takes, with the limit", async (task) => {
    const refusal = await refusalOf(runCore(task, { text: "word ".repeat(400_001), language: "en" }));
    expect(refusal.message).toMatch(
      /^The local engine accepts at most [\d,]+ characters, but the text has 2,000,005\./,
    );
  });

  for (const task of tasks) {
    test(`${task} answers every one of them with what its schema promises`, async () => {
      for (const [name, odd] of Object.entries(oddTexts)) {
        const text = odd.slice(0, (longest[task] ?? 1_100_000) / (name === longestText ? 1 : 4));
        const { output, units } = await runCore(task, {
          text,
          ...(task.startsWith("text/") && { language: "en" }),
        });
        if (!fitsTask(task, output)) throw new Error(`${name}: ${JSON.stringify(output).slice(0, 500)}`);
        expect(units.char).toBeGreaterThan(0);
      }
    }, 300_000);
  }

  test("a text that is too long for an engine is refused with the length that it takes", async () => {
    const text = "A short sentence. ".repeat(60_000);
    for (const task of [
      "text/anonymization",
      "text/named_entity_recognition",
      "text/syntax_analysis",
      "text/spell_check",
    ]) {
      const { problems } = await refusalOf(runCore(task, { text, language: "en" }));
      expect(problems[0]).toMatchObject({ loc: ["body", "input", "text"], type: "string_too_long" });
      expect(problems[0].msg).toContain("at most");
    }
  });
});

describe("languages", () => {
  const french =
    "Le dernier train était déjà parti quand nous sommes arrivés à la gare, alors nous sommes rentrés à pied.";
  const englishOnly = [
    "text/sentiment_analysis",
    "text/topic_extraction",
    "text/named_entity_recognition",
    "text/syntax_analysis",
    "text/spell_check",
    "text/moderation",
  ];

  test("a language is named by its tag, with a name and a confidence", async () => {
    const [first] = await itemsOf("translation/language_detection", { text: french });
    expect(first).toMatchObject({ language: "fr", display_name: "French" });
    expect(first?.["confidence"]).toBeGreaterThan(0.9);
  });

  test("a language that only one of the two models knows is found", async () => {
    const welsh = "Mae'r gwres yn y swyddfa wedi torri ers dydd Mawrth, ac mae pawb yn gwisgo cotiau.";
    expect((await itemsOf("translation/language_detection", { text: welsh }))[0]).toMatchObject({ language: "cy" });
    const icelandic = "hvar eru lyklarnir";
    expect((await itemsOf("translation/language_detection", { text: icelandic }))[0]).toMatchObject({ language: "is" });
  });

  test("a few words are told from those of related languages", async () => {
    for (const [text, language] of [
      ["kami mau pergi besok", "id"],
      ["kami nak pergi esok", "ms"],
      ["ons gaan môre huis toe", "af"],
      ["we gaan morgen naar huis", "nl"],
      ["takk for i dag", "no"],
      ["tak for i dag", "da"],
    ] as const)
      expect((await itemsOf("translation/language_detection", { text }))[0]).toMatchObject({ language });
  });

  test("a text in no language is called unknown", async () => {
    for (const text of ["123 ... 👍", "asdfgh qwertz yxcvb", "hmmmm", "?!?! ... ---"])
      expect(await itemsOf("translation/language_detection", { text })).toEqual([
        { language: "unknown", display_name: "Unknown", confidence: null },
      ]);
  });

  test("a long English text is recognised even if it starts with numbers", async () => {
    const text = `${"4711 0815 ".repeat(60)} The last train had left when we arrived at the station, so we walked home.`;
    expect((await itemsOf("translation/language_detection", { text }))[0]).toMatchObject({ language: "en" });
  });

  for (const task of englishOnly) {
    test(`${task} refuses a text that is plainly not English, and one that is said not to be`, async () => {
      const found = await refusalOf(runCore(task, { text: french }));
      expect(found.problems[0].loc).toEqual(["body", "input", "language"]);
      expect(found.problems[0].msg).toContain("French");
      const said = await refusalOf(runCore(task, { text: "Hello there", language: "de-CH" }));
      expect(said.problems[0].msg).toContain("German");
    });

    test(`${task} takes the caller's word that a text is English`, async () => {
      for (const language of ["en", "en-GB", "en_US", "EN"]) await outputOf(task, { text: french, language });
    });
  }

  test("keywords and summaries work in other languages", async () => {
    const text = `${french} Der Zug war pünktlich. Der Zug hält in Bonn. 电车停在东京。东京的电车很快。`;
    expect((await itemsOf("text/keyword_extraction", { text })).length).toBeGreaterThan(0);
    const chinese = await itemsOf("text/keyword_extraction", {
      text: "电动汽车的电池很贵。研究人员希望电动汽车的电池更便宜。",
      language: "zh",
    });
    expect(chinese.map(({ keyword }) => keyword).join(" ")).toContain("电池");
    const { result } = await outputOf("text/summarize", { text: `${french} ${french}`, output_sentences: 1 });
    expect(result).toBe(french);
  });
});

describe("answers", () => {
  test("a sentiment comes with that of each sentence", async () => {
    const output = await outputOf("text/sentiment_analysis", {
      text: "I love this place, the staff is wonderful. The food was awful and cold.",
    });
    const items = output["items"] as Record<string, unknown>[];
    expect(items.map(({ sentiment }) => sentiment)).toEqual(["Positive", "Negative"]);
    expect(items[0]?.["segment"]).toBe("I love this place, the staff is wonderful.");
  });

  test("a plain fact is neutral, and the rate is the probability of the label", async () => {
    const output = await outputOf("text/sentiment_analysis", { text: "The museum has four floors and a cafe." });
    expect(output["general_sentiment"]).toBe("Neutral");
    const rate = Number(output["general_sentiment_rate"]);
    expect(rate).toBeGreaterThan(0.4);
    expect(rate).toBeLessThan(1);
  });

  test("news has a topic, and an ordinary text has none", async () => {
    const [first] = await itemsOf("text/topic_extraction", {
      text: "Shares of the carmaker fell after it cut its profit forecast for the third quarter.",
    });
    expect(first).toMatchObject({ category: "Business" });
    for (const text of ["The soup tastes better the next day.", "Please water the plants while we are away.", "Hello"])
      expect(await itemsOf("text/topic_extraction", { text, language: "en" })).toEqual([]);
  });

  test("people, places, organisations and dates are distinguished", async () => {
    const items = await itemsOf("text/named_entity_recognition", {
      text: "Maria Garcia of Siemens AG met Dr. Susan Clarke in Lisbon, Portugal on 3 May 2024 about $2 million.",
    });
    expect(items.map(({ entity, category }) => `${category}: ${entity}`).sort()).toEqual([
      "DATE: 3 May 2024",
      "LOCATION: Lisbon",
      "LOCATION: Portugal",
      "MONEY: $2 million",
      "ORGANIZATION: Siemens AG",
      "PERSON: Dr. Susan Clarke",
      "PERSON: Maria Garcia",
    ]);
  });

  test("personal data are replaced character by character, so that offsets hold in both texts", async () => {
    const text = "👋 Hi, I am Dr. John Smith 🙂, write to john@example.org or pay GB29 NWBK 6016 1331 9268 19.";
    const output = await outputOf("text/anonymization", { text });
    const [before, after] = [[...text], [...String(output["result"])]];
    expect(after.length).toBe(before.length);
    const entities = output["entities"] as { offset: number; length: number; content: string; subcategory: string }[];
    expect(entities.map(({ subcategory }) => subcategory)).toEqual(["Name", "Email", "BankAccountNumber"]);
    for (const { offset, length, content } of entities) {
      expect(before.slice(offset, offset + length).join("")).toBe(content);
      expect(after.slice(offset, offset + length).join("")).toBe("*".repeat(length));
    }
  });

  test("a number that only looks like a card or an account stays", async () => {
    const text = "Order 4111 1111 1111 1112 of 2024-05-03, reference GB29 NWBK 6016 1331 9268 18, version 10.4.2.";
    expect((await outputOf("text/anonymization", { text }))["result"]).toBe(text);
  });

  test("a misspelt word is shown with its place in characters and the right word first", async () => {
    const text = "🙂🙂 I definately agree, and colour is right too.";
    const items = await itemsOf("text/spell_check", { text });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ text: "definately", type: "UnknownToken", offset: 5, length: 10 });
    const suggestions = items[0]?.["suggestions"] as { suggestion: string }[] | undefined;
    expect(suggestions?.[0]?.suggestion).toBe("definitely");
    expect([...text].slice(5, 15).join("")).toBe("definately");
  });

  test("a bad word is found in disguise, and not inside of a harmless one", async () => {
    const bad = await outputOf("text/moderation", { text: "What a piece of sh1t.", language: "en" });
    expect(bad).toMatchObject({ nsfw_likelihood: 4, nsfw_likelihood_score: 0.7 });
    const harmless = await outputOf("text/moderation", { text: "The class in Scunthorpe will assess the cocktail." });
    expect(harmless).toEqual({ nsfw_likelihood: 0, nsfw_likelihood_score: 0, items: [] });
  });

  test("a summary has as many sentences as were asked for, in the order of the text, word for word", async () => {
    const sentences = [
      "Solar power is cheap by day.",
      "Cats sleep a lot.",
      "Solar power plants need storage for the night.",
      "Storage makes solar power plants useful at night.",
    ];
    const { result } = await outputOf("text/summarize", { text: sentences.join(" "), output_sentences: 2 });
    const chosen = sentences.filter((sentence) => String(result).includes(sentence));
    expect(chosen).toHaveLength(2);
    expect(result).toBe(chosen.join(" "));
    expect(chosen).not.toContain("Cats sleep a lot.");
  });

  test("keywords are phrases of the text, the most important first", async () => {
    const items = await itemsOf("text/keyword_extraction", {
      text: "The city council approved bicycle lanes. The bicycle lanes connect the station with the campus. Work on the bicycle lanes starts in April.",
    });
    expect(items[0]).toEqual({ keyword: "bicycle lanes", importance: 1 });
  });

  test("words come with their part of speech and their lemma", async () => {
    const items = await itemsOf("text/syntax_analysis", { text: "The lithium-ion cells were running." });
    expect(items.map(({ word, tag, lemma }) => `${word}/${tag}/${lemma}`)).toEqual([
      "The/Determiner/the",
      "lithium/Noun/lithium",
      "-/Punctuation/-",
      "ion/Noun/ion",
      "cells/Noun/cell",
      "were/Auxiliary/be",
      "running/Verb/run",
      "./Punctuation/.",
    ]);
  });
});

describe("quality", () => {
  // The measured values, less a little: an engine that became worse is noticed.
  const least: Readonly<Record<string, number>> = {
    "translation/language_detection accuracy, all": 92,
    "translation/language_detection no language": 80,
    "text/sentiment_analysis accuracy": 78,
    "text/topic_extraction news": 65,
    "text/topic_extraction other texts": 92,
    "text/syntax_analysis accuracy": 90,
    "text/keyword_extraction expected": 65,
    "text/spell_check misspelt": 95,
    "text/anonymization personal": 92,
  };

  test("no engine is worse on the labelled sets than it was", async () => {
    const lines = await measureText(runnerOf(local), "test", () => {});
    for (const [start, percent] of Object.entries(least)) {
      const found = lines.filter(({ task, measure }) => `${task} ${measure}`.startsWith(start));
      expect(found.length).toBeGreaterThan(0);
      for (const line of found) expect(Number.parseFloat(line.result)).toBeGreaterThanOrEqual(percent);
    }
  });
});

describe("all local engines", () => {
  test("an engine's module loads no package before its first task", async () => {
    const files = await Array.fromAsync(new Bun.Glob("src/engines/local/**/*.ts").scan("."));
    const staticImport = /^import\s+(?!type\b)[^;]*?from\s+"(?!\.|node:|bun)([^"]+)"/gm;
    const broken: string[] = [];
    for (const file of files) {
      for (const match of (await Bun.file(file).text()).matchAll(staticImport)) broken.push(`${file}: ${match[1]}`);
    }
    expect(broken).toEqual([]);
  });

  test("every engine of the core is installed, and of two for one task the second has models of its own", () => {
    const names = localEngines.flatMap(({ task, models = [] }) => models.map((model) => `${task}/${model}`));
    expect(new Set(names).size).toBe(names.length);
    for (const [index, engine] of local.engines.entries()) {
      expect(engine).toMatchObject({ provider: "local", acceptsAnyModel: false });
      const { task, group = "core", models = [] } = localEngines[index] ?? {};
      if (group === "core") expect(engine.unavailableReason).toBeNull();
      const isSecond = localEngines.findIndex((one) => one.task === task) < index;
      if (isSecond) expect(models.length).toBeGreaterThan(0);
    }
  });

  test("tasks that no local engine does well are not offered", () => {
    const offered = new Set<string>(local.engines.map(({ task }) => task));
    for (const task of [
      "text/ai_detection",
      "text/plagia_detection",
      "text/emotion_detection",
      "translation/automatic_translation",
    ]) {
      expect(offered.has(task)).toBe(false);
    }
  });

  test("a model file with a wrong checksum is not used", () => {
    const key = "fasttext.wasm.js/dist/models/language-identification/assets/lid.176.ftz";
    expect(() => checkBytes(key, new Uint8Array([1, 2, 3]))).toThrow("does not match its checksum");
    expect(() => checkBytes("unknown/file", new Uint8Array())).toThrow("no checksum");
  });
});

// Those with files are in test/docs/examples.full.test.ts.
describe("examples", () => {
  test("each answer matches the schema of its task", async () => {
    const files = await Array.fromAsync(new Bun.Glob("examples/tasks/text/*.json").scan("."));
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) {
      const { model, input } = await Bun.file(file).json();
      const [feature, subfeature, , engineModel = null] = String(model).split("/");
      const task = `${feature}/${subfeature}`;
      const { output } = await runLocal(local, task, input, { model: engineModel });
      expect(fitsTask(task, output)).toBe(true);
    }
  });
});
