// The parts of JSON Schema that the example generator and the checker share: reading members safely, references, and a limit of the work.

import { isObject, type JsonObject } from "../lenient-json.ts";
import { decodePointerStep } from "../percent-decoding.ts";
import { type CompiledPattern, compilePattern, estimateSize } from "./match-pattern.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Schema = boolean | JsonObject;

/** The schema cannot be used: a reference does not resolve, or the schema needs too much work. */
export class SchemaProblem extends Error {}

/** The schema needs more work than its budget has. */
export class BudgetSpent extends SchemaProblem {}

const maxNesting = 400;
const maxPatterns = 1_000;
const unitsPerStep = 40;
const unitsPerPattern = 10_000;
/** Compiling an instruction costs about as much as so many comparisons. */
const unitsPerInstruction = 100;
/** The budget on the event loop: tens of milliseconds, in which every other caller waits. */
export const eventLoopUnits = 1_000_000;

/**
 * How much work schemas may cause, in units of about one comparison. The work is counted and not timed, so that the outcome does not
 * depend on the load of the machine.
 */
export class WorkBudget {
  #unitsLeft: number;

  constructor(units: number) {
    this.#unitsLeft = units;
  }

  spend(units: number): void {
    this.#unitsLeft -= units;
    if (this.#unitsLeft < 0) throw new BudgetSpent("the schema takes too long to apply");
  }
}

/** One use of one schema. Schemas come from callers and may be built to be expensive. */
export class SchemaDocument {
  readonly root: Schema;
  readonly #budget: WorkBudget;
  readonly #patterns = new Map<string, CompiledPattern>();
  #stepsDone = 0;
  #nesting = 0;

  /** A schema of our own is trusted: it gets all the work that it needs. */
  constructor(root: unknown, budget: WorkBudget | "unlimited" = new WorkBudget(eventLoopUnits)) {
    this.root = asSchema(root);
    this.#budget = budget === "unlimited" ? new WorkBudget(Number.POSITIVE_INFINITY) : budget;
  }

  get stepsDone(): number {
    return this.#stepsDone;
  }

  step(): void {
    this.#stepsDone++;
    this.spend(unitsPerStep);
  }

  /** Work whose amount the schema or the value decides: a unit is about one comparison. */
  spend(units: number): void {
    this.#budget.spend(units);
  }

  /** Null when the pattern cannot be applied (match-pattern.ts). */
  matches(text: string, source: string): boolean | null {
    const { matches, size } = this.#compile(source);
    if (matches === null) return null;
    // Spent beforehand, because a match cannot be interrupted.
    this.spend(size * text.length);
    return matches(text);
  }

  #compile(source: string): CompiledPattern {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    if (this.#patterns.size >= maxPatterns) throw new SchemaProblem(`the schema has more than ${maxPatterns} patterns`);
    // Spent beforehand, because compiling cannot be interrupted.
    const estimatedSize = estimateSize(source) ?? 0;
    this.spend(unitsPerPattern + estimatedSize * unitsPerInstruction);
    const compiled = compilePattern(source);
    this.#patterns.set(source, compiled);
    this.spend(Math.max(0, compiled.size - estimatedSize) * unitsPerInstruction);
    return compiled;
  }

  /** A schema may refer to itself without ever reaching a value. */
  nest<Result>(look: () => Result): Result {
    if (this.#nesting > maxNesting) throw new SchemaProblem("the schema is nested too deeply, or refers to itself");
    this.#nesting++;
    try {
      return look();
    } finally {
      this.#nesting--;
    }
  }

  resolve(reference: string): Schema {
    this.step();
    this.spend(reference.length);
    if (reference !== "#" && !reference.startsWith("#/")) {
      throw new SchemaProblem(`the reference ${reference} is not local (#/...)`);
    }
    let found: unknown = this.root;
    for (const segment of reference.split("/").slice(1)) {
      const key = decodePointerStep(segment);
      found = Array.isArray(found) ? found[Number(key)] : own(found, key);
      if (found === undefined) throw new SchemaProblem(`the reference ${reference} leads nowhere`);
    }
    return asSchema(found);
  }
}

export function asSchema(value: unknown): Schema {
  if (typeof value === "boolean") return value;
  return isObject(value) ? value : true;
}

/** Only what the document itself says: a property may be called "constructor". */
export function own(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function entriesOf(value: unknown): readonly (readonly [string, Schema])[] {
  return isObject(value) ? Object.entries(value).map(([key, schema]) => [key, asSchema(schema)]) : [];
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function typesOf(schema: JsonObject): readonly string[] | undefined {
  const { type } = schema;
  if (type === undefined) return undefined;
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
  return schema["nullable"] === true && !types.includes("null") ? [...types, "null"] : types;
}

/** Tuple positions and what follows them, in the spelling of 2020-12 or of the drafts before it. */
export function itemsOf(schema: JsonObject): { prefix: readonly Schema[]; rest: Schema } {
  const { items } = schema;
  if (Array.isArray(items)) return { prefix: items.map(asSchema), rest: asSchema(schema["additionalItems"]) };
  return { prefix: listOf(schema["prefixItems"]).map(asSchema), rest: asSchema(items) };
}

export function areEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => areEqual(item, other[at]));
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && areEqual(one[name], other[name]));
}

/** Equal values have equal texts, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`).join(",")}}`;
}
