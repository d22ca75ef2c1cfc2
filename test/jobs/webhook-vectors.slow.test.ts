import { describe, expect, test } from "bun:test";
import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { canonicalizeJsonText, toCanonicalJson } from "../../src/jobs/canonical-json.ts";
import { toWebhookBody, toWebhookPayload } from "../../src/jobs/webhook-payload.ts";
import { signDigest, verifyWebhook } from "../../src/jobs/webhook-signature.ts";
import type { JobRecord } from "../../src/storage/job-records.ts";
import vectorFile from "../cases/webhook-vectors.json";
import { measureGrowth } from "../support/cpu-time.ts";

const { vectors } = vectorFile;
const privateKey = createPrivateKey(vectorFile.private_key_pem);
const publicKey = createPublicKey(vectorFile.public_key_pem);
const python = Bun.which("python3");

/** JSON.parse forgets how these were written: 1.0, -0.0, digits beyond 2^53. A receiver in Python keeps it. */
const keptByPythonOnly: Readonly<Record<string, string>> = {
  float_integral: `{"x": 1, "y": 100}`,
  float_large: `{"a": 10000000000000000, "b": 1e+21, "c": 1.5e+300}`,
  neg_zero: `{"a": 0, "b": 0}`,
  bigint: `{"id": 9007199254740992, "u64": 18446744073709552000}`,
};

function headersOf(headers: Record<string, string>): (name: string) => string | null {
  return (name) => headers[name] ?? null;
}

describe("the signed examples", () => {
  test.each(vectors)("$name: the canonical form of its text is the same, byte for byte", ({ input, ...vector }) => {
    const bytes = Buffer.from(canonicalizeJsonText(input));
    expect(bytes.toString()).toBe(vector.canonical);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(vector.sha256_hex);
  });

  test.each(vectors)("$name: the signature is the same, and is found good", async ({ canonical, signature_hex }) => {
    const body = Buffer.from(canonical);
    expect(await signDigest(body, privateKey)).toBe(signature_hex);
    const keys = { rsa: [publicKey], ed25519: [] };
    const header = headersOf({ "x-service-signature": signature_hex, "x-service-hash-algorithm": "SHA256" });
    expect(verifyWebhook({ body, header, keys, nowMs: null })).toEqual([
      { scheme: "X-Service-Signature", isGood: true, says: "good" },
    ]);
  });

  test.each(vectors)("$name: what is written of the parsed value is the same, numbers aside", ({
    input,
    ...vector
  }) => {
    const ours = toCanonicalJson(JSON.parse(input));
    const members = keptByPythonOnly[vector.name];
    if (members === undefined) return expect(ours).toBe(vector.canonical);
    const compact = ours.replace(/\n\s*/g, "").replaceAll(",", ", ");
    return expect(compact).toContain(members);
  });

  test("an example that names a job comes out of that job, byte for byte", () => {
    const minimal = vectors.find(({ name }) => name === "minimal");
    const { output } = JSON.parse(minimal?.input ?? "");
    expect(toWebhookBody(jobWith({ result: { output } })).toString()).toBe(minimal?.canonical ?? "");
    const fail = vectors.find(({ name }) => name === "fail");
    const failed = jobWith({ status: "fail", result: { error: { message: "boom" } } });
    expect(toWebhookBody(failed).toString()).toBe(fail?.canonical ?? "");
  });
});

