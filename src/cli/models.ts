// `switchyard models list|search|show`: the models of a running gateway and their prices.

import type { Command } from "commander";
import type { Model, ModelDetail, ModelList } from "../contract/models.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { askGatewayForJson, type GatewayContext } from "./ask-gateway.ts";
import { collect, createCommand, explain, printResult } from "./command-line.ts";
import type { ListingOptions } from "./listing.ts";
import {
  addListingOptions,
  addReadingOptions,
  addSearch,
  containsAll,
  printListing,
  toListingQuery,
} from "./listing.ts";

interface ListOptions extends ListingOptions {
  readonly provider?: readonly string[];
  readonly capability?: readonly string[];
}

const tokensPerPrice = 1_000_000;

export function createModelsCommand(context: GatewayContext): Command {
  const group = createCommand(
    "models",
    "List and search the models of a running gateway, and show their prices.",
    context,
  );
  addListingOptions(
    explain(
      group.command("list"),
      "List models with their prices in USD per million tokens.",
      "models list --provider openai",
    ),
  )
    .option("--provider <name>", "only models of this provider; repeatable", collect)
    .option("--capability <name>", "only models with this capability, such as vision; repeatable", collect)
    .action(async (options: ListOptions) => printModels((await listModels(options, context)).data, options, context));
  addSearch(
    group,
    "List the models whose name contains all these words, with their prices.",
    "models search claude sonnet --all",
    "part of a name",
  ).action(async (words: readonly string[], options: ListOptions) => {
    const { data } = await listModels(options, context);
    const found = data.filter(({ id }) => containsAll([id], words));
    printModels(found, options, context);
  });
  addReadingOptions(
    explain(
      group.command("show"),
      "Show what is known about a model: limits, capabilities, prices and parameters.",
      "models show openai/gpt-5",
    ).argument("<model>", "as `switchyard models list` prints it"),
  ).action(async (id: string, { from, json }: { from?: string; json?: true }) => {
    const path = `/v3/models/${id.split("/").map(encodeURIComponent).join("/")}?include=unconfigured,sandbox`;
    const model = await askGatewayForJson<ModelDetail>(from ?? context.readAddress(), path);
    printResult(context, json, { json: model, lines: describeModel(model) });
  });
  return group;
}

async function listModels(options: ListOptions, context: GatewayContext): Promise<ModelList> {
  const { provider = [], capability = [], from } = options;
  const query = toListingQuery(options);
  for (const value of provider) query.append("provider", value);
  for (const value of capability) query.append("capability", value);
  return await askGatewayForJson<ModelList>(from ?? context.readAddress(), `/v3/models?${query}`);
}

function printModels(models: readonly Model[], options: ListOptions, context: GatewayContext): void {
  printListing(context, options, {
    json: { object: "list", data: models },
    header: ["model", "configured", "context", "input", "output", "cached input"],
    rows: models.map(({ id, configured, context_length, pricing }) => [
      id,
      configured ? "yes" : "no",
      context_length,
      toPrice(pricing?.input_cost_per_token),
      toPrice(pricing?.output_cost_per_token),
      toPrice(pricing?.cache_read_input_token_cost),
    ]),
    textColumns: 2,
    none: `No model was found.${options.all ? "" : " --all adds those of other providers."}`,
    footer: `${models.length} models. Prices are in USD per million tokens; "-": not known.`,
  });
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
