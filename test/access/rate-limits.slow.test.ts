// Rate limits of a real gateway with two serving processes: all of them count together.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ask, hello } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGatewayProcess({ vendor, workers: 2 });
}, 120_000);
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
  }, 60_000);
});
