// Whether a webhook may be sent to an address, as it is asked when a job is created. test/cases/bad-inputs.json has the table of what may not be.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createEgress } from "../../src/egress/egress.ts";
import { checkReceiver } from "../../src/egress/receiver.ts";
import { type Problem, ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { badInputs } from "../support/bad-inputs.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { receiverNames } from "../support/names.ts";
import { within } from "../support/wait.ts";

const log = createLog({ level: "error", format: "json", secrets: [], write: () => {} });
const ownHosts = ["gateway.example.com", "gateway.example.com:8080", "127.0.0.1:8080", "[::1]:8080"];

let dns: DnsServer;
beforeAll(async () => {
  dns = await startDnsServer(receiverNames);
});
afterAll(() => dns.stop());

/** Null when it is fine. */
async function problemOf(url: string, allow: readonly string[] = [], hosts = ownHosts): Promise<Problem | null> {
  const egress = createEgress({ allow, dnsServers: [dns.address], log });
  try {
    await within(60_000, "the check", checkReceiver(url, egress, { ownHosts: hosts }));
    return null;
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.problems[0];
  }
}

describe("a receiver is refused:", () => {
  for (const { id, name, send, expect: expected } of badInputs.filter(({ group }) => group === "hook"))
    test(`${id}: ${name}`, async () => {
      const { webhook_receiver: written } = send.json as { webhook_receiver: string };
      const url = written.replace("${GATEWAY_PUBLIC_HOST}", "gateway.example.com");
      for (const allow of [[], ["127.0.0.2"]]) {
        const problem = await problemOf(url, allow);
        expect(problem).toMatchObject(expected.detail?.[0] ?? {});
        for (const forbidden of expected.forbid ?? []) expect(problem?.msg).not.toContain(forbidden);
      }
    });

  test("all that a lookup can come to sounds the same", async () => {
    const hosts = ["private.example", "mixed.example", "unknown.example", "failing.example", "127.0.0.1", "localhost"];
    const problems = await Promise.all(hosts.map((host) => problemOf(`https://${host}/`)));
    expect(new Set(problems.map((problem) => JSON.stringify(problem))).size).toBe(1);
  });

  test("when it is the gateway itself, however it is spelled, unless the operator exempts it", async () => {
    const refused = { type: "url_not_allowed" };
    for (const url of [
      "https://gateway.example.com/",
      "https://GATEWAY.example.com./v3/upload",
      "https://gateway.example.com:9443/",
    ]) {
      expect(await problemOf(url)).toMatchObject(refused);
      expect(await problemOf(url, [], [])).toBeNull();
      // Its address, as the name server has it.
      expect(await problemOf(url, ["8.8.4.4"])).toBeNull();
    }
    expect(await problemOf("https://127.0.0.1:9443/", ["127.0.0.0/8"])).toBeNull();
    expect(await problemOf("https://[::1]:9443/", ["::1"])).toBeNull();
  });
});

test("silent name servers are a refusal, and the lookup gets five seconds, however many they are", async () => {
  const egress = createEgress({ allow: [], dnsServers: [dns.address, dns.address, dns.address], log });
  const timeouts: number[] = [];
  const check: typeof egress.check = (url, options) => {
    timeouts.push(options?.timeoutMs ?? Number.POSITIVE_INFINITY);
    return egress.check(url, options);
  };
  const checked = checkReceiver("https://slow-dns.example/", { ...egress, check }, { ownHosts });
  expect(await checked.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
  expect(timeouts).toEqual([5_000]);
});

test("a receiver that is public, or exempt, is fine", async () => {
  const ports = [8443, 1024, 65535].map((port) => `https://public.example:${port}/`);
  for (const url of ["https://public.example/hook?x=1", "https://8.8.8.8/", ...ports])
    expect({ url, problem: await problemOf(url) }).toEqual({ url, problem: null });
  expect(await problemOf("https://hooks.example.com/")).toMatchObject({ type: "url_not_allowed" });
  expect(await problemOf("https://hooks.example.com/", ["127.0.0.2"])).toBeNull();
});

test("of the reserved ports https has its own only, and services that are no web servers are left out above them", async () => {
  for (const port of [1, 22, 25, 53, 80, 444, 1023, 3306, 5432, 6379, 27017])
    expect({ port, problem: await problemOf(`https://public.example:${port}/`) }).toMatchObject({
      port,
      problem: { type: "url_not_allowed" },
    });
});
