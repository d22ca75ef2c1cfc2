// The local engines for meaning, in their real workers, with the real model; and POST /v3/embeddings over them, with its real parts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createCallLimits } from "../../src/access/call-limits.ts";
import type { Caller } from "../../src/access/caller.ts";
import { builtInPrices, createPriceBook } from "../../src/catalogue/prices.ts";
import { createEmbeddingsRequest } from "../../src/contract/embeddings.ts";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { localEngines } from "../../src/engines/local/list.ts";
import { sentenceModelPackages } from "../../src/engines/local/semantic/sentence-model.ts";
import { GatewayError } from "../../src/errors.ts";
import { CandidateLoop } from "../../src/inference/candidate-loop.ts";
import { createEmbeddings, type Embeddings } from "../../src/inference/embeddings.ts";
import { HealthBook } from "../../src/inference/health.ts";
import { createLocalEmbeddings } from "../../src/inference/local-embeddings.ts";
import { createPricing } from "../../src/inference/pricing.ts";
import { createRoutePlanner } from "../../src/inference/route-planner.ts";
import { Trace } from "../../src/inference/trace.ts";
import { scanJson } from "../../src/lib/json-scan.ts";
import { createTicker, type Ticker } from "../../src/lib/ticker.ts";
import { createLog } from "../../src/log.ts";
import { CallerLeft } from "../../src/providers/call.ts";
import { configureProviders } from "../../src/providers/configure.ts";
import { HttpClient } from "../../src/providers/http-client.ts";
import { rows } from "../../src/providers/index.ts";
import { runnerOf } from "../quality/run-task.ts";
import { measureMeaning } from "../quality/text/measure-groups.ts";
import { meaningSamples } from "../quality/text/speed-samples.ts";
import { anyCaller } from "../support/any-caller.ts";
import { isFullRun } from "../support/test-size.ts";
import { fitsTask, longTimeLimitsMs, refusalOf, runLocal } from "./local-call.ts";

type Members = Readonly<Record<string, unknown>>;

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
let local: LocalEngines;

const isInstalled = createLocalEngines({ log }).engines.some(
  ({ task, unavailableReason }) => task === "text/embeddings" && unavailableReason === null,
);

