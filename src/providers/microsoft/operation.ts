// Work that the vendor does while it is asked, again and again, whether it is done.

import { asNumber, asObject, asText, at } from "../lenient.ts";
import { type NextRequest, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";

const longestWaitMs = 10_000;

/** What follows an answer; `toPath` says where to ask, by the id of the operation. */
export function nextOfOperation(
  answer: TaskResponse,
  asked: TaskRequest,
  toPath: (id: string) => Pick<TaskRequest, "path" | "query">,
): NextRequest | null {
  const waitMs = readWait(answer);
  if (answer.status === 202) {
    const id = readId(answer.header("operation-location") ?? "");
    return { method: "GET", ...toPath(id), waitMs };
  }
  const status = String(asObject(answer.json)["status"] ?? "").toLowerCase();
  if (status === "notstarted" || status === "running") return { ...asked, waitMs };
  if (status === "failed" || status === "cancelled" || status === "canceled") throw toFailure(answer);
  return null;
}

/** Only the id is taken: the gateway's credentials go to no address but the operator's. */
function readId(location: string): string {
  const id = /\/([\w-]+)(?:\?.*)?$/.exec(location)?.[1];
  if (id === undefined) throw new TypeError("the answer does not say where the operation is");
  return id;
}

function readWait(answer: TaskResponse): number | "growing" {
  const seconds = asNumber(answer.header("retry-after"));
  return seconds === null ? "growing" : Math.min(longestWaitMs, Math.max(100, seconds * 1_000));
}

function toFailure({ json }: TaskResponse): TaskFailure {
  const error = asObject(at(json, "error") ?? at(json, "errors", 0));
  const inner = asText(at(error, "innererror", "message"));
  const message = inner ?? asText(error["message"]) ?? "the operation failed";
  return new TaskFailure(/^Invalid/i.test(asText(error["code"]) ?? "") ? 400 : 502, message);
}
