// Lists in the deltas of translated chunks. Clients join texts and tool calls over several deltas, but not other lists: openai-node keeps the
// list of the last delta, and openai-python fails on a second list whose entries have no `index`.

import { isObject } from "../lib/lenient-json.ts";
import type { LooseChunk } from "./chunk-source.ts";
import { type ExtraContent, mergeExtraContent } from "./reasoning-state.ts";

/** Collected, and sent once per choice, before its finish reason. */
const collectedMembers = ["annotations", "citations", "web_searches", "extra_content"] as const;
/** Sent as they arrive, because callers show them at that point. Their entries are numbered. */
const numberedMembers = ["reasoning_details", "images"] as const;
const listMembers = [...collectedMembers, ...numberedMembers];

type Choice = Readonly<Record<string, unknown>>;

export class DeltaLists {
  readonly #collected = new Map<unknown, ExtraContent>();
  /** The number of entries so far, by choice and member. */
  readonly #counts = new Map<string, number>();

  /** The chunks to send for this chunk: none if all of it was collected. */
  split(chunk: LooseChunk): readonly LooseChunk[] {
    const choices = chunk["choices"];
    if (!Array.isArray(choices) || !choices.some((choice) => this.#concerns(choice))) return [chunk];
    const rest = choices.map((choice) => this.#withoutLists(choice)).filter(hasContent);
    const chunks = rest.filter(hasFinished).flatMap((choice) => this.#take(chunk, choice["index"]));
    return rest.length === 0 ? chunks : [...chunks, { ...chunk, choices: rest }];
  }

  /** What was collected for choices without a finish reason. */
  end(lastChunk: LooseChunk): readonly LooseChunk[] {
    return [...this.#collected.keys()].flatMap((index) => this.#take(lastChunk, index));
  }

  #concerns(choice: Choice): boolean {
    if (hasFinished(choice) && this.#collected.has(choice["index"])) return true;
    const delta = choice["delta"];
    return isObject(delta) && listMembers.some((name) => delta[name] !== undefined);
  }

  #withoutLists(choice: Choice): Choice {
    const { index, delta } = choice;
    if (!isObject(delta)) return choice;
    const others = { ...delta };
    for (const name of collectedMembers) {
      const value = others[name];
      delete others[name];
      if (Array.isArray(value) || isObject(value))
        this.#collected.set(index, mergeExtraContent(this.#collected.get(index) ?? null, { [name]: value }));
    }
    for (const name of numberedMembers)
      if (Array.isArray(others[name])) others[name] = this.#number(others[name], `${index} ${name}`);
    return { ...choice, delta: others };
  }

  #number(entries: readonly unknown[], list: string): unknown[] {
    const count = this.#counts.get(list) ?? 0;
    this.#counts.set(list, count + entries.length);
    return entries.map((entry, position) => (isObject(entry) ? { index: count + position, ...entry } : entry));
  }

  #take({ id, object, created, model }: LooseChunk, index: unknown): LooseChunk[] {
    const delta = this.#collected.get(index);
    this.#collected.delete(index);
    if (delta === undefined) return [];
    return [{ id, object, created, model, choices: [{ index, delta, finish_reason: null }] }];
  }
}

function hasFinished(choice: Choice): boolean {
  return Boolean(choice["finish_reason"]);
}

function hasContent(choice: Choice): boolean {
  const { delta, logprobs } = choice;
  return hasFinished(choice) || Boolean(logprobs) || (isObject(delta) && Object.keys(delta).length > 0);
}
