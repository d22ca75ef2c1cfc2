// `switchyard tasks list|search|show`: the tasks of a running gateway, with their engines and prices.

import type { Command } from "commander";
import type { FeatureList, Subfeature, SubfeatureDetail, TaskPricing } from "../contract/info.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { askGatewayForJson, type GatewayContext } from "./ask-gateway.ts";
import { createCommand, explain, printResult, UsageError } from "./command-line.ts";
import {
  addListingOptions,
  addSearch,
  containsAll,
  type ListingOptions,
  printListing,
  toListingQuery,
} from "./listing.ts";

interface NamedTask extends Subfeature {
  /** `<feature>/<subfeature>` */
  readonly task: string;
}

export function createTasksCommand(context: GatewayContext): Command {
  const group = createCommand(
    "tasks",
    "List and search the tasks of a running gateway, and show their engines and prices.",
    context,
  );
  addListingOptions(
    explain(group.command("list"), "List tasks and the providers and engines that perform them.", "tasks list"),
  ).action(async (options: ListingOptions) => printTasks(await listTasks(options, context), options, context));
  addSearch(
    group,
    "List the tasks whose name or description contains all these words.",
    "tasks search invoice --all",
    "part of a name or description",
  ).action(async (words: readonly string[], options: ListingOptions) => {
    const tasks = await listTasks(options, context);
    const found = tasks.filter(({ task, fullname, description }) => containsAll([task, fullname, description], words));
    printTasks(found, options, context);
  });
  addListingOptions(
    explain(
      group.command("show"),
      "Show the engines of a task with their prices; with --json also the schemas of its input and output.",
      "tasks show text/moderation --all",
    ).argument("<task>", "<feature>/<subfeature>, as `switchyard tasks list` prints it"),
  ).action(async (task: string, options: ListingOptions) => {
    const [feature = "", subfeature = "", ...rest] = task.split("/");
    if (subfeature === "" || rest.length > 0)
      throw new UsageError(`A task is named <feature>/<subfeature>, such as text/moderation, not "${task}".`);
    const path = `/v3/info/${encodeURIComponent(feature)}/${encodeURIComponent(subfeature)}?${toListingQuery(options)}`;
    const detail = await askGatewayForJson<SubfeatureDetail>(options.from ?? context.readAddress(), path);
    printResult(context, options.json, { json: detail, lines: describeTask(task, detail, options) });
  });
  return group;
}

async function listTasks(options: ListingOptions, context: GatewayContext): Promise<NamedTask[]> {
  const path = `/v3/info?${toListingQuery(options)}`;
  const { features } = await askGatewayForJson<FeatureList>(options.from ?? context.readAddress(), path);
  return features.flatMap(({ name, subfeatures }) =>
    subfeatures.map((subfeature) => ({ task: `${name}/${subfeature.name}`, ...subfeature })),
  );
}

function printTasks(tasks: readonly NamedTask[], options: ListingOptions, context: GatewayContext): void {
  printListing(context, options, {
    json: { tasks },
    header: ["task", "runs as", "name", "providers"],
    rows: tasks.map(({ task, models, fullname }) => [
      task,
      models[0]?.mode === "async" ? "job" : "request",
      fullname,
      [...new Set(models.map(({ provider }) => provider))].join(", ") || null,
    ]),
    textColumns: 4,
    none: `No task was found.${options.all ? "" : " --all adds those of providers that are not configured."}`,
  });
}

function describeTask(
  task: string,
  { fullname, description, models }: SubfeatureDetail,
  { all }: ListingOptions,
): string[] {
  if (models.length === 0)
    return [
      `${task}: ${fullname}. ${description}`,
      `No configured provider performs it.${all ? "" : " --all shows those that could."}`,
    ];
  const rows = models.map(({ model, configured, default_model, pricing }) => [
    model,
    configured ? "yes" : "no",
    default_model,
    pricing === null ? null : describePrice(pricing),
  ]);
  return [
    `${task}: ${fullname}. ${description}`,
    "",
    ...alignColumns([["model", "configured", "default model", "price"], ...rows], 4),
  ];
}

function describePrice({
  price,
  output_price,
  price_unit_quantity: quantity,
  price_unit_type: unit,
}: TaskPricing): string {
  if (price === 0 && (output_price ?? 0) === 0) return "free";
  const output = output_price === undefined ? "" : `, output ${output_price} USD`;
  return `${price} USD${output} per ${quantity === 1 ? unit : `${quantity} ${unit}`}`;
}
