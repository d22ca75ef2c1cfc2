// `switchyard jobs list|show|cancel|redeliver`: jobs of all owners. They use the database, beside a running gateway and without one.

import type { Command } from "commander";
import { commandActor } from "../access/roles.ts";
import { type DeliveryObject, jobPath } from "../contract/async-jobs.ts";
import { listManagedJobsQuery, type ManagedJob, type ManagedJobDetail } from "../contract/managed-jobs.ts";
import { parse } from "../contract/problems.ts";
import { createManagedJobs, type ManagedJobs } from "../jobs/managed-jobs.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { createCommand, explain, printResult, type Result } from "./command-line.ts";
import { fromOption, toOption, type UsageContext, withStorage } from "./usage.ts";

type JobsContext = UsageContext;

/** Arguments are checked before the store is opened. */
export function createJobsCommand(context: JobsContext): Command {
  const group = createCommand("jobs", "List, show and cancel jobs, and send their webhooks again.", context);

  explain(group.command("list"), "List the jobs of all keys, newest first.", "jobs list --status fail")
    .option("--status <status>", "processing, success or fail")
    .option("--task <name>", "only jobs of this task, such as ocr/ocr_async, or feature, such as ocr")
    .option("--provider <name>", "only jobs of this provider")
    .option("--key <id>", "only jobs of this key")
    .option("--team <name>", "only jobs of this team")
    .option(...fromOption)
    .option(...toOption)
    .option("--limit <n>", "jobs per page; default: 100")
    .option("--cursor <text>", "next_cursor of the previous page")
    .option("--json", "print JSON")
    .action(async ({ json, ...given }: { json?: true }) => {
      const query = parse(listManagedJobsQuery, given, "query");
      await perform(context, json, async (jobs) => {
        const list = await jobs.list(query, null);
        const more = list.next_cursor === null ? [] : [`More: --cursor ${list.next_cursor}`];
        return { json: list, lines: [...toListing(list.items), ...more] };
      });
    });

  const addJobCommand = (name: string, summary: string, work: (jobs: ManagedJobs, id: string) => Promise<Result>) =>
    explain(group.command(name), summary, `jobs ${name} 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11`)
      .argument("<job id>", "as `switchyard jobs list` prints it")
      .option("--json", "print JSON")
      .action(async (given: string, { json }: { json?: true }) => {
        const id = parse(jobPath, { job_id: given }, "path").job_id;
        await perform(context, json, (jobs) => work(jobs, id));
      });

  addJobCommand("show", "Show a job, its result and every attempt to deliver its webhook.", async (jobs, id) => {
    const job = await jobs.find(id, null);
    const { output, error, ...rest } = await jobs.readResult(id, commandActor());
    const lines = [...describeJob(job, output), ...describeDeliveries(job.deliveries)];
    return { json: { ...job, ...rest, output, error }, lines };
  });
  addJobCommand("cancel", "Cancel a queued or running job. Its receiver is called.", async (jobs, id) => {
    const job = await jobs.cancel(id, commandActor());
    return { json: job, lines: [`Job ${id} is cancelled.`] };
  });
  const redelivery = "Send the webhook of a finished job again. A running gateway or worker sends it.";
  addJobCommand("redeliver", redelivery, async (jobs, id) => {
    const delivery = await jobs.redeliver(id, commandActor());
    return { json: delivery, lines: [`Delivery ${delivery.id} to ${delivery.receiver} is queued.`] };
  });
  return group;
}

async function perform(
  context: JobsContext,
  isJson: true | undefined,
  work: (jobs: ManagedJobs) => Promise<Result>,
): Promise<void> {
  printResult(context, isJson, await withStorage(context, (storage) => work(createManagedJobs(storage))));
}

function toListing(items: readonly ManagedJob[]): string[] {
  const header = ["job", "status", "task", "created", "team or key", "webhook", "runs", "cost"];
  const rows = items.map((job) => [
    ...[job.job_id, job.status, nameOf(job), job.created_at, job.team ?? job.key_name ?? job.key_id],
    ...[job.webhook === null ? "-" : (job.webhook.state ?? "waiting"), job.runs],
    job.cost === null ? null : JSON.stringify(job.cost),
  ]);
  return alignColumns([header, ...rows], header.indexOf("runs"));
}

function nameOf({ feature, subfeature, provider, model }: ManagedJob): string {
  return [feature, subfeature, provider, model].filter((part) => part !== null).join("/");
}

function describeJob(job: ManagedJobDetail, output: object | null): string[] {
  const rows: [string, string | number | null][] = [
    ["job", job.job_id],
    ["status", job.progress === null ? job.status : `${job.status}, ${Math.round(job.progress * 100)} %`],
    ["task", nameOf(job)],
    ["team", job.team],
    ["key", job.key_name === null ? job.key_id : `${job.key_name} (${job.key_id})`],
    ["request", job.request_id],
    ["created", job.created_at],
    ["finished", job.finished_at],
    ["runs", job.runs],
    ["cost", job.cost === null ? (job.cost_reason ?? null) : `${JSON.stringify(job.cost)} USD`],
    ["error", job.error === null ? null : JSON.stringify(job.error)],
    ["output", output === null ? null : shorten(JSON.stringify(output))],
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
