// Replaces references to items that the gateway stores by the items: clients that expect a response to be stored send only the ids of its
// items. The id of an item contains the id of its response.

import { ValidationError } from "../../errors.ts";
import { editMembers, scanJson } from "../../lib/json-scan.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { type ConversationStore, maxItemBytes, maxReadBytes } from "./conversation-store.ts";
import type { ResponsesInput } from "./responses-input.ts";
import { responseIdOf } from "./to-response.ts";

const mostResponses = 1_000;

/** Unknown references stay; the translation or the provider reports them. */
export async function withReferencedItems(
  input: ResponsesInput,
  owner: string,
  conversations: ConversationStore,
): Promise<ResponsesInput> {
  const received = input.value["input"];
  if (!Array.isArray(received)) return input;
  const items = received as readonly JsonObject[];
  const referenced = items.flatMap((item) => (item["type"] === "item_reference" ? [responseIdOf(item["id"])] : []));
  const ids = new Set(referenced.filter((id) => id !== null));
  if (ids.size === 0 || ids.size > mostResponses) return input;

  const stored = new Map<unknown, JsonObject>();
  const toError = () => tooLong("responses whose items", maxReadBytes);
  const allowance = { bytes: maxReadBytes, toError };
  for (const id of ids) {
    const response = await conversations.find(id, owner);
    const output = response === null ? null : (await conversations.readResponse(response, allowance))?.["output"];
    for (const item of (output ?? []) as readonly JsonObject[]) stored.set(item["id"], item);
  }
  const lengths = new Map<JsonObject, number>();
  let totalLength = 0;
  const resolved = items.map((item) => {
    const found = item["type"] === "item_reference" ? stored.get(item["id"]) : undefined;
    if (found === undefined) return item;
    // An item counts as often as it is referred to.
    const length = lengths.get(found) ?? JSON.stringify(found).length;
    lengths.set(found, length);
    totalLength += length;
    if (totalLength > maxItemBytes) throw tooLong("items that", maxItemBytes);
    return found;
  });
  const replace = new Map([["input", JSON.stringify(resolved)]]);
  const text = editMembers(input.text, input.scan, { replace, remove: new Set(), append: [] });
  return {
    ...input,
    request: { ...input.request, input: resolved as NonNullable<ResponsesInput["request"]["input"]> },
    value: { ...input.value, input: resolved },
    text,
    scan: scanJson(text),
  };
}

function tooLong(what: string, maxBytes: number): ValidationError {
  const msg = `The ${what} are referred to may have at most ${maxBytes} bytes together`;
  return new ValidationError([{ loc: ["body", "input"], msg, type: "too_long" }]);
}
