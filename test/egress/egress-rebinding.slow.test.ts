// Names that change their mind: a public address when they are checked, this machine when they are dialled, and every other order.

import { afterEach, expect, test } from "bun:test";
import { createEgress } from "../../src/egress/egress.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { createLog } from "../../src/log.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { createListeners } from "../support/listeners.ts";
import { inParallel } from "../support/wait.ts";

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const log = createLog({ level: "error", format: "json", secrets: [], write: () => {} });
const { listen, closeAll } = createListeners();
afterEach(closeAll);

// Every order with every address ten times.
const rounds = 300;
const atOnce = 8;
// Stands for a public address: it is exempt, and nothing else is.
const open = "127.0.0.2";
const closed = ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "0.0.0.0"] as const;

/** Answers to lookups one after the other: what each of them must lead to. */
type Order = (inside: string) => readonly (readonly string[])[];
const orders: Readonly<Record<string, Order>> = {
  "public, then inside": (inside) => [[open], [inside]],
  "inside, then public": (inside) => [[inside], [open]],
  "public twice, then inside": (inside) => [[open], [open], [inside]],
  "by turns": (inside) => [[open], [inside], [open], [inside]],
  "both at once": (inside) => [[open, inside], [inside, open], [open]],
};

for (const keepAlive of [false, true]) {
  const how = keepAlive ? "over kept connections" : "with a connection each";
  test(`in ${rounds} rounds of rebinding, ${how}, there is no connection to this machine`, async () => {
    const dns = await startDnsServer();
    const canary = await listen((socket) => socket.end(ok));
    const canarySix = await listen((socket) => socket.end(ok), "::1", canary.port).catch(() => null);
    const server = await listen(
      (socket) => socket.on("data", () => (keepAlive ? socket.write(ok) : socket.end(ok))),
      open,
      canary.port,
    );
    const egress = createEgress({ allow: [open], dnsServers: [dns.address], log });
    const seen: Record<string, number> = {};
    try {
      await inParallel(rounds, atOnce, async (round) => {
        const [name, order] = Object.entries(orders)[round % Object.keys(orders).length] ?? ["", () => []];
        const inside = closed[round % closed.length] ?? "";
        const answers = order(inside);
        const host = `round-${round}.example`;
        dns.set(host, ...answers);
        for (const addresses of answers) {
          const expected = addresses.every((address) => address === open) ? "reached" : "url_not_allowed";
          const outcome = await egress
            .fetch(`http://${host}:${canary.port}/`, {
              maxBytes: 10,
              timeoutMs: 60_000,
              connectTimeoutMs: 60_000,
              protocols: ["http:"],
              keepAlive,
            })
            .then(
              () => "reached",
              (error) => (error instanceof EgressError ? error.code : String(error)),
            );
          if (outcome !== expected) throw new Error(`${name}, ${inside}: ${outcome} at ${addresses.join(" and ")}`);
          seen[outcome] = (seen[outcome] ?? 0) + 1;
        }
        // One lookup for each request: what was checked is what is dialled.
        expect(dns.lookups(host)).toBe(answers.length);
      });
    } finally {
      egress.close();
      await dns.stop();
    }
    expect([canary.count(), canarySix?.count() ?? 0]).toEqual([0, 0]);
    expect(seen["reached"]).toBeGreaterThan(rounds);
    expect(seen["url_not_allowed"]).toBeGreaterThan(rounds);
    expect(server.count()).toBeGreaterThan(0);
  });
}
