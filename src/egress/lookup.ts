// The addresses of a name: asked of the system's resolver, or of name servers that the operator chose.

import { Resolver } from "node:dns/promises";

/** All addresses of a name, as IP literals. Rejects when there is no answer, or none that helps. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

// c-ares counts whole seconds.
const patienceMs = 1_000;
// A packet may get lost.
const rounds = 2;

/** `servers` are addresses, with a port or without one; none is the system's resolver. */
export function createLookup(servers: readonly string[]): Lookup {
  return servers.length === 0 ? askSystem : createServerLookup(servers);
}

/** c-ares, because the system's own resolver blocks one of few threads per lookup: names that nobody answers would stall file reads too. */
const askSystem: Lookup = async (hostname) => {
  const found = await Bun.dns.lookup(hostname, { backend: "c-ares", socketType: "tcp" });
  return found.map(({ address }) => address);
};

/** These servers and nothing else: no list of hosts, no search list. The next one is asked when one is silent or fails. */
function createServerLookup(servers: readonly string[]): Lookup {
  const turns = Array.from({ length: rounds }, () => servers).flat();
  return async (hostname) => {
    // A dot at the end says the same to these servers.
    const name = hostname.replace(/\.$/, "");
    let failure: unknown;
    for (const server of turns) {
      const answers = await ask(server, name);
      // A name may have addresses of one kind only, and a server may fail over the other kind.
      const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (found.length > 0) return found;
      const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
      failure = failures.find(({ code }) => code !== "ENOTFOUND");
      if (failure === undefined) throw failures[0] ?? new Error("The name has no address");
    }
    throw failure;
  };
}

/** A resolver of its own: c-ares remembers for an hour that a name has no address of a kind, and takes a server's failure for an answer. */
function ask(server: string, name: string): Promise<PromiseSettledResult<string[]>[]> {
  const resolver = new Resolver({ timeout: patienceMs, tries: 1 });
  resolver.setServers([server]);
  return Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
}
