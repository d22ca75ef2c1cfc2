// Names that are looked up at the operator's own name servers.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { createEgress, type Egress } from "../../src/egress/egress.ts";
import { createLookup } from "../../src/egress/lookup.ts";
import { readServerAddress } from "../../src/lib/addresses.ts";
import { createLog } from "../../src/log.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { createListeners } from "../support/listeners.ts";
import { within } from "../support/wait.ts";

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const log = createLog({ level: "error", format: "json", secrets: [], write: () => {} });
const { answerWith, closeAll } = createListeners();

let dns: DnsServer;
beforeEach(async () => {
  dns = await startDnsServer();
});
afterEach(async () => {
  closeAll();
  await dns.stop();
});

function guard(allow: readonly string[] = [], servers = [dns.address]): Egress {
  return createEgress({ allow, dnsServers: servers, log });
}

/** "fine", or the code of the failure. */
async function outcomeOf(egress: Egress, host: string, timeoutMs = 60_000): Promise<string> {
  return within(
    90_000,
    `the check of ${host}`,
    egress.check(`https://${host}/`, { timeoutMs }).then(
      () => "fine",
      (error) => error.code,
    ),
  );
}

test("a name is found at the server that was chosen, in both families, and by way of other names", async () => {
  const listener = await answerWith(ok);
  dns.set("four.example", ["127.0.0.1"]);
  dns.set("six.example", ["2606:4700::1"]);
  dns.set("both.example", ["8.8.8.8", "2606:4700::1"]);
  dns.set("alias.example", { cname: "second.example" });
  dns.set("second.example", { cname: "four.example" });
  const egress = guard(["127.0.0.1/32"]);
  for (const host of ["six.example", "both.example", "BOTH.example", "both.example."])
    expect({ host, outcome: await outcomeOf(egress, host) }).toEqual({ host, outcome: "fine" });
  for (const host of ["four.example", "alias.example"]) {
    const request = { maxBytes: 10, timeoutMs: 60_000, connectTimeoutMs: 60_000, protocols: ["http:"] } as const;
    expect((await egress.fetch(`http://${host}:${listener.port}/`, request)).status).toBe(200);
  }
});

test("the families take turns, so that the first few addresses have both", async () => {
  const lookup = createLookup([dns.address]);
  const [four, six] = [
    ["8.8.8.1", "8.8.8.2", "8.8.8.3", "8.8.8.4"],
    ["2606:4700::1", "2606:4700::2"],
  ];
  dns.set("many.example", [...four, ...six]);
  const found = await lookup("many.example");
  const familyOf = (address: string) => (four.includes(address) ? 4 : 6);
  expect(found.map(familyOf)).toEqual([4, 6, 4, 6, 4, 4]);
  expect(found.toSorted()).toEqual([...six, ...four].toSorted());
  dns.set("six.example", six);
  expect((await lookup("six.example")).toSorted()).toEqual(six);
});

test("one private address refuses the name, whichever family, order or other name it comes by", async () => {
  dns.set("private.example", ["10.0.0.1"]);
  dns.set("mapped.example", ["::ffff:127.0.0.1"]);
  dns.set("six.example", ["fd00::1"]);
  dns.set("mixed.example", ["8.8.8.8", "127.0.0.1"]);
  dns.set("across.example", ["8.8.8.8", "::1"]);
  dns.set("alias.example", { cname: "private.example" });
  const hosts = ["private", "mapped", "six", "mixed", "across", "alias"].map((name) => `${name}.example`);
  for (const host of hosts)
    expect({ host, outcome: await outcomeOf(guard(), host) }).toEqual({ host, outcome: "url_not_allowed" });
});

test("what the server does not know, refuses or fails over is unreachable", async () => {
  dns.set("failing.example", "servfail");
  dns.set("refused.example", "refused");
  dns.set("empty.example", []);
  for (const host of ["unknown.example", "failing.example", "refused.example", "empty.example"])
    expect({ host, outcome: await outcomeOf(guard(), host) }).toEqual({ host, outcome: "unreachable" });
});

test("the machine's own list of hosts is not asked", async () => {
  expect(await outcomeOf(guard(["127.0.0.0/8", "::1"]), "localhost")).toBe("url_not_allowed");
  expect(dns.lookups("localhost")).toBeGreaterThan(0);
});

test("a silent name server ends with a timeout of the caller or of the lookup, and delays no other name", async () => {
  dns.set("silent.example", "silent");
  dns.set("good.example", ["8.8.8.8"]);
  const egress = guard();
  const order: string[] = [];
  const byItself = outcomeOf(egress, "silent.example").finally(() => order.push("timeout of the lookup"));
  // As many as the server's socket holds, and no more: they are all sent at once.
  const many = Array.from({ length: 100 }, (_none, index) => {
    dns.set(`silent${index}.example`, "silent");
    return outcomeOf(egress, `silent${index}.example`, 500);
  });
  expect(await outcomeOf(egress, "good.example").finally(() => order.push("other name"))).toBe("fine");
  expect(new Set(await Promise.all(many))).toEqual(new Set(["timeout"]));
  expect(await byItself).toBe("unreachable");
  expect(order).toEqual(["other name", "timeout of the lookup"]);
});

test("the next server is asked when one is silent, fails, or is not there", async () => {
  const second = await startDnsServer({ "silent.example": [["8.8.8.8"]], "failing.example": [["8.8.8.8"]] });
  try {
    dns.set("silent.example", "silent");
    dns.set("failing.example", "servfail");
    for (const host of ["silent.example", "failing.example"])
      expect(await outcomeOf(guard([], [dns.address, second.address]), host)).toBe("fine");
    expect(await outcomeOf(guard([], ["127.0.0.1:1", second.address]), "failing.example")).toBe("fine");
  } finally {
    await second.stop();
  }
});

test("a name that was not there is found as soon as it is", async () => {
  dns.set("new.example", "nxdomain", [], ["8.8.8.8"]);
  const egress = guard();
  const outcomes = [];
  for (let time = 0; time < 3; time++) outcomes.push(await outcomeOf(egress, "new.example"));
  expect(outcomes).toEqual(["unreachable", "unreachable", "fine"]);
});

test("a name server is an address, with a port or without one", () => {
  for (const text of ["10.0.0.2", "10.0.0.2:5353", "::1", "[::1]:5353"]) expect(readServerAddress(text)).toBe(text);
  expect(readServerAddress(" [fd00::2] ")).toBe("fd00::2");
  for (const text of ["", "dns.example", "10.0.0.2:", "10.0.0.2:0", "10.0.0.2:65536", "[10.0.0.2]:53", "fe80::1%eth0"])
    expect(() => readServerAddress(text)).toThrow("is not an address such as 10.0.0.2");
});
