// The request for a provider that has the Responses API: the caller's bytes with the provider's model name and ids, and without the
// gateway's members.

import { gatewayMemberNames } from "../../contract/chat-completions.ts";
import { throwProblems } from "../../errors.ts";
import { editMembers, scanJson } from "../../lib/json-scan.ts";
import type { IdScope, OwnedIds } from "../../lib/owned-id.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { ResponseRecord } from "./conversation-store.ts";
import { elementTexts } from "./patch-json.ts";
import { toProviderItems } from "./provider-items.ts";
import { type ResponsesInput, toItems } from "./responses-input.ts";

export interface NativeRequestOptions {
  readonly model: string;
  readonly owned: OwnedIds;
  readonly scope: IdScope;
  /** The response that the provider continues. */
  readonly previous: ResponseRecord | null;
  /** The earlier conversation, for a provider that has to receive all of it; null for a provider that stores it itself. */
  readonly history: readonly JsonObject[] | null;
  readonly mayStore: boolean;
  /** The provider stores no responses. */
  readonly isStateless: boolean;
}

const ourMembers: ReadonlySet<string> = new Set(gatewayMemberNames);

/** `pairs` are the ids of the provider in the request, with the ids of the gateway: error messages are rewritten with these. */
export function toNativeRequest(input: ResponsesInput, options: NativeRequestOptions) {
  const { text, scan, value } = input;
  const { previous, history } = options;
  refuseOtherMetadata(input.request.metadata ?? {});
  const { json, dropped, pairs } = toInput(input, options);
  const replace = new Map([["model", JSON.stringify(options.model)]]);
  const append: string[] = [];
  const set = (member: string, memberJson: string) => {
    if (member in value) replace.set(member, memberJson);
    else append.push(`${JSON.stringify(member)}:${memberJson}`);
  };
  if (json !== null) set("input", json);
  if (history !== null) set("previous_response_id", "null");
  else if (previous !== null) set("previous_response_id", JSON.stringify(previous.providerResponseId));
  if (!options.mayStore && value["store"] !== false) set("store", "false");
  if (previous?.providerResponseId) pairs.push([previous.providerResponseId, previous.id]);
  return { body: editMembers(text, scan, { replace, remove: ourMembers, append }), dropped, pairs };
}

/** The published schema allows only texts in `metadata`, and vendors reject other values. */
function refuseOtherMetadata(metadata: Readonly<Record<string, unknown>>): void {
  const msg = "This provider stores the metadata itself and accepts only texts";
  const refused = Object.keys(metadata).filter((name) => typeof metadata[name] !== "string");
  throwProblems(refused.map((name) => ({ loc: ["body", "metadata", name], msg, type: "string_type" })));
}

/** `json` is null when the input is sent unchanged. */
function toInput({ text, scan, value }: ResponsesInput, { owned, scope, isStateless, history }: NativeRequestOptions) {
  const received = value["input"] as ResponsesInput["request"]["input"] | null;
  const items = Array.isArray(received) ? (received as readonly JsonObject[]) : [];
  const ids = { owned, scope, isStateless };
  const own = toProviderItems(items, { ...ids, loc: (index) => ["body", "input", index] });
  const earlier = toProviderItems(history ?? [], { ...ids, loc: () => ["body", "previous_response_id"] });
  const problems = [...earlier.problems, ...own.problems];
  if ((value["conversation"] ?? null) !== null)
    problems.push({
      loc: ["body", "conversation"],
      msg: "Conversations of the provider are not supported: use previous_response_id",
      type: "unsupported_parameter",
    });
  throwProblems(problems);
  const dropped = [...new Set([...earlier.dropped, ...own.dropped])];
  const pairs = [...earlier.pairs, ...own.pairs];
  const isUnchanged = history === null && own.items.every((item, index) => item === items[index]);
  if (isUnchanged) return { json: null, dropped, pairs };
  const member = scan.members.findLast(({ name }) => name === "input");
  const texts =
    Array.isArray(received) && member !== undefined
      ? elementTexts(text.slice(member.valueStart, member.valueEnd)).flatMap((element, index) =>
          toElement(element, items[index] as JsonObject, own.items[index] ?? null),
        )
      : toItems(received ?? undefined).map((item) => JSON.stringify(item));
  const before = earlier.items.filter((item) => item !== null).map((item) => JSON.stringify(item));
  return { json: `[${[...before, ...texts].join(",")}]`, dropped, pairs };
}

function toElement(text: string, item: JsonObject, sent: JsonObject | null): string[] {
  if (sent === null) return [];
  if (sent === item) return [text];
  const changed = Object.keys(item).filter((member) => sent[member] !== item[member]);
  const replace = new Map(changed.map((member) => [member, JSON.stringify(sent[member])] as const));
  const remove = new Set(changed.filter((member) => !Object.hasOwn(sent, member)));
  return [editMembers(text, scanJson(text), { replace, remove, append: [] })];
}
