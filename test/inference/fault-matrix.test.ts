// Every fault of test/support/fault-table.ts, in two dialects: what the caller sees is what the table says.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pages } from "../../scripts/pages.ts";
import { answer } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
import { type FaultName, faultNames, faultTable, type Help, helps, type Seen } from "../support/fault-table.ts";
import { faultScript, healthyScript, type Wire, wires } from "../support/faults.ts";
import { findFreePort } from "../support/free-port.ts";
import type { Gateway } from "../support/gateway-settings.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { inParallel } from "../support/wait.ts";

const clockMs = 1_500;
let vendor: Vendor;
let gateway: Gateway;
let key: string;
const results = new Map<string, Promise<Seen>>();

beforeAll(async () => {
  vendor = await startVendor();
  const origin = `http://127.0.0.1:${vendor.port}`;
  const nobody = `http://127.0.0.1:${await findFreePort()}`;
  const settings = { api_key: "sk-mock", dialect: "openai" };
  const claude = { api_key: "sk-mock", dialect: "anthropic" };
  gateway = await testGateway({
    vendor,
    env: { SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: String(clockMs), SWITCHYARD_IDLE_TIMEOUT_MS: String(clockMs) },
    config: {
      providers: {
        openai: { ...settings, base_url: `${origin}/openai/v1` },
        "openai-backup": { ...settings, base_url: `${origin}/backup/v1` },
        "openai-away": { ...settings, base_url: nobody },
        anthropic: { ...claude, base_url: `${origin}/anthropic` },
        "anthropic-backup": { ...claude, base_url: `${origin}/backup` },
        "anthropic-away": { ...claude, base_url: nobody },
      },
    },
  });
  key = await gateway.createKey();
  // Retries are a share of the requests: enough of them first, so that the budget is not what is seen.
  await inParallel(500, 50, async () => void (await (await ask(gateway.url, key, hello)).text()));
  // All at once: each has models of its own, so none is in another's way.
  for (const { name, run } of allCases()) results.set(name, run());
  await Promise.allSettled(results.values());
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

interface Case {
  readonly wire: Wire;
  readonly isStream: boolean;
  readonly fault: FaultName;
  readonly help: Help;
}

function nameOf({ wire, isStream, fault, help }: Case): string {
  return `${wire}, ${isStream ? "stream" : "whole"}, ${fault}, ${help}`;
}

function* allCases(): Generator<{ name: string; run: () => Promise<Seen> }> {
  for (const wire of wires)
    for (const isStream of [false, true])
      for (const fault of faultNames)
        for (const help of helps) {
          const one = { wire, isStream, fault, help };
          yield { name: nameOf(one), run: () => observe(one) };
        }
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
  expect(await Bun.file("docs/faults.md").text()).toBe(pages().get("docs/faults.md") ?? "no such page");
});

async function observe({ wire, isStream, fault, help }: Case): Promise<Seen> {
  const [model, backup] = [`m-${results.size}`, `b-${results.size}`];
  const { promise: seen, resolve: hasContent } = Promise.withResolvers<void>();
  const script = faultScript(fault, { wire, isStream, seen });
  if (script !== null) vendor.on(model, script);
  vendor.on(backup, help === helps[1] ? healthyScript(wire, isStream) : answer(500, { error: { message: "too" } }));
  const response = await ask(
    gateway.url,
    key,
    {
      ...hello,
      model: `${wire}${script === null ? "-away" : ""}/${model}`,
      stream: isStream,
      ...(help === helps[0] ? {} : { fallbacks: [`${wire}-backup/${backup}`] }),
    },
    { signal: AbortSignal.timeout(20_000) },
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
