// What the models of these vendors say: always the same to the same question, whatever the format.

import type { VendorRequest } from "../vendor.ts";
import * as wire from "./wire.ts";

type Members = wire.Members;

export interface Question {
  /** The last words of the user. */
  readonly said: string;
  readonly tools: readonly Tool[];
  /** `any`: something has to be called. */
  readonly choice: "auto" | "none" | "any" | { readonly name: string };
  /** What tools answered since the user spoke. */
  readonly results: readonly { readonly name: string; readonly text: string }[];
  /** The form that the answer should have; null: any. */
  readonly schema: Members | null;
  readonly thinks: boolean;
  /** What the system's words say: a tool that they ask for by name is called. */
  readonly instructions?: string;
}

export interface Tool {
  readonly name: string;
  readonly parameters: Members;
}

export interface Reply {
  /** Empty when it did not think. */
  readonly thoughts: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: Members }[];
}

const cities = /\b(?:Paris|Oslo|Rome|Lima)\b/g;

/** A request for a chat that names its model in the body, and what the model says to it. */
export function readChat(
  request: VendorRequest,
  members: readonly string[],
  readQuestion: (body: Members) => Question,
) {
  const body = wire.bodyOf(request, "body", members);
  const model = wire.textOf(body["model"], "model");
  wire.failOnDemand(model);
  const question = readQuestion(body);
  return { body, model, question, reply: replyTo(question) };
}

export function replyTo(question: Question): Reply {
  const thoughts = question.thinks
    ? `The user says “${question.said}”. ${question.results.length} results so far.`
    : "";
  const calls = callsFor(question);
  if (calls.length > 0) return { thoughts, text: "", calls };
  if (question.schema !== null) return { thoughts, text: JSON.stringify(exampleOf(question.schema)), calls };
  if (question.results.length === 0) return { thoughts, text: `You said: ${question.said}`, calls };
  const told = question.results.map(({ name, text }) => `${name} says ${text}`);
  return { thoughts, text: `${told.join(", ")}.`, calls };
}

/** One call for each city that is named, all at once. */
function callsFor({ said, tools, choice, results, instructions = "" }: Question): Reply["calls"] {
  if (choice === "none" || tools.length === 0) return [];
  if (typeof choice === "object") {
    const chosen = tools.find(({ name }) => name === choice.name);
    return chosen === undefined ? [] : [call(chosen, said.match(cities)?.[0])];
  }
  const [first] = tools;
  if (first === undefined) return [];
  const wantsWeather = /weather/i.test(said) && results.length === 0;
  if (wantsWeather) return (said.match(cities) ?? [undefined]).map((city) => call(first, city));
  // The last tool is the one through which a structured answer is given.
  const last = tools.at(-1);
  if (choice === "any" && last !== undefined) return [call(last)];
  const wanted = tools.find(({ name }) => instructions.includes(`calling the tool '${name}'`));
  return wanted === undefined ? [] : [call(wanted)];
}

function call({ name, parameters }: Tool, city?: string): Reply["calls"][number] {
  const input = exampleOf(parameters) as Members;
  return { name, input: city === undefined || !("city" in input) ? input : { ...input, city } };
}

/** A value that a schema allows: the schemas of the tests are plain. */
function exampleOf(schema: unknown, root: unknown = schema): unknown {
  const { type, properties, items, anyOf, const: constant, enum: values, $ref: reference } = (schema ?? {}) as Members;
  if (typeof reference === "string") {
    const steps = reference.replace(/^#\//, "").split("/");
    return exampleOf(
      steps.reduce<unknown>((value, step) => (value as Members | undefined)?.[step], root),
      root,
    );
  }
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], root);
  switch (Array.isArray(type) ? type[0] : (type ?? "object")) {
    case "string":
      return "some words";
    case "number":
      return 1.5;
    case "integer":
      return 2;
    case "boolean":
      return true;
    case "array":
      return items === undefined ? [] : [exampleOf(items, root)];
    case "null":
      return null;
    default:
      return Object.fromEntries(
        Object.entries((properties ?? {}) as Members).map(([name, member]) => [name, exampleOf(member, root)]),
      );
  }
}

/** Tokens are words here. */
export function countWords(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}

const bytesPerNumber = 256;

/** Exact in 32 bits, different for different texts. */
export function vectorOf(text: string, dimensions = 4): number[] {
  const hash = new Bun.CryptoHasher("sha256").update(text).digest();
  return Array.from({ length: dimensions }, (_, index) => ((hash[index % hash.length] ?? 0) - 128) / bytesPerNumber);
}
