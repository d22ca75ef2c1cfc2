// A conformance probe that others wrote (npm's llmprobe), unchanged, against the sandbox: every demand (MUST) that it makes of the
// model list, of chat completions, of responses and of messages. It is as plain a client as there is: all clients rely on its demands.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gateway } from "../support/gateway-settings.ts";
import { findViolations, hasPublishedSchemas } from "../support/published-schemas.ts";
import { type Recorder, startRecorder } from "../support/recorder.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { within } from "../support/wait.ts";

const program = join(import.meta.dir, "../tools/agents/node_modules/llmprobe/bin/dist/llmprobe.mjs");
const surfaces: readonly string[] = ["models", "chat", "responses", "messages"];
const probeTimeoutMs = 60_000;

interface Report {
  readonly incomplete?: string;
  readonly conformance: {
    readonly bySurface: readonly { readonly surface: string; readonly passed: number; readonly total: number }[];
    readonly results: readonly Result[];
  };
}

interface Result {
  readonly id: string;
  readonly surface: string;
  readonly outcome: "pass" | "fail" | "inconclusive" | "unsupported" | "skipped" | "unreachable";
  readonly reason?: string;
  readonly failures: readonly { readonly id: string; readonly severity: string; readonly message: string }[];
}

/** The outcome by the id of a test, with the message of a failed demand. */
type Excuses = Readonly<Record<string, string>>;

// What no gateway can show with a model that has no mind, or what the probe does not ask: none of it is a failed demand.
const excusedAlways: Excuses = {
  // It makes no demand: it wants to see whether a model goes on with a sentence that was begun for it.
  "chat-assistant-prefill": "inconclusive",
  // Its demands are for the chat surface only.
  "responses-reasoning-roundtrip": "unsupported",
  // It does not ask: it has no MCP server of its own yet.
  "responses-mcp-tools": "unsupported",
  // Work in the background needs a provider that has it; the refusal is clean, which is what the probe demands.
  "responses-background": "unsupported",
  // It makes no demand where there are no such headers.
  "chat-rate-limit-headers": "unsupported",
  "responses-rate-limit-headers": "unsupported",
  "messages-rate-limit-headers": "unsupported",
  "messages-assistant-prefill": "inconclusive",
  // The sandbox does not run into a stop sequence of the probe's.
  "messages-stop-sequence-echo": "inconclusive",
  // Without `cache_control` this format promises no cache
  // (https://platform.claude.com/docs/en/build-with-claude/prompt-caching), and the probe sends none.
  "messages-prompt-caching": "fail: cached_tokens was 0 on an identical repeated prompt",
};

// Only a model that thinks can spend its limit on thinking: `sandbox/reasoning` shows these.
const excusedThoughtless: Excuses = {
  "chat-reasoning-cap": "inconclusive",
  "responses-reasoning-cap": "inconclusive",
  "messages-reasoning-cap": "inconclusive",
  "messages-thinking-budget": "inconclusive",
};

// The probe holds `cache_read_input_tokens` to at most `input_tokens`, as in the other formats; in this format, `input_tokens` counts
// only what was not read from the cache (same page, "Tracking cache performance").
const cacheBound = (cached: number, input: number): Excuses => ({
  "messages-prompt-cache-prefix": `fail: cached_tokens ${cached} > prompt_tokens ${input}`,
});

interface Run {
  readonly title: string;
  readonly model: string;
  readonly storesForAll: boolean;
  readonly excused: Excuses;
}

const runs: readonly Run[] = [
  {
    title: "with default settings",
    model: "sandbox/transcript",
    storesForAll: false,
    excused: {
      ...excusedAlways,
      ...excusedThoughtless,
      ...cacheBound(611, 40),
    },
  },
  {
    title: "with conversations kept for all: what was said before is remembered",
    model: "sandbox/transcript",
    storesForAll: true,
    excused: { ...excusedAlways, ...excusedThoughtless, ...cacheBound(611, 40) },
  },
  {
    title: "with a model that thinks",
    model: "sandbox/reasoning",
    storesForAll: false,
    excused: {
      ...excusedAlways,
      ...cacheBound(611, 17),
      // It answers with thoughts of its own, which name no word of the system prompt.
      "messages-system-blocks": "inconclusive",
      // It repeats the last message, and so cannot show that it was told the earlier ones.
      "responses-previous-response-id":
        'fail: expected the model to recall "Ada", got: "You said: What is my name? Reply with just the name."',
    },
  },
];

