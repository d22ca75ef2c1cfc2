// The task that every vendor of this folder pretends to work on: ten steps, each with reasoning and one call of a tool that runs a
// command (the third step calls it twice at once), then a closing text. The words are invented.

import { createHash } from "node:crypto";
import { answer, httpChunk, lastHttpChunk, type Script, streamHead } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";

export type Members = Readonly<Record<string, unknown>>;

export const stepCount = 10;
export const closingText = "All ten steps are done.";
const doubledStep = 3;

export interface Step {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly { readonly command: string }[];
}

/** `turns` is the number of turns of the assistant that called a tool. */
export function stepAfter(turns: number, vendor: string): Step {
  const step = turns + 1;
  const thought = `${vendor} thinks about step ${step}. It needs a command.`;
  if (step > stepCount) return { thought, text: closingText, calls: [] };
  const commands = step === doubledStep ? [`echo step ${step}a`, `echo step ${step}b`] : [`echo step ${step}`];
  return { thought, text: step === 1 ? "I start." : "", calls: commands.map((command) => ({ command })) };
}

/** The tool of the agent that runs a command, and its arguments. */
export function toCall(tools: readonly Members[], command: string): { name: string; arguments: string } {
  const names: Readonly<Record<string, (command: string) => Members>> = {
    Bash: (text) => ({ command: text, description: "Runs a step" }),
    exec_command: (text) => ({ cmd: text }),
  };
  for (const tool of tools) {
    const name = String((tool["function"] as Members | undefined)?.["name"] ?? tool["name"]);
    const write = names[name];
    if (write !== undefined) return { name, arguments: JSON.stringify(write(command)) };
  }
  throw new Error("the agent offers no tool that runs a command");
}

/** Only the vendor can make it, for one thought: what comes back changed does not fit. */
export function seal(thought: string, vendor: string): string {
  return createHash("sha256").update(`${vendor}: ${thought}`).digest("base64");
}

/** The vendor refuses the request; the body is the vendor's own form of an error. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(body: unknown, status = 400) {
    super(JSON.stringify(body));
    this.name = "Refusal";
    this.status = status;
    this.body = body;
  }
}

export function serveStrictly(request: VendorRequest, run: (body: Members) => Script): Script {
  try {
    return run(JSON.parse(request.body.toString()) as Members);
  } catch (error) {
    if (error instanceof Refusal) return answer(error.status, error.body);
    throw error;
  }
}

export function streamOf(events: readonly (string | Members)[], named = false): Script {
  const texts = events.map((event) => {
    if (typeof event === "string") return `data: ${event}\n\n`;
    return `${named ? `event: ${String(event["type"])}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
  });
  return [streamHead(), ...texts.map(httpChunk), lastHttpChunk];
}

export function piecesOf(text: string): readonly string[] {
  return text.match(/.{1,9}/gs) ?? [];
}

export function objects(value: unknown): readonly Members[] {
  return Array.isArray(value) ? (value as readonly Members[]) : [];
}
