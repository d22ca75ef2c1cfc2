// GET /v3/manage/live: the counters of requests and attempts, for pages that show what happens now.

import { expect, test } from "bun:test";
import { type LiveFigures, liveFigures } from "../../src/contract/live.ts";
import { testGateway } from "../support/test-gateway.ts";

const total = ({ counts }: LiveFigures["latency"]) => counts.reduce((sum, count) => sum + count, 0);

test("requests, attempts, tokens and times are counted, and requests for people are not", async () => {
  await using gateway = await testGateway({ env: { SWITCHYARD_RETRIES: "0" } });
  const key = await gateway.createKey();
  const read = async () => liveFigures.parse(await gateway.manage("GET", "/live"));
  const chat = async (model: string, stream = false) => {
    const response = await fetch(`${gateway.url}/v3/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello there" }] }),
    });
    await response.text();
    return response.status;
  };
  const before = await read();
  expect(before).toMatchObject({ requests: 0, errors: 0, attempts: 0, failed_attempts: 0, input_tokens: 0, cost: 0 });
  expect([total(before.latency), total(before.first_token)]).toEqual([0, 0]);

  expect(await chat("sandbox/echo")).toBe(200);
  expect(await chat("sandbox/echo", true)).toBe(200);
  expect(await chat("sandbox/error-500")).toBeGreaterThanOrEqual(500);
  expect(await chat("unknown/model")).toBe(404);
  // Neither a list of models nor a page of operators is work of a caller.
  await fetch(`${gateway.url}/v3/models`);
  await gateway.manage("GET", "/keys");

  const after = await read();
  expect(after).toMatchObject({ requests: 4, errors: 2 });
  expect(after.attempts - after.failed_attempts).toBe(2);
  expect(after.failed_attempts).toBeGreaterThan(0);
  expect(after.input_tokens).toBeGreaterThan(0);
  expect(after.output_tokens).toBeGreaterThan(0);
  expect(total(after.latency)).toBe(after.attempts);
  expect(total(after.first_token)).toBe(1);
  expect(after.latency.counts).toHaveLength(after.latency.bounds_ms.length + 1);
  expect(after.latency.bounds_ms).toContain(1_000);
});
