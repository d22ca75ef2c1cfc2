// Prompts and answers on spans: only if the operator asks for them, with secrets removed, and cut to a size. Binary content is never recorded.

import { isObject } from "../lib/lenient-json.ts";
import { hideSecretForms } from "../lib/secret-forms.ts";
import type { Log } from "../log.ts";

export interface ContentRules {
  /** The most characters of all texts of one attribute. */
  readonly maxCharacters: number;
  /** Removes what must not leave the gateway. */
  readonly redact: (text: string) => string;
}

interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

const hidden = "[redacted]";
/** Longer than any secret that is recognized. */
export const lookAhead = 1_024;

/** `log` knows the values of the gateway's own secrets. `pattern`: a regular expression of the operator. */
export function createContentRules(
  maxCharacters: number,
  pattern: string | null,
  log: Pick<Log, "redact">,
): ContentRules {
  const own = pattern === null ? null : new RegExp(pattern, "gu");
  return {
    maxCharacters,
    redact(text) {
      const clean = hideSecretForms(log.redact(text, hidden), hidden);
      return own === null ? clean : clean.replace(own, hidden);
    },
  };
}

/** Cuts texts when all of them together have become too long. */
class Budget {
  readonly #rules: ContentRules;
  #left: number;

  constructor(rules: ContentRules) {
    this.#rules = rules;
    this.#left = rules.maxCharacters;
  }

  take(text: string): string {
    // Redacted before it is cut: a part of a secret would no longer be recognized.
    const most = this.#left + lookAhead;
    const clean = this.#rules.redact(text.slice(0, most));
    const kept = clean.slice(0, this.#left).toWellFormed();
    this.#left -= kept.length;
    return kept.length < clean.length || text.length > most ? `${kept}…` : kept;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }
}

/** The value of `gen_ai.input.messages`; undefined for a request without messages. Reads the chat, Messages and Responses formats. */
export function writeInput(request: unknown, rules: ContentRules): string | undefined {
  if (!isObject(request)) return undefined;
  const listed = request["messages"] ?? request["input"];
  const messages = typeof listed === "string" ? [{ role: "user", content: listed }] : listed;
  if (!Array.isArray(messages)) return undefined;
  const budget = new Budget(rules);
  // The newest messages say most about the answer.
  const kept: Message[] = [];
  for (const message of messages.toReversed()) {
    if (budget.isSpent) break;
    if (isObject(message)) kept.push(toMessage(message, budget));
  }
  return JSON.stringify(kept.reverse());
}

/** The value of `gen_ai.system_instructions`. */
export function writeInstructions(request: unknown, rules: ContentRules): string | undefined {
  if (!isObject(request)) return undefined;
  const given = request["system"] ?? request["instructions"];
  if (given === undefined || given === null) return undefined;
  return JSON.stringify(toParts(given, new Budget(rules)));
}

/** The value of `gen_ai.output.messages`: one message for each choice. */
export function writeOutput(
  choices: readonly { readonly text: string; readonly finishReason: string | null }[],
  rules: ContentRules,
): string {
  const budget = new Budget(rules);
  const messages = choices.map(({ text, finishReason }): Message => {
    const parts = text === "" ? [] : [{ type: "text", content: budget.take(text) }];
    return { role: "assistant", parts, ...(finishReason !== null && { finish_reason: finishReason }) };
  });
  return JSON.stringify(messages);
}

/** The input of a task as one message of its caller: `gen_ai.input.messages`. */
export function writeTaskInput(input: unknown, rules: ContentRules): string {
  return JSON.stringify([{ role: "user", parts: [toJsonPart(input, rules)] } satisfies Message]);
}

/** The output of a task as one message: `gen_ai.output.messages`. */
export function writeTaskOutput(output: unknown, rules: ContentRules): string {
  const message: Message = { role: "assistant", parts: [toJsonPart(output, rules)], finish_reason: "stop" };
  return JSON.stringify([message]);
}

/** Texts in the JSON are cut as well, so that a large one costs little. */
function toJsonPart(value: unknown, rules: ContentRules): Part {
  const most = rules.maxCharacters + lookAhead;
  const text = JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== "string") return member;
    return binaryForms.test(member) ? binary : member.slice(0, most);
  });
  return { type: "text", content: new Budget(rules).take(text) };
}

const binary = "[binary]";
// A data address, or Base64 that is longer than any word.
const binaryForms = /^(?:data:[^,]{0,200};base64,|[A-Za-z0-9+/_-]{512})/;

function toMessage(message: Readonly<Record<string, unknown>>, budget: Budget): Message {
  const { role, content, type } = message;
  const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"].filter(isObject) : [];
  const name = typeof role === "string" ? role : typeof type === "string" ? type : "unknown";
  return { role: name, parts: [...toParts(content, budget), ...calls.map((call) => toCall(call, budget))] };
}

function toCall(call: Readonly<Record<string, unknown>>, budget: Budget): Part {
  const { name, arguments: written } = isObject(call["function"]) ? call["function"] : call;
  const text = typeof written === "string" ? written : JSON.stringify(written ?? {});
  return { type: "tool_call", id: call["id"], name, arguments: budget.take(text) };
}

function toParts(content: unknown, budget: Budget): Part[] {
  if (typeof content === "string") return [{ type: "text", content: budget.take(content) }];
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).map((part): Part => {
    const type = typeof part["type"] === "string" ? part["type"] : "unknown";
    const { text } = part;
    if (typeof text === "string") return { type: "text", content: budget.take(text) };
    if (type === "tool_result")
      return { type: "tool_call_response", id: part["tool_use_id"], result: toParts(part["content"], budget) };
    // Pictures, recordings and files: only that there is one.
    return { type };
  });
}
