// A reference to an item that the gateway has kept, in the item's place: clients that believe a response to be kept send its
// items by their ids alone. The id of an item tells in which response it stands.

import { editMembers, scanJson } from "../../lib/json-scan.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { ConversationStore } from "./conversation-store.ts";
import type { ResponsesInput } from "./responses-input.ts";
import { responseIdOf } from "./to-response.ts";

const mostResponses = 1_000;

/** References that lead nowhere stay: whoever reads them says so. */
export async function withReferencedItems(
  input: ResponsesInput,
  owner: string,
  conversations: ConversationStore,
): Promise<ResponsesInput> {
  const given = input.value["input"];
  if (!Array.isArray(given)) return input;
  const items = given as readonly JsonObject[];
  const referenced = items.flatMap((item) => (item["type"] === "item_reference" ? [responseIdOf(item["id"])] : []));
  const ids = new Set(referenced.filter((id) => id !== null));
  if (ids.size === 0 || ids.size > mostResponses) return input;

  const kept = new Map<unknown, JsonObject>();
  for (const id of ids) {
    const response = await conversations.find(id, owner);
    const output = response === null ? null : (await conversations.readResponse(response))?.["output"];
    for (const item of (output ?? []) as readonly JsonObject[]) kept.set(item["id"], item);
  }
  const told = items.map((item) => (item["type"] === "item_reference" ? (kept.get(item["id"]) ?? item) : item));
  const replace = new Map([["input", JSON.stringify(told)]]);
  const text = editMembers(input.text, input.scan, { replace, remove: new Set(), append: [] });
  return {
    ...input,
    request: { ...input.request, input: told as NonNullable<ResponsesInput["request"]["input"]> },
    value: { ...input.value, input: told },
    text,
    scan: scanJson(text),
  };
}
