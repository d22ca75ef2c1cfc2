// The vendor's names of tools are narrower than ours, which may hold dots and colons. What had to change is changed back
// in the answer.

import type { Reading } from "../../dialect.ts";

/** What the reader of an answer has to know, and this dialect alone. */
export interface AnthropicReading extends Reading {
  /** Names as the vendor knows them → as the caller wrote them, where they differ. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** Whether the vendor may run tools of its own, whose blocks it wants back. */
  readonly keepsTurn: boolean;
}

const allowed = /^[a-zA-Z0-9_-]{1,128}$/;

export class ToolNames {
  readonly changed = new Map<string, string>();
  readonly #byName = new Map<string, string>();
  readonly #taken: Set<string>;

  /** Names that are allowed stay as they are, so they are reserved first. */
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

/** A reading made elsewhere has no names to change back. */
export function originalToolName(reading: Reading, name: string): string {
  return (reading as Partial<AnthropicReading>).toolNames?.get(name) ?? name;
}