beforeAll(() => {
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(() => local.close());

async function outputOf(task: string, input: Members, model: string | null = null): Promise<Members> {
  const { output } = await runLocal(local, task, input, { model });
  expect(fitsTask(task, output)).toBe(true);
  return output;
}

function vectorsOf(output: Members): number[][] {
  return (output["items"] as { embedding: number[] }[]).map(({ embedding }) => embedding);
}

function dot(a: readonly number[] = [], b: readonly number[] = []): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

const oddTexts: readonly string[] = [
  " ",
  "a",
  "👩‍👩‍👧‍👦 🏳️‍🌈 ☎️",
  "?!... --- (((",
  "a\u0000b\u0007c\u001b[31m\u0085\u2028d\ufeff",
  "broken \ud800 text",
  "Hello Привет 你好 مرحبا שלום नमस्ते",
  `Z${"\u0301".repeat(300)}algo`,
  "x".repeat(50_000),
  "constructor __proto__ toString [CLS] [SEP] [MASK] [PAD]",
];
const prose = "The committee met in Berlin on Monday and spoke about the old bridge over the river. ";

describe.skipIf(!isInstalled)("the group embeddings", () => {
  test("the vector of a text has 384 dimensions and length 1, and does not depend on the other texts", async () => {
    const texts = ["The cat is asleep.", prose.repeat(3), "Stocks fell."];
    const together = vectorsOf(await outputOf("text/embeddings", { texts }));
    expect(together.map((vector) => vector.length)).toEqual([384, 384, 384]);
    for (const vector of together) expect(dot(vector, vector)).toBeCloseTo(1, 4);
    const alone = vectorsOf(await outputOf("text/embeddings", { texts: texts.slice(0, 1) }, "all-minilm-l6-v2"));
    expect(alone[0]).toEqual(together[0]);
  });

  test("the vector of a known text is that of the published model", async () => {
    // The first numbers that the model's authors' own library gives in full precision; 8 bits are a little off.
    const [vector = []] = vectorsOf(await outputOf("text/embeddings", { texts: ["hello world"] }));
    const known = [-0.0345, 0.031, 0.0067, 0.0261, -0.0394, -0.1603, 0.0669, -0.0064];
    for (const [index, value] of known.entries()) expect(Math.abs((vector[index] ?? 0) - value)).toBeLessThan(0.02);
  });

  test("the end of a long text affects its vector", async () => {
    const [plain, withEnd, other] = vectorsOf(
      await outputOf("text/embeddings", {
        texts: [
          prose.repeat(40),
          prose.repeat(40) + "Whales sing in the deep ocean. ".repeat(60),
          "Whales sing in the sea.",
        ],
      }),
    );
    expect(dot(withEnd, other)).toBeGreaterThan(dot(plain, other) + 0.2);
  });

  test("only the model's own number of dimensions is accepted", async () => {
    const { problems } = await refusalOf(runLocal(local, "text/embeddings", { texts: ["a"], dimensions: 100 }));
    expect(problems[0]).toMatchObject({ loc: ["body", "input", "dimensions"], type: "value_error" });
    await outputOf("text/embeddings", { texts: ["a"], dimensions: 384 });
  });

  test("too many texts, too long texts and too many tokens in total are refused with the limit", async () => {
    const cases: [readonly string[], readonly (string | number)[], string][] = [
      [Array.from({ length: 2_049 }, () => "a"), ["texts"], "2,048 texts"],
      [["a", "b ".repeat(101_000)], ["texts", 1], "200,000 characters"],
      [["a", "b ".repeat(9_000)], ["texts", 1], "8,192 tokens"],
      [Array.from({ length: 40 }, () => "b ".repeat(8_000)), ["texts"], "300,000 tokens"],
    ];
    for (const [texts, place, most] of cases) {
      const { problems } = await refusalOf(runLocal(local, "text/embeddings", { texts }));
      expect(problems[0]).toMatchObject({ loc: ["body", "input", ...place] });
      expect(problems[0].msg).toContain(most);
    }
  });

  test("every metric ranks the text with the same meaning first, with a higher score", async () => {
    const texts = ["The stock market fell.", "A kitten naps on the sofa.", "Concrete is made of sand and cement."];
    for (const similarity_metric of ["cosine", "hamming", "manhattan", "euclidean"]) {
      const output = await outputOf("text/search", { texts, query: "The cat sleeps on the couch.", similarity_metric });
      const items = output["items"] as { object: string; document: number; score: number }[];
      expect(items.map(({ document }) => document).toSorted()).toEqual([0, 1, 2]);
      expect(items[0]?.document).toBe(1);
      expect(items.map(({ score }) => score)).toEqual(items.map(({ score }) => score).toSorted((a, b) => b - a));
    }
  });

  test("a label without examples is compared by its name, and an example with an unknown label is refused", async () => {
    const input = {
      texts: ["The striker scored twice.", "The flour must be sifted."],
      labels: ["baking", "football"],
      examples: [["Knead the dough for ten minutes.", "baking"]],
    };
    const { classifications } = (await outputOf("text/custom_classification", input)) as {
      classifications: { input: string; label: string; confidence: number }[];
    };
    expect(classifications.map(({ label }) => label)).toEqual(["football", "baking"]);
    expect(classifications.map((one) => one.input)).toEqual(input.texts);
    for (const { confidence } of classifications) expect(confidence).toBeWithin(0.5, 1.0001);
    const examples = [["Knead.", "cooking"]];
    const { problems } = await refusalOf(runLocal(local, "text/custom_classification", { ...input, examples }));
    expect(problems[0].loc).toEqual(["body", "input", "examples", 0]);
  });

  test("an answer is a sentence of the texts, and a question about something else gets none", async () => {
    const texts = ["The dome was used to store grain. Visitors are welcome on Saturdays.", "Dogs travel free."];
    const answered = await outputOf("text/question_answer", { texts, question: "When can I visit?" });
    expect((answered["answers"] as string[])[0]).toBe("Visitors are welcome on Saturdays.");
    const other = await outputOf("text/question_answer", { texts, question: "How do I install a printer driver?" });
    expect(other["answers"]).toEqual([]);
  });

  test("moderation without a model uses the sentence model, and the list of words is still available by its name", async () => {
    const input = { text: "You are the dumbest person I have ever met.", language: "en" };
    expect(await outputOf("text/moderation", input, "obscenity")).toMatchObject({ nsfw_likelihood: 0, items: [] });
    const { items, nsfw_likelihood } = await outputOf("text/moderation", input);
    expect(nsfw_likelihood).toBeGreaterThan(2);
    expect(items).toMatchObject([{ label: "insult", category: "Toxic", subcategory: "Insult" }]);
    expect(await outputOf("text/moderation", input, "minilm")).toEqual(await outputOf("text/moderation", input));
  });

  test("moderation tells a report or an idiom from a threat", async () => {
    const scoreOf = async (text: string) =>
      (await outputOf("text/moderation", { text, language: "en" }, "minilm"))["nsfw_likelihood"];
    for (const text of [
      'He was jailed because he had written "I will cut your throat" to a judge.',
      "Two men were stabbed in a bar on Friday night, the police reported.",
      "The supervisor kills worker threads that hang.",
    ])
      expect(await scoreOf(text)).toBe(0);
    for (const text of ["I will cut your throat while you sleep.", "Nobody would miss you, so take the pills."])
      expect(await scoreOf(text)).toBeGreaterThan(2);
  });

  test("the engines that come with the gateway stay the default for summaries and keywords", async () => {
    const [plain, named] = [
      await runLocal(local, "text/summarize", { text: prose, language: "en", output_sentences: 1 }),
      await runLocal(local, "text/keyword_extraction", { text: prose, language: "en" }),
    ];
    expect(JSON.stringify([plain.original, named.original])).not.toContain("MiniLM");
  });

  test("a word with a harmless meaning is bad only in a sentence that may be harmful", async () => {
    const harmless = {
      text: "The pussy willow in the garden is in bloom, and the tits are building a nest.",
      language: "en",
    };
    expect(await outputOf("text/moderation", harmless)).toMatchObject({ nsfw_likelihood: 0, items: [] });
    const harmful = { text: "Show me your tits, and then your pussy.", language: "en" };
    const { items } = (await outputOf("text/moderation", harmful)) as { items: Members[] };
    expect(items.map(({ label }) => label)).toContain("pussy");
    const both = { text: `${harmless.text} ${harmful.text}`, language: "en" };
    expect(
      ((await outputOf("text/moderation", both)) as { items: Members[] }).items.map(({ label }) => label),
    ).toContain("tit");
  });

  test("one bad sentence in a long text is found, once", async () => {
    const text = `${prose.repeat(20)} I will find you and break your legs. ${prose.repeat(20)} I am going to kill you.`;
    const { items } = await outputOf("text/moderation", { text, language: "en" }, "minilm");
    expect((items as Members[]).map(({ label }) => label)).toEqual(["threat"]);
  });

  test("a summary has the requested number of sentences of the text, in their order", async () => {
    const text =
      "The pool leaks. The council voted to close the pool for repairs. It was cold. Clubs must move to another pool.";
    const { result } = await outputOf("text/summarize", { text, language: "en", output_sentences: 2 }, "minilm");
    const sentences = String(result).split(/(?<=\.) /);
    expect(sentences).toHaveLength(2);
    for (const sentence of sentences) expect(text).toContain(sentence);
    expect(text.indexOf(sentences[0] ?? "")).toBeLessThan(text.indexOf(sentences[1] ?? ""));
    const all = await outputOf("text/summarize", { text, language: "en", output_sentences: 1_000_000 }, "minilm");
    expect(all["result"]).toBe(text);
  });

  test("keywords come with the most important first, and none of them twice", async () => {
    const { items } = await outputOf("text/keyword_extraction", { text: prose.repeat(3), language: "en" }, "minilm");
    const keywords = items as { keyword: string; importance: number }[];
    expect(keywords[0]?.importance).toBe(1);
    expect(keywords.map(({ importance }) => importance)).toEqual(
      keywords.map(({ importance }) => importance).toSorted((a, b) => b - a),
    );
    expect(new Set(keywords.map(({ keyword }) => keyword)).size).toBe(keywords.length);
  });

  test("answers to unusual texts match the schema", async () => {
    await outputOf("text/embeddings", { texts: oddTexts });
    await outputOf("text/search", { texts: oddTexts, query: "\ud800 ?" });
    await outputOf("text/question_answer", { texts: oddTexts, question: "?" });
    await outputOf("text/custom_classification", { texts: oddTexts, labels: ["a", "?"], examples: [["x", "a"]] });
    for (const text of oddTexts) {
      for (const task of ["text/keyword_extraction", "text/moderation", "text/summarize"])
        await outputOf(task, { text, language: "en" }, "minilm");
    }
  }, 300_000);

  test("texts in another language are refused where only English is understood", async () => {
    const text =
      "Le dernier train était déjà parti quand nous sommes arrivés à la gare, alors nous sommes rentrés à pied.";
    for (const task of ["text/keyword_extraction", "text/moderation", "text/summarize"]) {
      const { problems } = await refusalOf(runLocal(local, task, { text }, { model: "minilm" }));
      expect(problems[0].loc).toEqual(["body", "input", "language"]);
    }
  });

  test("a text that is too long is refused with the maximum length", async () => {
    const text = "A short sentence. ".repeat(10_000);
    for (const task of ["text/keyword_extraction", "text/moderation", "text/summarize"]) {
      const { problems } = await refusalOf(runLocal(local, task, { text, language: "en" }, { model: "minilm" }));
      expect(problems[0]).toMatchObject({ loc: ["body", "input", "text"], type: "string_too_long" });
    }
  });

  test("the memory of the worker does not grow over many calls", async () => {
    const texts = Array.from({ length: isFullRun ? 16 : 8 }, (_, index) => `${prose}${index}`);
    const call = () => outputOf("text/embeddings", { texts });
    for (let warm = 0; warm < 3; warm++) await call();
    const before = memoryOf(local);
    const after: number[] = [];
    for (let more = 0; more < 25; more++) {
      await call();
      after.push(memoryOf(local));
    }
    // A single reading may be taken just before garbage is collected.
    expect(Math.min(...after.slice(-10)) - before).toBeLessThan(60 * 1_048_576);
  }, 300_000);

  test("every call whose speed is measured is answered", async () => {
    for (const { task, input, model } of meaningSamples)
      expect(fitsTask(task, await runnerOf(local)(task, input, model))).toBe(true);
  });

  test.skipIf(!isFullRun)(
    "no engine is worse on the labelled sets than it was",
    async () => {
      const lines = await measureMeaning(runnerOf(local), "test", () => {});
      // A little below what was measured: another processor rounds in another way.
      const least: Readonly<Record<string, number>> = {
        "text/embeddings": 65,
        "text/custom_classification": 85,
        "text/question_answer the sentence": 78,
        "text/question_answer questions": 66,
        "text/summarize/local/minilm the": 62,
        "text/summarize/local/minilm held-out": 50,
        "text/keyword_extraction/local/minilm expected": 65,
        "text/keyword_extraction/local/minilm second": 60,
      };
      for (const [start, percent] of Object.entries(least)) {
        const found = lines.filter(({ task, measure }) => `${task} ${measure}`.startsWith(start));
        expect(found).toHaveLength(1);
        expect(Number.parseFloat(found[0]?.result ?? "")).toBeGreaterThanOrEqual(percent);
      }
      const moderation = lines.find(({ task }) => task === "text/moderation/local/minilm");
      for (const figure of moderation?.result.match(/[\d.]+/g) ?? ["none"])
        expect(Number(figure)).toBeGreaterThanOrEqual(88);
    },
    240_000,
  );
});

function memoryOf({ state }: LocalEngines): number {
  const { light, heavy } = state();
  return light.memoryBytes + heavy.memoryBytes;
}

test("every engine of the sentence model states its group and has one model name", () => {
  const engines = localEngines.filter(({ packages }) => sentenceModelPackages.every((name) => packages.includes(name)));
  expect(engines).toHaveLength(7);
  for (const { group, models } of engines) {
    expect(group).toBe("embeddings");
    expect(models).toHaveLength(1);
  }
});

describe("POST /v3/embeddings", () => {
  let ticker: Ticker;
  let http: HttpClient;
  let embeddings: Embeddings;
  const shutdownSignal = new AbortController();
  const reports: unknown[] = [];

  beforeAll(() => {
    ticker = createTicker(50);
    http = new HttpClient(ticker);
    embeddings = assemble(local.engines);
  });
  afterAll(() => {
    http.close();
    ticker.close();
  });

  function assemble(engines: LocalEngines["engines"]): Embeddings {
    const here = createLocalEmbeddings(engines);
    const providers = configureProviders([...rows, here.row], {}, () => null);
    const pricing = createPricing(createPriceBook(builtInPrices, {}, new Set([here.row.name])));
    const clocks = {
      connectTimeoutMs: 1_000,
      firstByteTimeoutMs: 60_000,
      idleTimeoutMs: 60_000,
      totalTimeoutMs: 60_000,
    };
    return createEmbeddings({
      providers,
      candidateLoop: new CandidateLoop({ retries: 0 }),
      pricing,
      callLimits: createCallLimits(),
      outputTokensToReserve: 4_096,
      checkLedger: () => {},
      clocks,
      ticker,
      http,
      shutdownSignal: shutdownSignal.signal,
      report: (attempt) => reports.push(attempt),
      local: here,
      router: createRoutePlanner({
        table: { providers, aliases: new Map(), features: new Set(["text"]) },
        health: new HealthBook({ breakerFailures: 0, breakerWindowMs: 1_000, breakerOpenMs: 1_000 }),
        typicalCost: pricing.typicalCost,
        serves: ({ dialect }) => dialect === null || dialect.embeddings !== undefined,
        endpoint: "embeddings",
      }),
    });
  }

  const caller: Caller = { ...anyCaller, scopes: new Set(["embeddings"]) };

  async function embed(body: Members, over: Embeddings = embeddings, signal = new AbortController().signal) {
    const text = JSON.stringify({ model: "local/all-minilm-l6-v2", ...body });
    const value = JSON.parse(text);
    return JSON.parse(
      await over.embed({
        request: createEmbeddingsRequest(new Set()).parse(value),
        value,
        text,
        scan: scanJson(text, { maxDepth: 64, maxTokens: 1_000_000 }),
        caller,
        connection: { signal },
        requestId: "test",
        trace: new Trace(performance.now(), 0),
        wantsMetadata: true,
      }),
    );
  }

  test.skipIf(!isInstalled)(
    "local/all-minilm-l6-v2 answers in the OpenAI shape, with its tokens and for nothing",
    async () => {
      const answer = await embed({ input: ["hello world", "The cat sleeps."] });
      expect(answer).toMatchObject({
        object: "list",
        model: "all-minilm-l6-v2",
        provider: "local",
        cost: 0,
        // Four for the first: the two words, and the marks of beginning and end.
        usage: { prompt_tokens: 10, total_tokens: 10 },
      });
      expect(answer.data.map(({ object, index }: Members) => [object, index])).toEqual([
        ["embedding", 0],
        ["embedding", 1],
      ]);
      const [{ embedding }] = answer.data;
      expect(embedding).toEqual(vectorsOf(await outputOf("text/embeddings", { texts: ["hello world"] }))[0]);
      expect(reports.at(-1)).toMatchObject({
        provider: "local",
        model: "all-minilm-l6-v2",
        outcome: "completed",
        charge: { cost: 0 },
      });
    },
  );

  test.skipIf(!isInstalled)("base64 holds the same numbers as 32-bit floats", async () => {
    const [plain, packed] = [
      await embed({ input: "hello" }),
      await embed({ input: "hello", encoding_format: "base64" }),
    ];
    const bytes = Buffer.from(packed.data[0].embedding, "base64");
    const floats = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
    expect(floats).toEqual(plain.data[0].embedding.map(Math.fround));
  });

  test("token numbers are refused with their location", async () => {
    for (const input of [
      [1, 2, 3],
      [[1, 2], [3]],
    ]) {
      const { problems } = await refusalOf(embed({ input }));
      expect(problems[0]).toMatchObject({ loc: ["body", "input"], type: "unsupported_parameter" });
    }
  });

  test.skipIf(!isInstalled)(
    "other dimensions and too long a text are refused at their place in this request",
    async () => {
      const dimensions = await refusalOf(embed({ input: "a", dimensions: 256 }));
      expect(dimensions.problems[0].loc).toEqual(["body", "dimensions"]);
      const long = await refusalOf(embed({ input: ["a", "b ".repeat(9_000)] }));
      expect(long.problems[0].loc).toEqual(["body", "input", 1]);
    },
  );

  test.skipIf(!isInstalled)(
    "unsupported parameters are named as dropped, or refused with strict_parameters",
    async () => {
      const answer = await embed({ input: "a", input_type: "search_query" });
      expect(answer.switchyard).toMatchObject({ dropped_parameters: ["input_type"] });
      const strict = embed({ input: "a", input_type: "search_query", strict_parameters: true });
      expect((await refusalOf(strict)).problems[0].loc).toEqual(["body", "input_type"]);
    },
  );

  test.skipIf(!isInstalled)("the work ends when the caller disconnects", async () => {
    const controller = new AbortController();
    const asked = embed({ input: Array.from({ length: 30 }, () => "b ".repeat(8_000)) }, embeddings, controller.signal);
    setTimeout(() => controller.abort(), 100);
    expect(await asked.catch((error: unknown) => error)).toBeInstanceOf(CallerLeft);
  });

  test("another model of the provider is not found", async () => {
    const error = await embed({ model: "local/other", input: "a" }).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: "model_not_found" });
  });

  test("without the group nothing is listed, and a request is answered with the command that adds it", async () => {
    const missing =
      "The local engine for text/embeddings needs x. Run `npx switchyard-gateway engines add embeddings`.";
    const without = local.engines.map((engine) =>
      engine.task === "text/embeddings" ? { ...engine, unavailableReason: missing } : engine,
    );
    expect(createLocalEmbeddings(without).row.embeddings?.models).toEqual([]);
    const error = await embed({ input: "a" }, assemble(without)).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: "provider_not_configured", message: missing });
  });

  test.skipIf(!isInstalled)("the model is listed with its properties", () => {
    const { row } = createLocalEmbeddings(local.engines);
    expect(row.chat).toBeUndefined();
    expect(row).toMatchObject({
      isFree: true,
      embeddings: { models: [{ id: "all-minilm-l6-v2", dimensions: 384, maxInputTokens: 8_192 }] },
    });
  });
});
