// `switchyard models list|search|show`: the models of a running gateway and their prices.

import type { Command } from "commander";
import type { Model, ModelDetail, ModelList } from "../contract/models.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { askGatewayForJson, type GatewayContext } from "./ask-gateway.ts";
import { collect, createCommand } from "./command-line.ts";

interface ListOptions {
  readonly provider?: readonly string[];
  readonly capability?: readonly string[];
  readonly all?: true;
  readonly sandbox?: true;
  readonly from?: string;
  readonly json?: true;
}

const tokensPerPrice = 1_000_000;

export function createModelsCommand(context: GatewayContext): Command {
  const group = createCommand(
    "models",
    "List and search the models of a running gateway, and show their prices.",
    context,
  );
  addListingOptions(group.command("list").description("List models with their prices in USD per million tokens."))
    .option("--provider <name>", "only models of this provider; repeatable", collect)
    .option("--capability <name>", "only models with this capability, such as vision; repeatable", collect)
    .action(async (options: ListOptions) => printModels((await listModels(options, context)).data, options, context))
    .addHelpText("after", "\nExample: npx switchyard-gateway models list --provider openai");
  addListingOptions(
    group
      .command("search")
      .description("List the models whose name contains all these words, with their prices.")
      .argument("<word...>", "part of a name"),
  )
    .action(async (words: readonly string[], options: ListOptions) => {
      const { data } = await listModels(options, context);
      const found = data.filter(({ id }) => words.every((word) => id.toLowerCase().includes(word.toLowerCase())));
      printModels(found, options, context);
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway models search claude sonnet --all");
  group
    .command("show")
    .description("Show what is known about a model: limits, capabilities, prices and parameters.")
    .argument("<model>", "as `switchyard models list` prints it")
    .option("--from <address>", "address of the gateway; default: the one on this machine")
    .option("--json", "print JSON")
    .action(async (id: string, { from, json }: { from?: string; json?: true }) => {
      const path = `/v3/models/${id.split("/").map(encodeURIComponent).join("/")}?include=unconfigured,sandbox`;
      const model = await askGatewayForJson<ModelDetail>(from ?? context.readAddress(), path);
      if (json) {
        context.print(JSON.stringify(model, null, 2));
        return;
      }
      for (const line of describeModel(model)) context.print(line);
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway models show openai/gpt-5");
  return group;
}

export function addListingOptions(command: Command): Command {
  return command
    .option("--all", "also those of providers that are not configured")
    .option("--sandbox", "also those of the sandbox")
    .option("--from <address>", "address of the gateway; default: the one on this machine")
    .option("--json", "print JSON");
}

/** The query of the options that models and tasks share. */
export function toListingQuery({ all, sandbox }: { readonly all?: true; readonly sandbox?: true }): URLSearchParams {
  const include = [...(all ? ["unconfigured"] : []), ...(sandbox ? ["sandbox"] : [])];
  return new URLSearchParams(include.map((value): [string, string] => ["include", value]));
}

async function listModels(options: ListOptions, context: GatewayContext): Promise<ModelList> {
  const { provider = [], capability = [], from } = options;
  const query = toListingQuery(options);
  for (const value of provider) query.append("provider", value);
  for (const value of capability) query.append("capability", value);
  return await askGatewayForJson<ModelList>(from ?? context.readAddress(), `/v3/models?${query}`);
}

function printModels(models: readonly Model[], { all, json }: ListOptions, { print }: GatewayContext): void {
  if (json) {
    print(JSON.stringify({ object: "list", data: models }, null, 2));
    return;
  }
  if (models.length === 0) {
    print(`No model was found.${all ? "" : " --all adds those of other providers."}`);
    return;
  }
  const header = ["model", "configured", "context", "input", "output", "cached input"];
  const rows = models.map(({ id, configured, context_length, pricing }) => [
    id,
    configured ? "yes" : "no",
    context_length,
    toPrice(pricing?.input_cost_per_token),
    toPrice(pricing?.output_cost_per_token),
    toPrice(pricing?.cache_read_input_token_cost),
  ]);
  for (const line of alignColumns([header, ...rows], 2)) print(line);
  print("");
  print(`${models.length} models. Prices are in USD per million tokens; "-": not known.`);
}

function describeModel({ id, configured, capabilities, pricing, parameters, ...facts }: ModelDetail): string[] {
  const supported = Object.entries(capabilities).flatMap(([name, value]) =>
    value === true ? [name.replace("supports_", "").replaceAll("_", " ")] : [],
  );
  const prices = Object.entries(pricing ?? {}).flatMap(([name, value]) =>
    typeof value === "number" ? [[name.replaceAll("_", " "), `${toPrice(value)} USD per million tokens`]] : [],
  );
  return alignColumns(
    [
      ["model", id],
      ["configured", configured ? "yes" : "no"],
      ["context length", facts.context_length],
      ["output tokens", facts.max_output_tokens],
      ["input", capabilities.input_modalities.join(", ")],
      ["output", capabilities.output_modalities.join(", ")],
      ["supports", supported.join(", ")],
      ["endpoints", facts.endpoints.join(", ")],
      ...prices,
      ...Object.entries(parameters).map(([name, treatment]) => [`parameter ${name}`, treatment]),
    ],
    2,
  );
}

/** Without the digits that come from the division by a million. */
function toPrice(perToken: number | null | undefined): string | null {
  return perToken === null || perToken === undefined
    ? null
    : String(Number((perToken * tokensPerPrice).toPrecision(12)));
}
