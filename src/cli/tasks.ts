// `switchyard tasks list|search|show`: the tasks of a running gateway, with their engines and prices.

import type { Command } from "commander";
import type { FeatureList, Subfeature, SubfeatureDetail, TaskPricing } from "../contract/info.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { askGatewayForJson, type GatewayContext } from "./ask-gateway.ts";
import { createCommand, UsageError } from "./command-line.ts";
import { addListingOptions, toListingQuery } from "./models.ts";

interface ListOptions {
  readonly all?: true;
  readonly sandbox?: true;
  readonly from?: string;
  readonly json?: true;
}

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
  addListingOptions(group.command("list").description("List tasks and the providers and engines that perform them."))
    .action(async (options: ListOptions) => printTasks(await listTasks(options, context), options, context))
    .addHelpText("after", "\nExample: npx switchyard-gateway tasks list");
  addListingOptions(
    group
      .command("search")
      .description("List the tasks whose name or description contains all these words.")
      .argument("<word...>", "part of a name or description"),
  )
    .action(async (words: readonly string[], options: ListOptions) => {
      const contains = ({ task, fullname, description }: NamedTask, word: string) =>
        [task, fullname, description].some((text) => text.toLowerCase().includes(word.toLowerCase()));
      const tasks = await listTasks(options, context);
      printTasks(
        tasks.filter((task) => words.every((word) => contains(task, word))),
        options,
        context,
      );
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway tasks search invoice --all");
  addListingOptions(
    group
      .command("show")
      .description(
        "Show the engines of a task with their prices; with --json also the schemas of its input and output.",
      )
      .argument("<task>", "<feature>/<subfeature>, as `switchyard tasks list` prints it"),
  )
    .action(async (task: string, options: ListOptions) => {
      const [feature = "", subfeature = "", ...rest] = task.split("/");
      if (subfeature === "" || rest.length > 0)
        throw new UsageError(`A task is named <feature>/<subfeature>, such as text/moderation, not "${task}".`);
      const path = `/v3/info/${encodeURIComponent(feature)}/${encodeURIComponent(subfeature)}?${toListingQuery(options)}`;
      const detail = await askGatewayForJson<SubfeatureDetail>(options.from ?? context.readAddress(), path);
      if (options.json) return context.print(JSON.stringify(detail, null, 2));
      for (const line of describeTask(task, detail, options)) context.print(line);
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway tasks show text/moderation --all");
  return group;
}

async function listTasks(options: ListOptions, context: GatewayContext): Promise<NamedTask[]> {
  const path = `/v3/info?${toListingQuery(options)}`;
  const { features } = await askGatewayForJson<FeatureList>(options.from ?? context.readAddress(), path);
  return features.flatMap(({ name, subfeatures }) =>
    subfeatures.map((subfeature) => ({ task: `${name}/${subfeature.name}`, ...subfeature })),
  );
}

function printTasks(tasks: readonly NamedTask[], { all, json }: ListOptions, { print }: GatewayContext): void {
  if (json) {
    print(JSON.stringify({ tasks }, null, 2));
    return;
  }
  if (tasks.length === 0) {
    print(`No task was found.${all ? "" : " --all adds those of providers that are not configured."}`);
    return;
  }
  const rows = tasks.map(({ task, models, fullname }) => [
    task,
    models[0]?.mode === "async" ? "job" : "request",
    fullname,
    [...new Set(models.map(({ provider }) => provider))].join(", ") || null,
  ]);
  for (const line of alignColumns([["task", "runs as", "name", "providers"], ...rows], 4)) print(line);
}

function describeTask(
  task: string,
  { fullname, description, models }: SubfeatureDetail,
  { all }: ListOptions,
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