describe("canonical JSON", () => {
  test("keys are sorted by code point, the broken ones by what they become", () => {
    const value = { "\u{1f600}": 1, "\uffee": 2, "\ue000": 3, "a\u{1f600}": 4, "a\uffee": 5, "\ud800": 6, b: 7, a: 8 };
    const keys = Object.keys(JSON.parse(toCanonicalJson(value)));
    expect(keys).toEqual(["a", "a\uffee", "a\u{1f600}", "b", "\ue000", "\uffee", "\ufffd", "\u{1f600}"]);
  });

  test("keys that differ in a broken character alone become one", () => {
    expect(toCanonicalJson({ "\ud800": 1, "\ud801": 2 })).toBe(`{\n  "\ufffd": 2\n}`);
  });

  test("a lone surrogate in a text is sent as the replacement character", () => {
    expect(toCanonicalJson(["a\ud83d", "\ude00b", "\u{1f600}"])).toBe(
      `[\n  "a\ufffd",\n  "\ufffdb",\n  "\u{1f600}"\n]`,
    );
  });

  /** What Python 3.11 prints for json.dumps(json.loads(text)). */
  const spellings: readonly (readonly [text: string, python: string])[] = [
    ["9007199254740993", "9007199254740993"],
    ["-18446744073709551615", "-18446744073709551615"],
    ["0.00001", "1e-05"],
    ["0.000012", "1.2e-05"],
    ["0.0001", "0.0001"],
    ["0.00012345", "0.00012345"],
    ["1e-7", "1e-07"],
    ["-2.5E-9", "-2.5e-09"],
    ["5e-324", "5e-324"],
    ["1.7976931348623157e308", "1.7976931348623157e+308"],
    ["1e21", "1e+21"],
    ["1e16", "1e+16"],
    ["1e15", "1000000000000000.0"],
    ["123456789012345680000", "123456789012345680000"],
    ["1.0", "1.0"],
    ["100.50", "100.5"],
    ["-0", "0"],
    ["-0.0", "-0.0"],
    ["0.1", "0.1"],
    ["0.30000000000000004", "0.30000000000000004"],
  ];

  test("a number is spelled as Python spells it, and an integer keeps its digits", () => {
    for (const [text, python] of spellings) expect([text, canonicalizeJsonText(text)]).toEqual([text, python]);
  });

  test("a double is spelled as Python spells it", () => {
    const numbers = [1.2e-5, 1e-7, 1e21, 1.5e300, 123456789012345680000, -0, 0.1, 1, 1e16];
    const lines = toCanonicalJson(numbers).split("\n").slice(1, -1);
    expect(lines.map((line) => line.trim().replace(",", ""))).toEqual([
      ...["1.2e-05", "1e-07", "1e+21", "1.5e+300", "123456789012345680000", "0", "0.1", "1", "10000000000000000"],
    ]);
  });

  test("members that are undefined are absent, and what is not a number is null", () => {
    expect(toCanonicalJson({ b: undefined, a: [undefined, Number.NaN, Number.POSITIVE_INFINITY] })).toBe(
      `{\n  "a": [\n    null,\n    null,\n    null\n  ]\n}`,
    );
  });

  test("a value that is nested thousands of times is written", () => {
    const depth = 5_000;
    const text = toCanonicalJson(JSON.parse("[".repeat(depth) + "]".repeat(depth)));
    expect(text.startsWith("[\n  [\n    [")).toBe(true);
    expect(text.replace(/\s/g, "")).toBe("[".repeat(depth) + "]".repeat(depth));
  });

  test("ten times the value needs about ten times the processor time, not a hundred times", async () => {
    const prepare = (length: number) => {
      const rows = Array.from({ length }, (_, index) => ({ text: `word ${index}`, box: { x: 0.5 } }));
      return () => toCanonicalJson(rows);
    };
    const growth = await measureGrowth({ prepare, length: 5_000, factor: 10, most: 40, negligibleMs: 0 });
    expect(growth).toBeLessThanOrEqual(40);
  });

  const pythonTest = test.skipIf(python === null);

  pythonTest("Python (python3) reads a payload and writes the same bytes", async () => {
    const random = startRandom(20_260_421);
    const ours = Array.from({ length: 4_000 }, () => toCanonicalJson(makeValue(random, 5)));
    expect(firstDifference(ours, await rewriteInPython(ours), ours)).toBeNull();
  });

  pythonTest("a text is read and written as Python (python3) does it, numbers of every kind included", async () => {
    const random = startRandom(7);
    const numbers = Array.from({ length: 3_000 }, () => makeNumberText(random));
    const texts = [...numbers, ...Array.from({ length: 1_000 }, () => JSON.stringify(makeValue(random, 4)))];
    expect(firstDifference(texts, await rewriteInPython(texts), texts.map(canonicalizeJsonText))).toBeNull();
  });
});

