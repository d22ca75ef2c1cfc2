// Every fault of test/support/fault-table.ts, in two dialects: what the caller sees is what the table says.

import { describe, expect, test } from "bun:test";
import { pages } from "../../scripts/pages.ts";
import { answer } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
import { type FaultName, faultNames, faultTable, type Help, helps, type Seen } from "../support/fault-table.ts";
import { faultScript, healthyScript, type Wire, wires } from "../support/faults.ts";
import { findFreePort } from "../support/free-port.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { inParallel } from "../support/wait.ts";

/** Faults that end by a timeout. */
const timedFaults: readonly FaultName[] = ["no first byte in time", "stall in mid-answer"];
const timeoutMs = 3_000;
const results = new Map<string, Promise<Seen>>();

const vendor = await startVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const unreachableUrl = `http://127.0.0.1:${await findFreePort()}`;
const settings = { api_key: "sk-mock", dialect: "openai" };
const claude = { api_key: "sk-mock", dialect: "anthropic" };
const config = {
  providers: {
    openai: { ...settings, base_url: `${origin}/openai/v1` },
    "openai-backup": { ...settings, base_url: `${origin}/backup/v1` },
    "openai-away": { ...settings, base_url: unreachableUrl },
    anthropic: { ...claude, base_url: `${origin}/anthropic` },
    "anthropic-backup": { ...claude, base_url: `${origin}/backup` },
    "anthropic-away": { ...claude, base_url: unreachableUrl },
  },
};
const gateways = {
  patient: await sharedGateway({ vendor, config }),
  // With short timeouts only for the faults that need one: a busy machine must not time out elsewhere.
  hasty: await sharedGateway({
    vendor,
    config,
    env: { SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: String(timeoutMs), SWITCHYARD_IDLE_TIMEOUT_MS: String(timeoutMs) },
  }),
};
const keys = { patient: await gateways.patient.createKey(), hasty: await gateways.hasty.createKey() };
for (const kind of ["patient", "hasty"] as const) {
  // Retries are a share of the requests: enough of them first, so that the retry budget is not what the tests see.
  await inParallel(500, 50, async () => void (await (await ask(gateways[kind].url, keys[kind], hello)).text()));
  // All at once: each has models of its own.
  for (const one of allCases()) if (kindOf(one) === kind) results.set(nameOf(one), observe(one));
  await Promise.allSettled(results.values());
}

interface Case {
  readonly wire: Wire;
  readonly isStream: boolean;
  readonly fault: FaultName;
  readonly help: Help;
}

function nameOf({ wire, isStream, fault, help }: Case): string {
  return `${wire}, ${isStream ? "stream" : "whole"}, ${fault}, ${help}`;
}

function* allCases(): Generator<Case> {
  for (const wire of wires)
    for (const isStream of [false, true])
      for (const fault of faultNames) for (const help of helps) yield { wire, isStream, fault, help };
}

function kindOf({ fault }: Case): "patient" | "hasty" {
  return timedFaults.includes(fault) ? "hasty" : "patient";
}

for (const wire of wires)
  for (const kind of ["whole", "stream"] as const)
    describe(`${kind === "whole" ? "a whole answer" : "a stream"} of a provider that speaks ${wire}`, () => {
      for (const row of faultTable)
        for (const help of helps)
          test(`${row.fault}, with ${help}`, async () => {
            const name = nameOf({ wire, isStream: kind === "stream", fault: row.fault, help });
            expect(await results.get(name)).toEqual(row[kind][help]);
          });
    });

test("every fault stands in the table once, and docs/faults.md shows it", async () => {
  expect(faultTable.map(({ fault }) => fault)).toEqual([...faultNames]);
  expect(await Bun.file("docs/faults.md").text()).toBe((await pages()).get("docs/faults.md") ?? "no such page");
});

async function observe(one: Case): Promise<Seen> {
  const { wire, isStream, fault, help } = one;
  const [model, backup] = [`m-${results.size}`, `b-${results.size}`];
  const { promise: seen, resolve: hasContent } = Promise.withResolvers<void>();
  const script = faultScript(fault, { wire, isStream, seen });
  if (script !== null) vendor.on(model, script);
  vendor.on(backup, help === helps[1] ? healthyScript(wire, isStream) : answer(500, { error: { message: "too" } }));
  const response = await ask(
    gateways[kindOf(one)].url,
    keys[kindOf(one)],
    {
      ...hello,
      model: `${wire}${script === null ? "-away" : ""}/${model}`,
      stream: isStream,
      ...(help === helps[0] ? {} : { fallbacks: [`${wire}-backup/${backup}`] }),
    },
    { signal: AbortSignal.timeout(100_000) },
  );
  const text = await readText(response, hasContent);
  const countOf = (name: string) => vendor.requests.filter((request) => request.model === name).length;
  return {
    status: response.status,
    code: readCode(response, text),
    retryAfter: response.headers.get("retry-after"),
    attempts: Number(response.headers.get("x-switchyard-attempts")),
    calls: [countOf(model), countOf(backup)],
  };
}

async function readText(response: Response, hasContent: () => void): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes("so far")) hasContent();
  }
  return text;
}

/** Null only for an answer that is complete, with all of its content. */
function readCode(response: Response, text: string): string | null {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const body = JSON.parse(text) as { error?: { code: string }; choices?: [{ message: { content: string } }] };
    if (body.error !== undefined) return body.error.code;
    expect(body.choices?.[0].message.content).toBe("all well");
    return null;
  }
  const { errors, done, content } = readChatStream(text);
  expect(done).toBe(errors.length === 0);
  expect(content).toBe(done ? "all well" : "so far");
  return errors[0]?.error.code ?? null;
}
