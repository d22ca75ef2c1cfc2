// Members of ours behind those of a provider, whose bytes stay as they came.

import { editMembers, scanJson } from "../../lib/json-scan.ts";
import type { JsonObject } from "../../providers/dialect.ts";

const nothing: ReadonlyMap<string, string> = new Map();

/** `value` is what the text says. A provider that is a gateway itself may have members of the same names: ours count. */
export function appendMembers(text: string, value: JsonObject, added: JsonObject): string {
  const members = JSON.stringify(added).slice(1, -1);
  const names = Object.keys(added);
  if (!names.some((name) => Object.hasOwn(value, name))) return `${text.slice(0, text.lastIndexOf("}"))},${members}}`;
  return editMembers(text, scanJson(text), { replace: nothing, remove: new Set(names), append: [members] });
}
