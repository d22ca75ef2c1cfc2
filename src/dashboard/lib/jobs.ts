// How jobs are named on pages.

import type { Job } from "../api/types.ts";

const cancelled = "The job was cancelled.";

/** `processing` says little: a job waits for its turn, or it runs. A cancelled job is a failed one for its owner. */
export function statusOf({ status, runs, error }: Pick<Job, "status" | "runs" | "error">): string {
  if (status === "processing") return runs === 0 ? "queued" : "running";
  if (status === "fail") return error?.message === cancelled ? "cancelled" : "failed";
  return status;
}

export function taskOf({ feature, subfeature }: Pick<Job, "feature" | "subfeature">): string {
  return `${feature}/${subfeature}`;
}

export function performerOf({ provider, model }: Pick<Job, "provider" | "model">): string {
  return model === null ? provider : `${provider}/${model}`;
}

/** Until now, for a job that has not ended. */
export function durationOf({ created_at, finished_at }: Pick<Job, "created_at" | "finished_at">): number {
  return (finished_at === null ? Date.now() : Date.parse(finished_at)) - Date.parse(created_at);
}