/** What one Python process makes of each of these texts. */
async function rewriteInPython(texts: readonly string[]): Promise<string[]> {
  const script = `import json, sys
for line in sys.stdin:
    print(json.dumps(json.dumps(json.loads(json.loads(line)), sort_keys=True, indent=2, ensure_ascii=False)))`;
  const stdin = Buffer.from(texts.map((text) => `${JSON.stringify(text)}\n`).join(""));
  const env = { ...process.env, PYTHONUTF8: "1" };
  const child = Bun.spawn([python ?? "", "-c", script], { stdin, env, stdout: "pipe", timeout: 60_000 });
  const lines = (await new Response(child.stdout).text()).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

function firstDifference(of: readonly string[], theirs: readonly string[], ours: readonly string[]): unknown {
  const index = of.findIndex((_, at) => theirs[at] !== ours[at]);
  return index === -1 ? null : { of: of[index], theirs: theirs[index], ours: ours[index] };
}

/** A seeded generator (mulberry32), so that a failure comes again. */
function startRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const specialTexts = [
  "",
  "__proto__",
  "constructor",
  "toString",
  "0",
  "9",
  "10",
  "-1",
  "1e3",
  "length",
  "\u2028",
  "\u007f",
];
const characters = [
  "a",
  "Z",
  "_",
  "é",
  "你",
  "\ue000",
  "\uffee",
  "\u{1f600}",
  '"',
  "\\",
  "/",
  "\u0000",
  "\u001f",
  "\n",
  "\u2029",
];

function makeText(random: () => number): string {
  if (random() < 0.3) return specialTexts[Math.floor(random() * specialTexts.length)] ?? "";
  const length = Math.floor(random() * 8);
  return Array.from({ length }, () => characters[Math.floor(random() * characters.length)]).join("");
}

function makeNumber(random: () => number): number {
  const kind = random();
  const sign = random() < 0.5 ? -1 : 1;
  if (kind < 0.3) return sign * Math.floor(random() * 1_000);
  if (kind < 0.5) return sign * Math.floor(random() * Number.MAX_SAFE_INTEGER);
  if (kind < 0.7) return sign * random() * 10 ** -Math.floor(random() * 12);
  if (kind < 0.8) return Math.round(random() * 9_999 + 1) / 10_000;
  return sign * (1 + random()) * 10 ** Math.floor(random() * 600 - 300);
}

/** As a number may stand in a text: with a point, an exponent, a sign, more digits than a double has. */
function makeNumberText(random: () => number): string {
  const digits = (most: number) => String(Math.floor(random() * 10 ** (1 + Math.floor(random() * most))));
  const fraction = random() < 0.5 ? `.${digits(17)}` : "";
  const exponent =
    random() < 0.4 ? `${random() < 0.5 ? "e" : "E"}${["", "+", "-"][Math.floor(random() * 3)]}${digits(2)}` : "";
  const whole = random() < 0.2 ? "0" : BigInt(digits(15)) * BigInt(digits(15));
  return `${random() < 0.5 ? "-" : ""}${whole}${fraction}${exponent}`;
}

function makeValue(random: () => number, depth: number): unknown {
  const kind = random();
  if (depth === 0 || kind < 0.4) return random() < 0.5 ? makeNumber(random) : makeText(random);
  if (kind < 0.5) return [null, true, false, {}, []][Math.floor(random() * 5)];
  const length = Math.floor(random() * 6);
  if (kind < 0.7) return Array.from({ length }, () => makeValue(random, depth - 1));
  // Through the parser: it alone makes a member of the name __proto__.
  const members = Array.from(
    { length },
    () => `${JSON.stringify(makeText(random))}:${JSON.stringify(makeValue(random, depth - 1))}`,
  );
  return JSON.parse(`{${members.join(",")}}`);
}

interface JobChanges {
  readonly status?: JobRecord["status"];
  readonly model?: string;
  readonly request?: Record<string, unknown>;
  readonly result?: unknown;
}

function jobWith({ status = "success", model, request = {}, result }: JobChanges): JobRecord {
  return {
    id: "550e8400-e29b-41d4-a716-446655440000",
    owner: "owner",
    keyId: "key",
    feature: "ocr",
    subfeature: "ocr_async",
    provider: "amazon",
    model: model ?? null,
    status,
    createdAt: Date.parse("2026-04-21T12:00:00Z"),
    finishedAt: Date.parse("2026-04-21T12:01:30Z"),
    expiresAt: Date.parse("2026-04-28T12:00:00Z"),
    runs: 1,
    progress: null,
    cost: null,
    costReason: null,
    webhookReceiver: "https://hooks.example.com/",
    request: JSON.stringify({ request: { model: "ocr/ocr_async/amazon", input: {}, ...request } }),
    checkpoint: null,
    result: JSON.stringify(result),
  };
}

describe("the payload", () => {
  const result = { output: { raw_text: "hello" }, original_response: { Blocks: [1e-7] } };

  test("what does not apply is absent, not null", () => {
    const payload = toWebhookPayload(jobWith({ request: { user_webhook_parameters: null }, result }));
    expect(Object.keys(payload).sort()).toEqual([
      ...["created_at", "event", "feature", "finished_at", "job_id", "model", "output", "provider", "status"],
      "subfeature",
    ]);
    const failed = toWebhookPayload(jobWith({ status: "fail", result: { error: { message: "boom" } } }));
    expect(failed.error).toEqual({ message: "boom" });
    expect("output" in failed).toBe(false);
  });

  test("the caller's parameters come back as they were sent, and the original response when it was asked for", () => {
    const sent = { order: 7, nested: { "10": [0.0000001], "9": "x" } };
    const request = { user_webhook_parameters: sent, show_original_response: true };
    const payload = toWebhookPayload(jobWith({ model: "v2", request, result }));
    expect(payload).toMatchObject({ model: "v2", user_parameters: sent, original_response: { Blocks: [1e-7] } });
    const unasked = toWebhookPayload(jobWith({ request: { show_original_response: false }, result }));
    expect("original_response" in unasked).toBe(false);
  });

  test("numbers of the caller and of the vendor come back digit for digit", () => {
    const job = jobWith({ request: { show_original_response: true }, result: null });
    const kept = { ...JSON.parse(job.request), userParameters: '{"id":9007199254740993,"one":1.0,"small":0.00001}' };
    const original = '{"ids":[18446744073709551615,-9223372036854775808],"score":2.50}';
    const told = toWebhookBody({
      ...job,
      request: JSON.stringify(kept),
      result: `{"output":{"score":0.0001,"tiny":0.000012},"original_response":${original}}`,
    }).toString();
    const compact = told.replace(/\n\s*/g, "").replaceAll(": ", ":");
    expect(compact).toContain('"user_parameters":{"id":9007199254740993,"one":1.0,"small":1e-05}');
    expect(compact).toContain('"original_response":{"ids":[18446744073709551615,-9223372036854775808],"score":2.5}');
    expect(compact).toContain('"output":{"score":0.0001,"tiny":1.2e-05}');
    expect(canonicalizeJsonText(told)).toBe(told);
  });

  test("times have milliseconds where there are some", () => {
    const job = { ...jobWith({ result }), createdAt: Date.parse("2026-04-21T12:00:00.042Z") };
    expect(toWebhookPayload(job).created_at).toBe("2026-04-21T12:00:00.042+00:00");
  });
});
