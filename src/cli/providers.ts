// `switchyard providers list|show|set|test|remove`: the credentials of providers in the store. They work beside a running gateway, which uses a
// change within a second, and without one.

import type { Command } from "commander";
import { parse } from "../contract/problems.ts";
import { type ProviderDetail, type ProviderTest, setProviderRequest } from "../contract/providers.ts";
import type { ProviderCredentials } from "../inference/provider-credentials.ts";
import { toMemberLines, toTable } from "./access-command.ts";
import type { Output, Result } from "./command-line.ts";
import { CommandFailed, collect, createCommand, explain, printResult, UsageError } from "./command-line.ts";

export interface OpenedProviders {
  readonly credentials: ProviderCredentials;
  /** All providers, by name. */
  readonly names: readonly string[];
  /** Why the store was not read; null: it was. */
  readonly storeProblem: string | null;
  /** Makes a change of the provider's credentials, with a record of the audit log. */
  record<T>(action: `provider.${string}`, name: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** `file`: the configuration; undefined for the usual one. */
export type OpenProviders = (
  file: string | undefined,
  needs: "store" | "store if there is one",
) => Promise<OpenedProviders>;

export interface ProvidersContext extends Output {
  readonly openProviders: OpenProviders;
  /** Calls the provider with the credentials in force. */
  readonly testProvider: (name: string, model: string | null) => Promise<ProviderTest>;
  readFile(path: string): string;
  /** Standard input. */
  readInput(): Promise<string>;
}

interface SetOptions {
  readonly apiKey?: string;
  readonly apiKeyFile?: string;
  readonly baseUrl?: string;
  readonly setting?: readonly string[];
  readonly json?: true;
}

const argument = ["<provider>", "its name, such as openai; `switchyard providers list --all` prints all"] as const;

export function createProvidersCommand(context: ProvidersContext): Command {
  const group = createCommand("providers", "Show providers, and store, test and remove their credentials.", context);

  explain(
    group.command("list"),
    "List the configured providers, and where their credentials come from.",
    "providers list",
  )
    .option("--all", "also the providers that are not configured")
    .option("--json", "print JSON")
    .action(async ({ all, json }: { all?: true; json?: true }) => {
      await perform(context, json, ({ credentials, names }) => {
        const items = names.map((name) => credentials.describe(name));
        const shown = items.filter(({ configured, stored }) => all === true || configured || stored.length > 0);
        return { json: { items: shown }, lines: toTable(toProviderRows(shown)) };
      });
    });

  /** A command that needs only the name of the provider. */
  const add = (
    verb: string,
    summary: string,
    run: (name: string, opened: OpenedProviders) => Result | Promise<Result>,
  ) =>
    explain(group.command(verb), summary, `providers ${verb} openai`)
      .argument(...argument)
      .option("--json", "print JSON")
      .action(async (name: string, { json }: { json?: true }) => {
        await perform(context, json, (opened) => run(name, opened));
      });

  add(
    "show",
    "Show one provider: where its credentials come from, and which of them are stored.",
    (name, { credentials }) => toResult(credentials.describe(name)),
  );

  explain(
    group.command("set"),
    "Store the credentials of a provider, encrypted. They replace those that are stored, and take precedence over switchyard.yaml and the environment.",
    "providers set openai --api-key-file /run/secrets/openai",
  )
    .argument(...argument)
    .option("--api-key <key>", "the key; - reads it from standard input, which keeps it out of the list of processes")
    .option("--api-key-file <file>", "a file that holds the key")
    .option("--base-url <address>", "the address of the provider's API")
    .option("--setting <name=value>", "a further setting, such as AWS_REGION=eu-central-1; repeatable", collect)
    .option("--json", "print JSON")
    .action(async (name: string, options: SetOptions) => {
      const request = parse(setProviderRequest, await readRequest(options, context));
      await perform(context, options.json, async ({ credentials, record }) =>
        toResult(await record("provider.set", name, () => credentials.set(name, request))),
      );
    });

  explain(
    group.command("test"),
    "Call a provider once with the credentials in force, and say what happened. The call is cheap and real.",
    "providers test openai",
  )
    .argument(...argument)
    .option("--model <model>", "the model to call, as the provider names it; default: a small one")
    .option("--json", "print JSON")
    .action(async (name: string, { model, json }: { model?: string; json?: true }) => {
      const test = await context.testProvider(name, model ?? null);
      printResult(context, json, { json: test, lines: toTable(toTestRows(test)) });
      if (test.ok === false) throw new CommandFailed();
    });

  add(
    "remove",
    "Remove the stored credentials of a provider. Those of switchyard.yaml or the environment then apply.",
    async (given, { credentials, record }) => {
      const name = await record("provider.remove", given, () => credentials.remove(given));
      return { json: { name, deleted: true }, lines: [`The stored credentials of ${name} are removed.`] };
    },
  );
  return group;
}

async function perform(
  context: ProvidersContext,
  isJson: true | undefined,
  work: (opened: OpenedProviders) => Result | Promise<Result>,
): Promise<void> {
  const opened = await context.openProviders(undefined, "store");
  try {
    printResult(context, isJson, await work(opened));
  } finally {
    await opened.close();
  }
}

async function readRequest(options: SetOptions, context: ProvidersContext): Promise<unknown> {
  const { apiKey, apiKeyFile, baseUrl, setting = [] } = options;
  if (apiKey !== undefined && apiKeyFile !== undefined)
    throw new UsageError("Give the key with --api-key or with --api-key-file, not with both.");
  const key =
    apiKeyFile !== undefined
      ? context.readFile(apiKeyFile).trim()
      : apiKey === "-"
        ? (await context.readInput()).trim()
        : apiKey;
  if (key === "") throw new UsageError("The key is empty.");
  const pairs = setting.map((pair) => {
    const [, name = "", value = ""] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
    // The text may hold a secret, so the message does not repeat it.
    if (name === "") throw new UsageError("--setting takes NAME=VALUE, such as AWS_REGION=eu-central-1.");
    return [name, value] as const;
  });
  if (key === undefined && baseUrl === undefined && pairs.length === 0)
    throw new UsageError("Name what to store: --api-key, --api-key-file, --base-url or --setting.");
  return {
    ...(key === undefined ? {} : { api_key: key }),
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(pairs.length === 0 ? {} : { settings: Object.fromEntries(pairs) }),
  };
}

function toResult(provider: ProviderDetail): Result {
  const { name, title, configured, missing_setting, in_force, stored, overridden, further_settings } = provider;
  const lines = toMemberLines({
    name,
    title,
    state: configured ? "configured" : `not configured: set ${missing_setting}`,
    ...Object.fromEntries(
      in_force.map(({ deployment, key, address }) => [
        deployment,
        `key from ${describeSource(key)}, address from ${describeSource(address)}`,
      ]),
    ),
    stored,
    overridden: overridden.join(", ") || "nothing",
    further_settings: further_settings.join(", ") || "none",
  });
  return { json: provider, lines };
}

type ListedProvider = Pick<ProviderDetail, "name" | "configured" | "missing_setting" | "in_force"> & {
  readonly deployments: readonly { readonly base_url: string | null }[];
};

export function toProviderRows(providers: readonly ListedProvider[]): string[][] {
  const rows = providers.map(({ name, configured, missing_setting, in_force, deployments }) => [
    name,
    configured ? "configured" : `set ${missing_setting}`,
    describeSource(in_force[0]?.key ?? null),
    deployments.flatMap(({ base_url }) => base_url ?? []).join(", ") || "-",
    describeSource(in_force[0]?.address ?? null),
  ]);
  return [["PROVIDER", "STATE", "KEY FROM", "ADDRESS", "ADDRESS FROM"], ...rows];
}

function describeSource(source: { readonly kind: string; readonly name: string | null } | null): string {
  if (source === null) return "-";
  return source.name === null ? source.kind : `${source.kind} (${source.name})`;
}

function toTestRows({ results }: ProviderTest): string[][] {
  const rows = results.map(({ deployment, outcome, called, milliseconds, cost, error }) => [
    deployment,
    outcome,
    called ?? "-",
    `${milliseconds} ms`,
    cost === null ? "-" : `${cost} USD`,
    error?.message ?? "",
  ]);
  return [["DEPLOYMENT", "OUTCOME", "CALLED", "TIME", "COST", "MESSAGE"], ...rows];
}
