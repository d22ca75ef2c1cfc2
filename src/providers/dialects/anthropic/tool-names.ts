// The vendor allows fewer characters in tool names than the chat format, which allows dots and colons. Names are changed in the request and
// changed back in the answer.

import type { Reading } from "../../dialect.ts";

export interface AnthropicReading extends Reading {
  /** Changed names → the caller's names. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** Whether the vendor may run tools of its own, so that all blocks of the turn have to be sent back. */
  readonly keepsTurn: boolean;
}

const allowed = /^[a-zA-Z0-9_-]{1,128}$/;

export class ToolNames {
  readonly changed = new Map<string, string>();
  readonly #byName = new Map<string, string>();
  readonly #taken: Set<string>;

  /** Allowed names do not change, so they are reserved first. */
  constructor(names: readonly string[]) {
    this.#taken = new Set(names.filter((name) => allowed.test(name)));
    for (const name of names) this.toVendor(name);
  }

  toVendor(name: string): string {
    if (allowed.test(name)) return name;
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 120) || "tool";
    const free = this.findFree(plain);
    this.#taken.add(free);
    this.#byName.set(name, free);
    this.changed.set(free, name);
    return free;
  }

  findFree(name: string): string {
    let free = name;
    for (let count = 2; this.#taken.has(free); count++) free = `${name}_${count}`;
    return free;
  }
}

export function originalToolName(reading: Reading, name: string): string {
  return (reading as Partial<AnthropicReading>).toolNames?.get(name) ?? name;
}
