// Resolves names, with the system's name servers or with those that the operator chose.

import { Resolver } from "node:dns/promises";

/** All addresses of a name, as IP literals. Rejects when the name cannot be resolved. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/**
 * The timeout of one question, in each round over the servers. A packet may get lost, so the first round is short. A server may be slow, so the
 * second one is longer. c-ares counts whole seconds.
 */
const roundTimeoutsMs = [1_000, 3_000];

/** `servers` are addresses with an optional port; an empty list uses the system's. */
export function createLookup(servers: readonly string[]): Lookup {
  return servers.length === 0 ? askSystem : createServerLookup(servers);
}

/** Uses c-ares: the system's resolver blocks one of few threads per lookup, so unanswered lookups would also stall file reads. */
const askSystem: Lookup = async (hostname) => {
  const found = await Bun.dns.lookup(hostname, { backend: "c-ares", socketType: "tcp" });
  return found.map(({ address }) => address);
};

/** Uses only these servers, without /etc/hosts and search list. When a server fails or does not answer, the next one is tried. */
function createServerLookup(servers: readonly string[]): Lookup {
  const turns = roundTimeoutsMs.flatMap((timeoutMs) => servers.map((server) => ({ server, timeoutMs })));
  return async (hostname) => {
    // A trailing dot makes no difference to these servers.
    const name = hostname.replace(/\.$/, "");
    let failure: unknown;
    for (const { server, timeoutMs } of turns) {
      const answers = await ask(server, name, timeoutMs);
      // A name may have only IPv4 or only IPv6 addresses, and a server may fail for the other kind.
      const found = interleave(answers.map((answer) => (answer.status === "fulfilled" ? answer.value : [])));
      if (found.length > 0) return found;
      const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
      failure = failures.find(({ code }) => code !== "ENOTFOUND");
      if (failure === undefined) throw failures[0] ?? new Error("The name has no address");
    }
    throw failure;
  };
}

/** Creates a new resolver: a shared c-ares channel caches for an hour that a name has no address of a kind, and reports a failure as an answer. */
function ask(server: string, name: string, timeoutMs: number): Promise<PromiseSettledResult<string[]>[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  resolver.setServers([server]);
  return Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
}

/** Takes one of each family in turn, as RFC 8305 says: only the first few addresses are dialled, and one family may not be reachable. */
function interleave(families: readonly (readonly string[])[]): string[] {
  const longest = Math.max(...families.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => families.flatMap((family) => family[index] ?? [])).flat();
}
