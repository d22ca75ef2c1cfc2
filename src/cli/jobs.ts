// `switchyard jobs list|show|cancel|redeliver`: jobs of all owners. They use the database, beside a running gateway and without one.

import type { Command } from "commander";
import {
  type DeliveryObject,
  type JobObject,
  jobPath,
  listJobsQuery,
  type UnfinishedJobObject,
} from "../contract/async-jobs.ts";
import { toOffset, toPage } from "../contract/paging.ts";
import { parse } from "../contract/problems.ts";
import { createStoredJobs, type StoredJobs } from "../jobs/jobs.ts";
import { alignColumns } from "../usage/report-formats.ts";
import type { Result } from "./access-command.ts";
import { createCommand } from "./command-line.ts";
import { type UsageContext, withStorage } from "./usage.ts";

type JobsContext = UsageContext;

/** Arguments are checked before the store is opened. */
export function createJobsCommand(context: JobsContext): Command {
  const group = createCommand("jobs", "List, show and cancel jobs, and send their webhooks again.", context);
  const argument = ["<job id>", "as `switchyard jobs list` prints it"] as const;

  group
    .command("list")
    .description("List the jobs of all keys, newest first.")
    .option("--status <status>", "processing, success or fail")
    .option("--feature <name>", "only jobs of this feature, such as text")
    .option("--subfeature <name>", "only jobs of this subfeature, such as moderation")
    .option("--owner <text>", "only jobs of this owner, as the list prints it: key:<id> or owner:<name>")
    .option("--page <n>", "default: 1")
    .option("--limit <n>", "jobs per page")
    .option("--json", "print JSON")
    .action(async ({ json, owner = null, ...given }: { json?: true; owner?: string | null }) => {
      const query = parse(listJobsQuery, given, "query");
      const { status = null, feature = null, subfeature = null, limit } = query;
      await perform(context, json, async (jobs) => {
        const filter = { owner, status, feature, subfeature, limit, offset: toOffset(query) };
        const { items, total } = await jobs.listAll(filter);
        return { json: toPage(items, total, query), lines: toListing(items, total) };
      });
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway jobs list --status fail");

  group
    .command("show")
    .description("Show a job, its result and every attempt to deliver its webhook.")
    .argument(...argument)
    .option("--json", "print JSON")
    .action(async (given: string, { json }: { json?: true }) => {
      const id = readJobId(given);
      await perform(context, json, async (jobs) => {
        const job = await jobs.findAny(id);
        const deliveries = await jobs.listDeliveries(id, null);
        return { json: { ...job, deliveries }, lines: [...describeJob(job), ...describeDeliveries(deliveries)] };
      });
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway jobs show 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11");

  group
    .command("cancel")
    .description("Cancel a queued or running job. Its receiver is called.")
    .argument(...argument)
    .option("--json", "print JSON")
    .action(async (given: string, { json }: { json?: true }) => {
      const id = readJobId(given);
      await perform(context, json, async (jobs) => {
        const job = await jobs.cancel(id, null);
        return { json: job, lines: [`Job ${id} is cancelled.`] };
      });
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway jobs cancel 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11");

  group
    .command("redeliver")
    .description("Send the webhook of a finished job again. A running gateway or worker sends it.")
    .argument(...argument)
    .option("--json", "print JSON")
    .action(async (given: string, { json }: { json?: true }) => {
      const id = readJobId(given);
      await perform(context, json, async (jobs) => {
        const delivery = await jobs.redeliver(id, null);
        return { json: delivery, lines: [`Delivery ${delivery.id} to ${delivery.receiver} is queued.`] };
      });
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway jobs redeliver 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11");

  return group;
}

async function perform(
  context: JobsContext,
  isJson: true | undefined,
  work: (jobs: StoredJobs) => Promise<Result>,
): Promise<void> {
  const { json, lines } = await withStorage(context, (storage) => work(createStoredJobs(storage)));
  if (isJson) context.print(JSON.stringify(json, null, 2));
  else for (const line of lines) context.print(line);
}

function readJobId(given: string): string {
  return parse(jobPath, { job_id: given }, "path").job_id;
}

function toListing(items: readonly UnfinishedJobObject[], total: number): string[] {
  const header = ["job", "status", "task", "created", "owner", "runs", "cost"];
  const rows = items.map((job) => [
    job.job_id,
    job.status,
    nameOf(job),
    job.created_at,
    job.owner,
    job.runs,
    job.cost === null ? null : JSON.stringify(job.cost),
  ]);
  return [...alignColumns([header, ...rows], header.indexOf("runs")), "", `${items.length} of ${total} jobs`];
}

function nameOf({ feature, subfeature, provider, model }: JobObject): string {
  return [feature, subfeature, provider, model].filter((part) => part !== null).join("/");
}

function describeJob(job: UnfinishedJobObject): string[] {
  const rows: [string, string | number | null][] = [
    ["job", job.job_id],
    ["status", job.progress === undefined ? job.status : `${job.status}, ${Math.round(job.progress * 100)} %`],
    ["task", nameOf(job)],
    ["owner", job.owner],
    ["key", job.key_id],
    ["created", job.created_at],
    ["finished", job.finished_at],
    ["runs", job.runs],
    ["cost", job.cost === null ? (job.cost_reason ?? null) : `${JSON.stringify(job.cost)} USD`],
    ["error", job.error === null ? null : JSON.stringify(job.error)],
    ["output", job.output === null ? null : shorten(JSON.stringify(job.output))],
  ];
  return alignColumns(rows, 2);
}

function describeDeliveries(deliveries: readonly DeliveryObject[]): string[] {
  return deliveries.flatMap(({ id, state, receiver, attempts }) => [
    "",
    `delivery ${id} to ${receiver}: ${state}`,
    ...(attempts.length === 0
      ? []
      : alignColumns(
          [
            ["  attempt", "started", "status", "error", "ms"],
            ...attempts.map(({ number, started_at, status, error, duration_ms }) => [
              `  ${number}`,
              started_at,
              status,
              error,
              duration_ms,
            ]),
          ],
          4,
        )),
  ]);
}

const maxPrintedCharacters = 2_000;

function shorten(text: string): string {
  return text.length <= maxPrintedCharacters
    ? text
    : `${text.slice(0, maxPrintedCharacters)} … (--json prints all of it)`;
}
