// Embeddings and model names of the sandbox provider, at their limits.

import { describe, expect, test } from "bun:test";
import { readEmbeddingsModel, writeEmbeddings } from "../../src/providers/sandbox/embeddings.ts";
import { findBehaviour } from "../../src/providers/sandbox/models.ts";
import { SandboxRefusal } from "../../src/providers/sandbox/refusal.ts";
import { thrownBy } from "../support/thrown.ts";

interface Answer {
  readonly model: string;
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] | string }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

const bytesOf = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const embed = (members: object): Answer => JSON.parse(writeEmbeddings(bytesOf({ model: "embedding", ...members })));
const vectorsOf = (members: object) => embed(members).data.map(({ embedding }) => embedding as readonly number[]);
const similarity = (one: readonly number[] = [], other: readonly number[] = []) =>
  one.reduce((sum, number, index) => sum + number * (other[index] ?? 0), 0);

describe("an embedding", () => {
  test("has length 1, and 256 dimensions unless the caller wants others", () => {
    const [usual = []] = vectorsOf({ input: "a train" });
    expect([usual.length, similarity(usual, usual)]).toEqual([256, expect.closeTo(1, 4)]);
    expect([1, 4_096].map((dimensions) => vectorsOf({ input: "x", dimensions })[0]?.length)).toEqual([1, 4_096]);
  });

  test("is the same for the same words in another order, and similar for common words", () => {
    const [one, same, near, far] = vectorsOf({ input: ["a red train", "train a RED", "a red bus", "why not"] });
    expect(same).toEqual(one as number[]);
    expect(similarity(one, near)).toBeGreaterThan(similarity(one, far));
  });

  test("is made of a text, of tokens, or of each of a list", () => {
    const countOf = (input: unknown) => embed({ input }).data.map(({ index }) => index);
    expect([countOf("a"), countOf([1, 2]), countOf(["a", "b"]), countOf([[1, 2], [3]])]).toEqual([
      [0],
      [0],
      [0, 1],
      [0, 1],
    ]);
    expect(vectorsOf({ input: ["a", "b"] })[0]).not.toEqual(vectorsOf({ input: ["a", "b"] })[1] as number[]);
    expect(embed({ input: ["one two", "three!"] }).usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
  });

  test("comes as floats or in base64", () => {
    const [floats = []] = vectorsOf({ input: "a", dimensions: 3 });
    const [{ embedding } = { embedding: "" }] = embed({ input: "a", dimensions: 3, encoding_format: "base64" }).data;
    const bytes = Buffer.from(String(embedding), "base64");
    expect([0, 1, 2].map((index) => bytes.readFloatLE(4 * index))).toEqual([...floats]);
  });

  test.each([
    ["input", { input: "" }],
    ["input", { input: [] }],
    ["input", { input: ["a", ""] }],
    ["input", {}],
    ["input", { input: new Array(2_049).fill("a") }],
    ["dimensions", { input: "a", dimensions: 0 }],
    ["dimensions", { input: "a", dimensions: 4_097 }],
    ["dimensions", { input: "a", dimensions: 1.5 }],
    ["dimensions", { input: "a", dimensions: "9" }],
  ])("is refused for its %s", (param, members) => {
    const refusal = thrownBy(() => embed(members), SandboxRefusal);
    expect(refusal).toMatchObject({ status: 400 });
    expect(refusal.message).toContain(`\`${param}\``);
  });

  test("is refused without a JSON object, and made of up to 2,048 texts", () => {
    for (const body of ["", "null", "5"])
      expect(thrownBy(() => writeEmbeddings(bytesOf(body)), SandboxRefusal).status).toBe(400);
    expect(embed({ input: new Array(2_048).fill("a"), dimensions: 1 }).data).toHaveLength(2_048);
    expect([readEmbeddingsModel(bytesOf({ model: "m" })), readEmbeddingsModel(bytesOf({ model: 5 }))]).toEqual([
      "m",
      "",
    ]);
  });
});

test.each([
  ["flood-1", { voice: { kind: "count", tokens: 1 }, fault: { kind: "none" } }],
  ["flood-100000", { voice: { kind: "count", tokens: 100_000 } }],
  ["flood-0", null],
  ["flood-100001", null],
  ["flood-<n>", null],
  ["error-400", { fault: { kind: "status", status: 400 } }],
  ["error-599", { fault: { kind: "status", status: 599 } }],
  ["error-399", null],
  ["error-600", null],
  ["slow", { fault: { kind: "slow", delayMs: 50 } }],
  ["slow-0", { fault: { kind: "slow", delayMs: 0 } }],
  ["slow-start-20", { fault: { kind: "slow-start", delayMs: 20 } }],
  ["slow-020", null],
  ["slow-999999", null],
  ["unknown-5", null],
  ["unknown", null],
])("the name %s means %j", (id, behaviour) => {
  if (behaviour === null) expect(findBehaviour(id)).toBeNull();
  else expect(findBehaviour(id)).toMatchObject(behaviour);
});
