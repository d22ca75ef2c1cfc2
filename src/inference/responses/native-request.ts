// The caller's request as a provider gets it that has the responses API itself: the caller's bytes with what must change,
// which is names, ids that are ours, and members that are ours.

import { gatewayMemberNames } from "../../contract/chat-completions.ts";
import { type Problem, throwProblems } from "../../errors.ts";
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
  /** The provider goes on from it. */
  readonly previous: ResponseRecord | null;
  /** What was said before, when the provider has to be told all of it; null: it has not. */
  readonly history: readonly JsonObject[] | null;
  readonly mayStore: boolean;
  /** Whether the provider keeps no responses. */
  readonly isStateless: boolean;
}

export interface NativeRequest {
  readonly body: string;
  readonly dropped: readonly string[];
  /** The provider's ids in it, with ours: what the provider says of them is said to the caller in ours. */
  readonly pairs: readonly (readonly [provider: string, own: string])[];
}

const ourMembers: ReadonlySet<string> = new Set(gatewayMemberNames);

export function toNativeRequest(input: ResponsesInput, options: NativeRequestOptions): NativeRequest {
  const { text, scan, value } = input;
  const { previous, history } = options;
  refuseOtherThanTexts(input.request.metadata ?? {});
  const told = toInput(input, options);
  const replace = new Map([["model", JSON.stringify(options.model)]]);
  const append: string[] = [];
  const set = (member: string, json: string) => {
    if (member in value) replace.set(member, json);
    else append.push(`${JSON.stringify(member)}:${json}`);
  };
  if (told.json !== null) set("input", told.json);
  if (history !== null) set("previous_response_id", "null");
  else if (previous !== null) set("previous_response_id", JSON.stringify(previous.providerResponseId));
  if (!options.mayStore && value["store"] !== false) set("store", "false");
  const pairs = [...told.pairs];
  if (previous?.providerResponseId) pairs.push([previous.providerResponseId, previous.id]);
  return { body: editMembers(text, scan, { replace, remove: ourMembers, append }), dropped: told.dropped, pairs };
}

/** The published request of this API has texts only in its metadata, and vendors refuse anything else. */
function refuseOtherThanTexts(metadata: Readonly<Record<string, unknown>>): void {
  const problems = Object.entries(metadata)
    .filter(([, value]) => typeof value !== "string")
    .map(
      ([name]): Problem => ({
        loc: ["body", "metadata", name],
        msg: "This provider keeps the metadata itself and takes texts only",
        type: "string_type",
      }),
    );
  throwProblems(problems);
}

interface Told {
  /** Null: as the caller sent it. */
  readonly json: string | null;
  readonly dropped: readonly string[];
  readonly pairs: NativeRequest["pairs"];
}

function toInput(
  { text, scan, value }: ResponsesInput,
  { owned, scope, isStateless, history }: NativeRequestOptions,
): Told {
  const given = value["input"] as ResponsesInput["request"]["input"] | null;
  const items = Array.isArray(given) ? (given as readonly JsonObject[]) : [];
  const own = toProviderItems(items, { owned, scope, isStateless, loc: (index) => ["body", "input", index] });
  const earlier = toProviderItems(history ?? [], {
    owned,
    scope,
    isStateless,
    loc: () => ["body", "previous_response_id"],
  });
  const problems = [...earlier.problems, ...own.problems];
  if ((value["conversation"] ?? null) !== null)
    problems.push({
      loc: ["body", "conversation"],
      msg: "Conversations of the provider are not passed on: chain by previous_response_id",
      type: "unsupported_parameter",
    });
  throwProblems(problems);
  const dropped = [...new Set([...earlier.dropped, ...own.dropped])];
  const pairs = [...earlier.pairs, ...own.pairs];
  const isAsSent = history === null && own.items.every((item, index) => item === items[index]);
  if (isAsSent) return { json: null, dropped, pairs };
  const place = scan.members.findLast(({ name }) => name === "input");
  const texts =
    Array.isArray(given) && place !== undefined
      ? elementTexts(text.slice(place.valueStart, place.valueEnd)).flatMap((element, index) =>
          toElement(element, items[index] as JsonObject, own.items[index] ?? null),
        )
      : toItems(given ?? undefined).map((item) => JSON.stringify(item));
  const before = earlier.items.flatMap((item) => (item === null ? [] : [JSON.stringify(item)]));
  return { json: `[${[...before, ...texts].join(",")}]`, dropped, pairs };
}

function toElement(text: string, item: JsonObject, told: JsonObject | null): string[] {
  if (told === null) return [];
  if (told === item) return [text];
  const changed = Object.keys(item).filter((member) => told[member] !== item[member]);
  const replace = new Map(changed.map((member) => [member, JSON.stringify(told[member])] as const));
  const remove = new Set(changed.filter((member) => !Object.hasOwn(told, member)));
  return [editMembers(text, scanJson(text), { replace, remove, append: [] })];
}
