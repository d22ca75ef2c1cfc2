// Builds answers in the chat format, and objects without empty members.

import type { ChatAnnotation, ChatChoice, ChatCompletion, FinishReason } from "../../contract/chat-format.ts";
import { lookUp } from "../../lib/look-up.ts";

type Filled<Members> = { [Name in keyof Members]?: Exclude<Members[Name], null | undefined> };

/** Removes members without a value: some vendors refuse null. */
export function present<Members extends object>(members: Members): Filled<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as Filled<Members>;
}

/** Removes members without content: null, an empty text, list or object. */
export function filled<Members extends object>(members: Members): Filled<Members> {
  const isEmpty = (value: unknown) =>
    value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  const entries = Object.entries(present(members)).filter(([, value]) => !isEmpty(value));
  return Object.fromEntries(entries) as Filled<Members>;
}

interface CompletionParts {
  readonly id?: string;
  readonly created?: number;
  readonly model: string;
  readonly choices: readonly ChatChoice[];
  readonly [member: string]: unknown;
}

/** `id`, `created` and further members may be empty. */
export function toCompletion({ id, created, model, choices, ...others }: CompletionParts): ChatCompletion {
  return {
    id: id || createId("chatcmpl-"),
    object: "chat.completion",
    created: created || nowSeconds(),
    model,
    choices,
    ...filled(others),
  };
}

interface Citation {
  readonly url: string;
  readonly title: string;
  /** The quoted text of the source. */
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

export function toUrlCitation({ url, title, content, start, end }: Citation): ChatAnnotation {
  const source = { url, title, start_index: start, end_index: end, ...filled({ content }) };
  return { type: "url_citation", url_citation: source };
}

type VendorReasons = { readonly [Reason in FinishReason]?: readonly string[] };

/** Looks up finish reasons that a vendor lists by the reason of the chat format. */
export function createFinishReasons(byReason: VendorReasons): (vendorReason: unknown) => FinishReason | undefined {
  const reasons = Object.entries(byReason) as readonly (readonly [FinishReason, readonly string[]])[];
  const table = Object.fromEntries(reasons.flatMap(([reason, names]) => names.map((name) => [name, reason])));
  return (vendorReason) => (typeof vendorReason === "string" ? lookUp(table, vendorReason) : undefined);
}

export function createId(prefix: string): string {
  return prefix + Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("hex");
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
