// Every task is performed by an engine that is not the sandbox, and the README lists the same tasks as the API.

import { expect, test } from "bun:test";
import { tasks } from "../../src/contract/tasks.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const names = tasks.map(({ name }) => name);

const gateway = await sharedGateway();

interface Feature {
  readonly name: string;
  readonly subfeatures: readonly { readonly name: string; readonly models: readonly { readonly provider: string }[] }[];
}

/** Task → the providers that `GET /v3/info` lists for it, configured or not, without the sandbox. */
async function listProviders(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const response = await fetch(`${gateway.url}/v3/info?include=unconfigured`);
  const { features } = (await response.json()) as { features: readonly Feature[] };
  return new Map(
    features.flatMap(({ name, subfeatures }) =>
      subfeatures.map((one) => [`${name}/${one.name}`, new Set(one.models.map(({ provider }) => provider))] as const),
    ),
  );
}

/** Task → its cells in the table of the README: local, chat models, vendors. */
async function readTable(): Promise<ReadonlyMap<string, readonly string[]>> {
  const page = await Bun.file(new URL("../../README.md", import.meta.url)).text();
  const lines = page.matchAll(/^\| `([a-z]+\/\w+)` \|(.*)\|$/gm);
  return new Map(Array.from(lines, ([, task = "", cells = ""]) => [task, cells.split("|").map((cell) => cell.trim())]));
}

test("no task has the sandbox alone", async () => {
  const providers = await listProviders();
  const unserved = names.filter((name) => (providers.get(name)?.size ?? 0) === 0);
  expect(unserved).toEqual([]);
  expect(names).toHaveLength(63);
});

test("the README lists the same tasks and vendors as GET /v3/info", async () => {
  const [providers, table] = [await listProviders(), await readTable()];
  expect([...table.keys()]).toEqual(names);
  for (const [task, [local = "", models = "", vendors = ""]] of table) {
    const listed = providers.get(task) ?? new Set();
    expect([task, listed.has("local")]).toEqual([task, local !== ""]);
    const named = vendors === "" ? [] : vendors.split(", ");
    expect([task, named.filter((name) => !listed.has(name))]).toEqual([task, []]);
    // A chat model performs the task at every provider of chat models.
    const others = [...listed].filter((name) => name !== "local" && !named.includes(name));
    expect([task, others.length > 0]).toEqual([task, models !== ""]);
  }
});
