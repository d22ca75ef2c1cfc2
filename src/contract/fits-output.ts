// Checks outputs of engines against the schema of their task.

import { setImmediate as nextTurn } from "node:timers/promises";
import { type Json, SchemaDocument } from "../lib/json-schema/schema.ts";
import { fitsSchema } from "../lib/json-schema/schema-check.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import type { Task } from "./tasks.ts";

// Checking this many items takes about a millisecond, which is as long as another request may wait.
const itemsAtOnce = 125;

export function fitsOutput(output: JsonObject, { outputSchema }: Pick<Task, "outputSchema">): boolean {
  const document = new SchemaDocument(outputSchema, "unlimited");
  return fitsSchema(output as Json, document.root, document);
}

/** Checks long lists in parts, so that other requests are served in between: 60,000 items take half a second. */
export async function fitsOutputInParts(output: JsonObject, task: Pick<Task, "outputSchema">): Promise<boolean> {
  const long = Object.entries(output).filter((member): member is [string, unknown[]] => {
    return Array.isArray(member[1]) && member[1].length > itemsAtOnce;
  });
  const firstParts = Object.fromEntries(long.map(([name, list]) => [name, list.slice(0, itemsAtOnce)]));
  if (!fitsOutput({ ...output, ...firstParts }, task)) return false;
  // One item of each list stands for the others while another list is checked.
  const samples = Object.fromEntries(long.map(([name, list]) => [name, list.slice(0, 1)]));
  for (const [name, list] of long) {
    for (let start = itemsAtOnce; start < list.length; start += itemsAtOnce) {
      await nextTurn();
      if (!fitsOutput({ ...output, ...samples, [name]: list.slice(start, start + itemsAtOnce) }, task)) return false;
    }
  }
  return true;
}
