// `switchyard usage`. It reads the database, beside a running gateway and without one.

import type { Command } from "commander";
import { parse } from "../contract/problems.ts";
import { usageQuery } from "../contract/usage.ts";
import type { Storage } from "../storage/storage.ts";
import type { UsageCheck } from "../storage/usage-check.ts";
import { toReportCsv, toReportJson, toReportTable } from "../usage/report-formats.ts";
import { createUsageReports } from "../usage/reports.ts";
import { CommandFailed, collect, createCommand, type Output, UsageError } from "./command-line.ts";

export interface UsageContext extends Output {
  openStorage(): Promise<Storage>;
}

interface UsageOptions {
  readonly by?: readonly string[];
  readonly timeZone?: string;
  readonly json?: true;
  readonly csv?: true;
}

/** Arguments are checked before the store is opened. */
export function createUsageCommand(context: UsageContext): Command {
  const command = createCommand("usage", "Report lines, tokens and cost from the ledger.", context);
  addFilterOptions(addTimeOptions(command))
    .option(
      "--by <dimensions>",
      "day, hour, key, team, tag, tag:<name>, provider, model, task, endpoint, outcome",
      collect,
    )
    .option("--sort <order>", "name, cost, lines or tokens; default: name with days or hours, otherwise cost")
    .option("--limit <n>", "only the first rows")
    .option("--csv", "print CSV")
    .option("--json", "print JSON")
    .action(async ({ by, timeZone, json, csv, ...options }: UsageOptions) => {
      if (json && csv) throw new UsageError("Choose one of --json and --csv.");
      const query = parse(usageQuery, { ...options, ...toMembers({ group_by: by, time_zone: timeZone }) }, "query");
      const report = await withStorage(context, (storage) => createUsageReports(storage.usageReports).report(query));
      if (json) context.print(JSON.stringify(toReportJson(report), null, 2));
      else if (csv) context.print(toReportCsv(report).trimEnd());
      else for (const line of toReportTable(report)) context.print(line);
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway usage --by day,model --from 7d");
  command.addCommand(createCheckCommand(context));
  return command;
}

function createCheckCommand(context: UsageContext): Command {
  return createCommand("check", "Compare the ledger with the budgets and the hourly totals.", context)
    .option("--json", "print JSON")
    .action(async (_: unknown, command: Command) => {
      const found = await withStorage(context, (storage) => storage.usageCheck.run());
      // The command above has the option as well, and takes it when it stands before the name of this one.
      if (command.optsWithGlobals<{ json?: true }>().json) context.print(toCheckJson(found));
      else for (const line of toCheckLines(found)) context.print(line);
      if (found.differences.length > 0) throw new CommandFailed();
    })
    .addHelpText("after", "\nExit code 1 if something differs. Example: npx switchyard-gateway usage check");
}

function toCheckJson({ partlyDeleted, hasMore, differences, ...counts }: UsageCheck): string {
  const shown = differences.map((one) => ({ ...one, ledger: String(one.ledger), derived: String(one.derived) }));
  const json = { ...counts, partly_deleted: partlyDeleted, differences: shown, has_more: hasMore };
  return JSON.stringify(json, null, 2);
}

function toCheckLines({ lines, accounts, hours, partlyDeleted, differences, hasMore }: UsageCheck): string[] {
  return [
    ...differences.map(
      ({ what, of, ledger, derived }) => `${what} of ${of}: ${ledger} in the ledger, ${derived} counted`,
    ),
    ...(hasMore ? ["There are more differences."] : []),
    ...(partlyDeleted > 0
      ? [`${partlyDeleted} accounts began before the oldest line, so they cannot be compared in full.`]
      : []),
    `${lines} lines, ${accounts} accounts of budgets and the totals of ${hours} hours: ${differences.length === 0 ? "no differences" : `${differences.length} differences`}.`,
  ];
}

export const fromOption = [
  "--from <time>",
  "a date, a time such as 2026-11-30T12:00:00Z, or hours or days before now such as 24h or 7d",
] as const;
export const toOption = ["--to <time>", "the end, which is not included; a date is included as a whole day"] as const;

export function addTimeOptions(command: Command): Command {
  return command
    .option(...fromOption)
    .option(...toOption)
    .option("--time-zone <name>", "of days and dates, such as Europe/Berlin; default: UTC");
}

const filters: Readonly<Record<string, string>> = {
  "--key <id>": "only lines of this key; filters are repeatable, one value must match",
  "--team <name>": "only lines of this team",
  "--tag <tag>": "only lines with this tag, name=value or a name; all given tags must match",
  "--provider <name>": "only lines of this provider",
  "--model <name>": "only lines of this model, with or without its provider",
  "--task <name>": "only lines of this task, such as text/moderation",
  "--endpoint <path>": "only lines of this route, such as /v3/chat/completions",
  "--outcome <code>": "only lines with this outcome: completed, caller_left, or the code of an error",
};

export function addFilterOptions(command: Command): Command {
  for (const [flags, description] of Object.entries(filters)) command.option(flags, description, collect);
  return command;
}

/** Options that were not given are left out. */
export function toMembers(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

export async function withStorage<T>(context: UsageContext, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await context.openStorage();
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}
