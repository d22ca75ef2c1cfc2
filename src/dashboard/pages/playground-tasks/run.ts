// Runs a task over the public interface: uploads its files, calls it or submits it as a job, and follows the job to its end.

import { useEffect, useRef, useState } from "react";
import type { JobObject } from "../../../contract/async-jobs.ts";
import type { FileObject } from "../../../contract/files.ts";
import { ApiError } from "../../api/client.ts";
import { notifyError } from "../../components/notify-error.ts";
import { fetchWithKey } from "../../playground/key.ts";
import { type TaskRequest, toBody } from "./task-code.ts";

export interface TaskResult {
  readonly provider: string;
  readonly cost: number | null;
  readonly costReason: string | null;
  /** As the browser measured it, uploads not included. */
  readonly elapsedMs: number;
  readonly requestId: string | null;
  readonly output: Readonly<Record<string, unknown>>;
  /** The whole answer. */
  readonly raw: unknown;
}

export type RunState =
  | { readonly phase: "idle" }
  | { readonly phase: "uploading" | "running"; readonly request: TaskRequest; readonly job: JobObject | null }
  | { readonly phase: "done"; readonly request: TaskRequest; readonly result: TaskResult }
  | { readonly phase: "failed"; readonly request: TaskRequest; readonly error: unknown }
  | { readonly phase: "cancelled"; readonly request: TaskRequest };

const tasksPath = "/v3/universal-ai";
const jobsPath = "/v3/universal-ai/async";
const firstPollMs = 300;
const maxPollMs = 2_000;

export function useTaskRun() {
  const [state, setState] = useState<RunState>({ phase: "idle" });
  const current = useRef<{ readonly controller: AbortController; job: JobObject | null } | null>(null);
  useEffect(() => () => current.current?.controller.abort(), []);

  async function run(request: TaskRequest): Promise<void> {
    current.current?.controller.abort();
    const controller = new AbortController();
    const { signal } = controller;
    const mine = { controller, job: null as JobObject | null };
    current.current = mine;
    const show = (next: RunState) => {
      if (current.current === mine) setState(next);
    };
    try {
      show({ phase: "uploading", request, job: null });
      const call: Call = (path, init) => fetchWithKey(path, { ...init, signal });
      const body = JSON.stringify(await replaceFiles(toBody(request), call));
      show({ phase: "running", request, job: null });
      const onJob = (job: JobObject) => {
        mine.job = job;
        show({ phase: "running", request, job });
      };
      const result = await (request.isJob ? runJob(body, { call, signal, onJob }) : runNow(body, call));
      show({ phase: "done", request, result });
    } catch (error) {
      show(signal.aborted ? { phase: "cancelled", request } : { phase: "failed", request, error });
    }
  }

  async function cancel(): Promise<void> {
    const mine = current.current;
    mine?.controller.abort();
    if (mine?.job == null) return;
    try {
      await fetchWithKey(`${jobsPath}/${mine.job.job_id}/cancel`, { method: "POST" });
    } catch (error) {
      // A job that has just ended cannot be cancelled, and need not be.
      if (!(error instanceof ApiError && error.code === "job_finished")) notifyError("The job may still run", error);
    }
  }

  return {
    state,
    run,
    cancel,
    reset() {
      current.current?.controller.abort();
      current.current = null;
      setState({ phase: "idle" });
    },
  };
}

/** Ends with the run. */
type Call = typeof fetchWithKey;

interface TaskAnswer {
  readonly provider: string;
  readonly cost: number | null;
  readonly cost_reason?: string;
  readonly output: Readonly<Record<string, unknown>>;
}

async function runNow(body: string, call: Call): Promise<TaskResult> {
  const start = performance.now();
  const response = await post(tasksPath, body, call);
  const answer = (await response.json()) as TaskAnswer;
  return {
    provider: answer.provider,
    cost: answer.cost,
    costReason: answer.cost_reason ?? null,
    elapsedMs: performance.now() - start,
    requestId: response.headers.get("x-request-id"),
    output: answer.output,
    raw: answer,
  };
}

interface JobContext {
  readonly call: Call;
  readonly signal: AbortSignal;
  readonly onJob: (job: JobObject) => void;
}

async function runJob(body: string, { call, signal, onJob }: JobContext): Promise<TaskResult> {
  const submitted = await post(jobsPath, body, call);
  const requestId = submitted.headers.get("x-request-id");
  let job = (await submitted.json()) as JobObject;
  for (let waitMs = firstPollMs; job.status === "processing"; waitMs = Math.min(maxPollMs, waitMs * 1.3)) {
    onJob(job);
    await pause(waitMs, signal);
    job = (await (await call(`${jobsPath}/${job.job_id}`)).json()) as JobObject;
  }
  if (job.status === "fail")
    throw new ApiError(job.error?.message ?? "The job failed.", { status: 502, code: "job_failed", requestId });
  return {
    provider: job.provider,
    cost: job.cost,
    costReason: job.cost_reason ?? null,
    elapsedMs: Date.parse(job.finished_at ?? job.created_at) - Date.parse(job.created_at),
    requestId,
    output: job.output ?? {},
    raw: job,
  };
}

function post(path: string, body: string, call: Call): Promise<Response> {
  return call(path, { method: "POST", headers: { "content-type": "application/json" }, body });
}

/** A file that is run again is not sent again while the gateway still has it. */
const uploads = new WeakMap<File, string>();

async function replaceFiles(value: unknown, call: Call): Promise<unknown> {
  if (value instanceof File) return uploadOnce(value, call);
  if (Array.isArray(value)) return Promise.all(value.map((one) => replaceFiles(one, call)));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(async ([name, one]) => [name, await replaceFiles(one, call)] as const);
  return Object.fromEntries(await Promise.all(members));
}

async function uploadOnce(file: File, call: Call): Promise<string> {
  const known = uploads.get(file);
  if (known !== undefined && (await isStored(known, call))) return known;
  const form = new FormData();
  form.set("purpose", "playground");
  form.set("expires_in_days", "1");
  form.set("file", file, file.name);
  const { file_id } = (await (await call("/v3/upload", { method: "POST", body: form })).json()) as FileObject;
  uploads.set(file, file_id);
  return file_id;
}

/** Another key does not see the files of this one. */
async function isStored(fileId: string, call: Call): Promise<boolean> {
  try {
    await call(`/v3/upload/${fileId}`);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
