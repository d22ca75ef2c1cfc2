// What the tests of the cloud vendors share: a picture, and the request of a task.

import type { JsonObject } from "../../src/providers/dialect.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import type { TaskRequest } from "../../src/providers/task.ts";
import { type CallOptions, callOf, fileOf, taskOf } from "../engines/vendor-calls.ts";

/** The head of a PNG of 200 by 100 pixels: enough to know its size. */
export const picture = Buffer.from("89504e470d0a1a0a0000000d49484452000000c80000006408020000", "hex");

export const photo = { files: { file: fileOf(picture, "image/png") } };

export async function requestOf(row: ProviderRow, task: string, options: CallOptions): Promise<TaskRequest> {
  const mapping = taskOf(row, task);
  const { defaultModel } = mapping;
  return mapping.toRequest(callOf({ ...(defaultModel && { model: defaultModel }), ...options }));
}

export function jsonOf({ body }: TaskRequest): unknown {
  return body?.kind === "json" ? body.value : null;
}

export const text = (value: string, more: JsonObject = {}) => ({ input: { text: value, ...more } });

export const items = (output: JsonObject) => output["items"] as readonly JsonObject[];
