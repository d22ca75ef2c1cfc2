// Rate limits of a real gateway with two serving processes: all of them count together.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { answer, completion, hang } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const vendor = await startVendor();
let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGatewayProcess({ vendor, workers: 2 });
}, 300_000);
afterAll(() => gateway.stop(), 120_000);

/** Requests at once, each over a connection of its own, so that both processes get some. */
async function burst(key: string, count: number, body: unknown = hello): Promise<Response[]> {
  const headers = { connection: "close" };
  return await Promise.all(Array.from({ length: count }, () => ask(gateway.url, key, body, { headers })));
}

function countPassed(responses: readonly Response[]): number {
  for (const { status } of responses) expect([200, 429]).toContain(status);
  return responses.filter(({ status }) => status === 200).length;
}

describe("two processes", () => {
  test("let exactly 60 of a burst pass for 60 requests per minute", async () => {
    const key = await gateway.createKey({ name: "sixty", rate_limit: { requests_per_minute: 60 } });
    const responses = await burst(key, 150);
    expect(countPassed(responses)).toBe(60);
    for (const response of responses) expect(response.headers.get("x-ratelimit-limit-requests")).toBe("60");
    const refused = responses.find(({ status }) => status === 429);
    expect(refused?.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(40);
    expect(await refused?.json()).toMatchObject({
      error: {
        code: "rate_limit_exceeded",
        message: expect.stringContaining("The key 'sixty' may send 60 requests per minute"),
      },
    });
  });

  test("let exactly as many tokens pass as the limit has", async () => {
    const key = await gateway.createKey({ rate_limit: { tokens_per_minute: 20_000 } });
    // The vendor reports no usage, so each call counts as it was estimated: 1,000 of output, and some input.
    vendor.on("silent", answer(200, completion("x", { usage: undefined })));
    const body = { ...hello, model: "mock/silent", max_tokens: 1_000 };
    const [first] = await burst(key, 1, body);
    const each = 20_000 - Number(first?.headers.get("x-ratelimit-remaining-tokens"));
    expect(each).toBeGreaterThan(1_000);
    const responses = await burst(key, 60, body);
    expect(1 + countPassed(responses)).toBe(Math.floor(20_000 / each));
  });

  test("let exactly 7 requests run of a key that may run 7, and release those of a process that is killed", async () => {
    const key = await gateway.createKey({ rate_limit: { concurrent_requests: 7 } });
    vendor.on("held", [hang]);
    const leave = new AbortController();
    const hold = () =>
      ask(
        gateway.url,
        key,
        { ...hello, model: "mock/held" },
        { headers: { connection: "close" }, signal: leave.signal },
      );
    const outcomes: (number | null)[] = [];
    for (let index = 0; index < 40; index++)
      void hold().then(
        ({ status }) => outcomes.push(status),
        () => outcomes.push(null),
      );
    await waitFor("the refusals", () => outcomes.length === 33);
    expect(outcomes).toEqual(Array(33).fill(429));
    expect(vendor.requests.filter(({ model }) => model === "held")).toHaveLength(7);
    const { serving } = await gateway.processes();
    for (const pid of serving) process.kill(pid, "SIGKILL");
    await waitFor("the connections to be cut", () => outcomes.length === 40);
    await waitFor("new processes", async () => {
      const response = await burst(key, 1).catch(() => []);
      return response[0]?.status === 200;
    });
    const again = await burst(key, 7);
    expect(countPassed(again)).toBe(7);
    leave.abort();
  });

  test("remember what was counted over a reload and over the restart of a process", async () => {
    const key = await gateway.createKey({ rate_limit: { requests_per_minute: 10 } });
    expect(countPassed(await burst(key, 8))).toBe(8);
    const { serving: before } = await gateway.processes();
    gateway.signal("SIGHUP");
    await waitFor("new processes", async () => {
      const { serving } = await gateway.processes();
      return serving.length === 2 && serving.every((pid) => !before.includes(pid));
    });
    expect(countPassed(await burst(key, 20))).toBe(2);
  });
});