let vendor: Vendor;
let folder: string;

beforeAll(async () => {
  vendor = await startVendor();
  folder = await mkdtemp(join(tmpdir(), "switchyard-probe-"));
});

afterAll(async () => {
  await vendor?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function probe(url: string, key: string, model: string, depth: "--full" | "--quick"): Promise<Report> {
  const file = join(folder, `${crypto.randomUUID()}.json`);
  const options = [depth, "--no-bench", "--no-save", "--no-color", "--timeout", "20", "--save", file];
  const child = Bun.spawn(["node", program, `${url}/v3`, "-k", key, "-m", model, ...options], {
    // Nothing of the person who runs the tests is read or written.
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = new Response(child.stdout).text();
  try {
    await within(probeTimeoutMs, "the probe to end", child.exited);
  } finally {
    child.kill();
  }
  if (!(await Bun.file(file).exists())) throw new Error(`the probe left no report:\n${await output}`);
  return (await Bun.file(file).json()) as Report;
}

/** Everything but what passed. */
function shortcomings({ conformance }: Report): Record<string, string> {
  const ours = conformance.results.filter(({ surface }) => surfaces.includes(surface));
  return Object.fromEntries(
    ours
      .filter(({ outcome }) => outcome !== "pass")
      .map(({ id, outcome, failures }) => [id, [outcome, ...failures.map(({ message }) => message)].join(": ")]),
  );
}

describe.each([...runs])("$title ($model)", ({ model, storesForAll, excused }) => {
  let gateway: Gateway;
  let recorder: Recorder;
  let report: Report;

  beforeAll(async () => {
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
    gateway = await testGateway({
      vendor,
      ...(storesForAll && {
        env: { SWITCHYARD_RESPONSES_STORE_FOR_ALL: "true", SWITCHYARD_ENCRYPTION_KEY: random },
      }),
    });
    recorder = startRecorder(gateway.url);
    report = await probe(recorder.url, await gateway.createKey(), model, "--full");
  });

  afterAll(async () => {
    await recorder?.stop();
    await gateway?.stop();
  });

  test("every demand is met, but for what is excused by name", () => {
    expect(report.incomplete).toBeUndefined();
    expect(shortcomings(report)).toEqual({ ...excused });
  });

  test.each([
    ["models", 4],
    ["chat", 90],
    ["responses", 85],
    ["messages", 85],
  ])("%s: at least %i demands were made, and all of them met, but for what is excused by name", (surface, least) => {
    const score = report.conformance.bySurface.find((one) => one.surface === surface);
    expect(score?.total).toBeGreaterThanOrEqual(least);
    const failing = Object.entries(excused).filter(([id, told]) => id.startsWith(surface) && told.startsWith("fail"));
    expect(score?.passed).toBe((score?.total as number) - failing.length);
  });

  test.skipIf(!hasPublishedSchemas)("every answer and every event fits the published schemas", async () => {
    expect(recorder.exchanges.length).toBeGreaterThan(100);
    expect(findViolations(recorder.exchanges)).toEqual([]);
  });
});

test("the probe can fail: it notices a model whose answers break off", async () => {
  const gateway = await testGateway({ vendor });
  try {
    const found = shortcomings(await probe(gateway.url, await gateway.createKey(), "sandbox/cut", "--quick"));
    expect(found).toMatchObject({
      "chat-streaming": expect.stringContaining("fail"),
      "responses-streaming": expect.stringContaining("fail"),
    });
  } finally {
    await gateway.stop();
  }
});
