// Requests that many vendors take in the same form.

import { asText, at } from "../lenient.ts";
import type { FormPart, InputFile, NextRequest, TaskRequest } from "../task.ts";
import { filePart } from "./inputs.ts";
import { requireValue } from "./require-value.ts";

type FieldValue = string | number | boolean | InputFile | null | undefined;

/** Fields that are null or undefined are not sent; a list becomes several fields of the same name. */
export async function postForm(
  path: string,
  fields: Readonly<Record<string, FieldValue | readonly FieldValue[]>>,
  options: Omit<TaskRequest, "path" | "body"> = {},
): Promise<TaskRequest> {
  const parts: FormPart[] = [];
  for (const [name, values] of Object.entries(fields))
    for (const value of [values].flat()) {
      if (value === null || value === undefined) continue;
      parts.push(typeof value === "object" ? await filePart(name, value) : { name, value: String(value) });
    }
  return { path, body: { kind: "form", parts }, ...options };
}

/** Asks for the state of work that the vendor does in the background, by the id in the response that started it. */
export function poll(path: string, json: unknown, idMember = "id"): NextRequest {
  const id = requireValue(asText(at(json, idMember)), "id");
  return { method: "GET", path: `${path}/${encodeURIComponent(id)}`, waitMs: "growing" };
}
