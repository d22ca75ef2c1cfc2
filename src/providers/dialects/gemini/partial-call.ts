// A function call whose arguments arrive piece by piece, each with the path of the place that it fills. It is handed on
// when it is whole.

import { setOwn } from "../../../lib/set-at.ts";
import type { JsonObject } from "../../dialect.ts";
import { asText, objectOrNull, objectsIn } from "../../lenient.ts";

const mostItems = 10_000;

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

  /** The call as if it had come at once. */
  toPart(): JsonObject {
    const { partialArgs: _pieces, willContinue: _more, args, ...call } = this.#first;
    const whole = { ...call, args: { ...objectOrNull(args), ...this.#args } };
    return { functionCall: whole, ...(this.#signature === null ? {} : { thoughtSignature: this.#signature }) };
  }

  #fill(piece: JsonObject): void {
    const steps = stepsOf(asText(piece["jsonPath"]) ?? "");
    const last = steps.pop();
    if (last === undefined) return;
    let place: Container = this.#args;
    for (const [index, name] of steps.entries()) {
      const next = steps[index + 1] ?? last;
      const inner = at(place, name);
      place = typeof inner === "object" && inner !== null ? (inner as Container) : put(place, name, containerFor(next));
    }
    // `$.tags[]` names an empty list.
    if (last === "") return;
    const before = at(place, last);
    const value = readValue(piece);
    put(place, last, typeof before === "string" && typeof value === "string" ? before + value : value);
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

/** Only what the call itself holds: a path may name `constructor` or `__proto__`, which would lead into the runtime's own objects. */
function at(place: Container, name: string | number): unknown {
  return Object.hasOwn(place, name) ? (place as Record<string | number, unknown>)[name] : undefined;
}

function put<Value>(place: Container, name: string | number, value: Value): Value {
  // A path may name a place that would make a list of any length; a list has no names.
  if (
    Array.isArray(place) ? typeof name !== "number" || name > mostItems : typeof name === "number" && name > mostItems
  )
    return value;
  setOwn(place, name, value);
  return value;
}

function readValue(piece: JsonObject): unknown {
  if (typeof piece["stringValue"] === "string") return piece["stringValue"];
  if (typeof piece["numberValue"] === "number") return piece["numberValue"];
  if (typeof piece["boolValue"] === "boolean") return piece["boolValue"];
  return null;
}
