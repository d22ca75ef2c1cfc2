// Long-running operations of Azure AI services: a first answer with status 202 says where to poll for the result.

import { asNumber, asObject, asString, asText, at } from "../lenient.ts";
import { requireValue } from "../shapes/require-value.ts";
import { type NextRequest, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";

const maxWaitMs = 10_000;

/** The next poll, or null when the operation is done. `toPath`: where to poll for the operation with this id. */
export function pollOperation(
  response: TaskResponse,
  request: TaskRequest,
  toPath: (id: string) => Pick<TaskRequest, "path" | "query">,
): NextRequest | null {
  const seconds = asNumber(response.header("retry-after"));
  const waitMs = seconds === null ? "growing" : Math.min(maxWaitMs, Math.max(100, seconds * 1_000));
  if (response.status === 202) {
    // Only the id is used: credentials are sent to no address but the configured one.
    const id = /\/([\w-]+)(?:\?.*)?$/.exec(response.header("operation-location") ?? "")?.[1];
    return { method: "GET", ...toPath(requireValue(id, "id of the operation")), waitMs };
  }
  const { status, error, errors } = asObject(response.json);
  switch (asString(status).toLowerCase()) {
    case "notstarted":
    case "running":
      return { ...request, waitMs };
    case "failed":
    case "cancelled":
    case "canceled":
      throw toFailure(asObject(error ?? at(errors, 0)));
    default:
      return null;
  }
}

function toFailure({ code, message, innererror }: Readonly<Record<string, unknown>>): TaskFailure {
  const text = asText(at(innererror, "message")) ?? asText(message) ?? "the operation failed";
  return new TaskFailure(/^Invalid/i.test(asString(code)) ? 400 : 502, text);
}
