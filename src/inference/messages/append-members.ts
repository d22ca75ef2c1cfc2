// Appends the gateway's members to a provider's JSON and leaves its other bytes unchanged.

import { editMembers, scanJson } from "../../lib/json-scan.ts";
import type { JsonObject } from "../../providers/dialect.ts";

const nothing: ReadonlyMap<string, string> = new Map();

/** `value` is the parsed text. Members of the same names, which another gateway may have added, are replaced. */
export function appendMembers(text: string, value: JsonObject, added: JsonObject): string {
  const members = JSON.stringify(added).slice(1, -1);
  const names = Object.keys(added);
  if (!names.some((name) => Object.hasOwn(value, name))) return `${text.slice(0, text.lastIndexOf("}"))},${members}}`;
  return editMembers(text, scanJson(text), { replace: nothing, remove: new Set(names), append: [members] });
}
