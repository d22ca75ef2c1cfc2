// JSON Schema as the example maker and the checker share it: reading members safely, references, and a bound on the work.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Members = Readonly<Record<string, unknown>>;
export type Schema = boolean | Members;

/** The schema cannot be worked with: a reference into nowhere, or more work than a sandbox will do. */
export class SchemaProblem extends Error {}

const maxSteps = 100_000;
const maxNesting = 400;

/** One look at one schema. Schemas come from callers and may be built to explode. */
export class SchemaDocument {
  readonly root: Schema;
  readonly #stepsAllowed: number;
  #stepsDone = 0;
  #nesting = 0;

  /** A schema of our own may be given all the steps that it needs. */
  constructor(root: unknown, stepsAllowed = maxSteps) {
    this.root = asSchema(root);
    this.#stepsAllowed = stepsAllowed;
  }

  get stepsDone(): number {
    return this.#stepsDone;
  }

  step(): void {
    if (++this.#stepsDone > this.#stepsAllowed) throw new SchemaProblem("the schema is too large");
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
    if (reference !== "#" && !reference.startsWith("#/")) {
      throw new SchemaProblem(`the reference ${reference} is not local (#/...)`);
    }
    let found: unknown = this.root;
    for (const segment of reference.split("/").slice(1)) {
      const key = decodeSegment(segment);
      found = Array.isArray(found) ? found[Number(key)] : own(found, key);
      if (found === undefined) throw new SchemaProblem(`the reference ${reference} leads nowhere`);
    }
    return asSchema(found);
  }
}

export function asSchema(value: unknown): Schema {
  if (typeof value === "boolean") return value;
  return isMembers(value) ? value : true;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Only what the document itself says: a property may be called "constructor". */
export function own(value: unknown, key: string): unknown {
  return isMembers(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function entriesOf(value: unknown): readonly (readonly [string, Schema])[] {
  return isMembers(value) ? Object.entries(value).map(([key, schema]) => [key, asSchema(schema)]) : [];
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function typesOf(schema: Members): readonly string[] | undefined {
  const { type } = schema;
  if (type === undefined) return undefined;
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
  return schema["nullable"] === true && !types.includes("null") ? [...types, "null"] : types;
}

/** Tuple positions and what follows them, in the spelling of 2020-12 or of the drafts before it. */
export function itemsOf(schema: Members): { prefix: readonly Schema[]; rest: Schema } {
  const { items } = schema;
  if (Array.isArray(items)) return { prefix: items.map(asSchema), rest: asSchema(schema["additionalItems"]) };
  return { prefix: listOf(schema["prefixItems"]).map(asSchema), rest: asSchema(items) };
}

/** Equal values have equal texts, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`).join(",")}}`;
}

function decodeSegment(segment: string): string {
  let decoded = segment;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    // A stray percent sign is itself.
  }
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~");
}
