// `/v3/manage/providers`: the health of the providers, and their credentials in the store.

import type { AuditNote } from "../../access/audit.ts";
import * as contract from "../../contract/providers.ts";
import type { Family } from "../../metrics/family.ts";
import { contextOf, type KeyedCall, providerFailures } from "../model-call.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const common = { tag: "Providers", key: "management" } as const;
const one = { path: "/v3/manage/providers/{name}", params: contract.providerPath } as const;
// Credentials are the gateway's, not a team's.
const changing = { ...common, ...one, role: "administrator", reach: "gateway" } as const;
const examplePath = { name: "openai" };
const detail = { schema: contract.providerDetail };

export function providerRoutes({
  describeProviders,
  credentials,
  testProvider,
  readMetrics,
}: Pick<RouteDependencies, "describeProviders" | "credentials" | "testProvider" | "readMetrics">): Route[] {
  const runTest = (call: KeyedCall, model: string | null) => (provider: Parameters<typeof testProvider>[0]) =>
    testProvider(provider, model, contextOf(call));
  /** The audit log shows what is stored before and after, as answers show it: without secrets. */
  const change = async (
    { params, note }: { readonly params: { readonly name: string }; readonly note: AuditNote },
    work: () => Promise<object>,
  ) => {
    const readStored = () => ({ stored: credentials.describe(params.name).stored });
    note.before = readStored();
    const changed = await work();
    note.after = readStored();
    return replyJson(changed);
  };
  return [
    defineRoute("listProviders", "List providers with their health", {
      ...common,
      description:
        "The providers that the gateway knows, and for each offer that was called its circuit, latency and last error.",
      method: "GET",
      path: "/v3/manage/providers",
      role: "viewer",
      reach: "team",
      answers: [{ status: 200, description: "The providers.", schema: contract.providerStates }],
      async run({ caller }) {
        const open = countOpenCircuits(await readMetrics());
        const items = describeProviders().map((provider) => {
          const open_circuits = open.get(provider.name) ?? 0;
          const healthy = open_circuits > 0 ? false : provider.healthy;
          return caller.team === null
            ? { ...provider, healthy, open_circuits }
            : { ...withoutCalls(provider), healthy, open_circuits: null };
        });
        return replyJson({ process: process.pid, items } satisfies contract.ProviderStates);
      },
    }),
    defineRoute("retrieveProvider", "Retrieve a provider", {
      ...common,
      ...one,
      role: "viewer",
      reach: "gateway",
      description:
        "Its health, and where its credentials come from. Secrets are never returned, only their last characters.",
      method: "GET",
      answers: [{ status: 200, description: "The provider.", ...detail }],
      errors: ["provider_not_found"],
      example: { path: { name: "sandbox" } },
      run: ({ params }) => replyJson(credentials.describe(params.name)),
    }),
    defineRoute("setProvider", "Store the credentials of a provider", {
      ...changing,
      audit: { action: "provider.set" },
      description:
        "Replaces what is stored for the provider. All processes and replicas use it within a second; running calls end with the earlier credentials. Stored credentials are encrypted with SWITCHYARD_ENCRYPTION_KEY, and take precedence over switchyard.yaml and the environment.",
      method: "PUT",
      body: { kind: "json", schema: contract.setProviderRequest },
      answers: [{ status: 200, description: "The provider as it is now.", ...detail }],
      errors: ["provider_not_found", "provider_conflict"],
      example: { path: examplePath, body: { api_key: "sk-example-key-of-the-provider" } },
      run: (call) => change(call, () => credentials.set(call.params.name, call.body)),
    }),
    defineRoute("rotateProvider", "Replace the key of a provider", {
      ...changing,
      audit: { action: "provider.rotate" },
      description:
        "Changes the key or single settings in the store and keeps the rest. The new credentials are first tried with one call; unless the provider accepts them, nothing changes. Nor does it if the stored credentials are changed or removed during that call; the answer is then 409.",
      method: "POST",
      path: `${one.path}/rotate`,
      body: { kind: "json", schema: contract.rotateProviderRequest },
      answers: [{ status: 200, description: "The provider as it is now.", ...detail }],
      errors: ["provider_not_found", "credentials_not_found", "provider_conflict", ...providerFailures],
      example: { path: examplePath, body: { api_key: "sk-example-new-key", test: false } },
      run: (call) => change(call, () => credentials.rotate(call.params.name, call.body, runTest(call, null))),
    }),
    defineRoute("testProvider", "Test the credentials of a provider", {
      ...changing,
      audit: { action: "provider.test" },
      description:
        "Makes one cheap call for each deployment, without retries and past the circuit breaker, and reports what happened. The call is recorded in the ledger.",
      method: "POST",
      path: `${one.path}/test`,
      body: { kind: "optional-json", schema: contract.testProviderRequest.nullable() },
      answers: [{ status: 200, description: "What happened.", schema: contract.providerTest }],
      errors: ["provider_not_found", "provider_not_configured"],
      example: { path: { name: "sandbox" }, body: {} },
      run: async (call) =>
        replyJson(await runTest(call, call.body?.model ?? null)(credentials.provider(call.params.name))),
    }),
    defineRoute("removeProviderCredentials", "Remove the stored credentials of a provider", {
      ...changing,
      audit: { action: "provider.remove" },
      description: "The provider then uses the key of switchyard.yaml or of the environment again, if there is one.",
      method: "DELETE",
      answers: [{ status: 200, description: "The credentials are removed.", schema: contract.removedProvider }],
      errors: ["provider_not_found", "credentials_not_found"],
      example: { path: examplePath },
      run: (call) =>
        change(call, async () => ({ name: await credentials.remove(call.params.name), deleted: true as const })),
    }),
  ];
}

/** By provider. Each process has circuits of its own, and only one of them answers. */
function countOpenCircuits(snapshots: readonly (readonly Family[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const family of snapshots.flat())
    if (family.name === "circuits" && family.type !== "histogram")
      for (const { labels, value } of family.samples) {
        const { provider = "", state } = labels;
        if (state !== "closed") counts.set(provider, (counts.get(provider) ?? 0) + value);
      }
  return counts;
}

/** Errors and figures come from the calls of all teams, so a role that is limited to one team does not see them. */
function withoutCalls(provider: contract.ProviderState): contract.ProviderState {
  return { ...provider, last_error: null, deployments: [] };
}
