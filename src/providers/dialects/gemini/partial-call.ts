// A function call whose arguments arrive in pieces, each with a path. The call is passed on when it is complete.

import { setOwn } from "../../../lib/set-at.ts";
import type { JsonObject } from "../../dialect.ts";
import { asText, objectOrNull, objectsIn } from "../../lenient.ts";

const maxItems = 10_000;

type Container = Record<string, unknown> | unknown[];

const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|\[()\]/g;

export class PartialCall {
  readonly #first: JsonObject;
  readonly #signature: string | null;
  readonly #args: Record<string, unknown> = Object.create(null);

  constructor(first: JsonObject, signature: string | null) {
    this.#first = first;
    this.#signature = signature;
    this.add(first);
  }

  add(call: JsonObject): void {
    for (const piece of objectsIn(call["partialArgs"])) this.#fill(piece);
  }

  /** The call as an answer that is not streamed has it. */
  toPart(): JsonObject {
    const { partialArgs: _pieces, willContinue: _more, args, ...call } = this.#first;
    const whole = { ...call, args: { ...objectOrNull(args), ...this.#args } };
    return { functionCall: whole, ...(this.#signature === null ? {} : { thoughtSignature: this.#signature }) };
  }

  #fill(piece: JsonObject): void {
    const steps = stepsOf(asText(piece["jsonPath"]) ?? "");
    const last = steps.pop();
    if (last === undefined) return;
    let container: Container = this.#args;
    for (const [index, name] of steps.entries()) {
      const next = steps[index + 1] ?? last;
      const inner = at(container, name);
      container =
        typeof inner === "object" && inner !== null ? (inner as Container) : put(container, name, containerFor(next));
    }
    // `$.tags[]` names an empty list.
    if (last === "") return;
    const before = at(container, last);
    const value = readValue(piece);
    put(container, last, typeof before === "string" && typeof value === "string" ? before + value : value);
  }
}

function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index, single, double] of path.matchAll(step)) {
    if (index !== undefined) steps.push(Number(index));
    else steps.push(name ?? single ?? double ?? "");
  }
  return steps;
}

function containerFor(next: string | number): Container {
  return typeof next === "number" || next === "" ? [] : Object.create(null);
}

/** Only own members: a path may contain `constructor` or `__proto__`. */
function at(container: Container, name: string | number): unknown {
  return Object.hasOwn(container, name) ? (container as Record<string | number, unknown>)[name] : undefined;
}

/** Ignores an index that would make a list very long, and a name in a list. */
function put<Value>(container: Container, name: string | number, value: Value): Value {
  const isTooLarge = typeof name === "number" && name > maxItems;
  if (!isTooLarge && (typeof name === "number" || !Array.isArray(container))) setOwn(container, name, value);
  return value;
}

function readValue(piece: JsonObject): unknown {
  if (typeof piece["stringValue"] === "string") return piece["stringValue"];
  if (typeof piece["numberValue"] === "number") return piece["numberValue"];
  if (typeof piece["boolValue"] === "boolean") return piece["boolValue"];
  return null;
}
