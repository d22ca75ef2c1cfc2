// The models of the sandbox: normal ones, and faults that a gateway or client must survive. The name of a model determines its behaviour.

import type { ModelFacts } from "../provider.ts";

export type Voice =
  | { readonly kind: "echo" | "transcript" | "chat" | "reasoning" | "refusal" }
  /** Counts aloud: "1 2 3 ...", one token each. */
  | { readonly kind: "count"; readonly tokens: number };

export type Fault =
  | {
      readonly kind:
        | "none"
        | "hang"
        | "cut"
        | "stall"
        | "no-done"
        | "garbage"
        | "error-in-stream"
        | "garbage-in-stream";
    }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "slow" | "slow-start"; readonly delayMs: number };

export interface Behaviour {
  readonly voice: Voice;
  readonly fault: Fault;
}

export interface SandboxModel {
  /** As in the documentation: `slow-<ms>`. */
  readonly name: string;
  /** The name in the catalogue, with an example of the number. */
  readonly facts: ModelFacts;
  readonly about: string;
  /** The model breaks or delays its answer, for tests of clients. It is not listed. */
  readonly isFault?: true;
  /** Null if the model does not accept the number. */
  readonly behave: (number: number) => Behaviour | null;
}

const maxDelayMs = 600_000;
const maxFloodTokens = 100_000;

const abilities = { input: ["text", "image", "audio", "file"], tools: true, jsonSchema: true } as const;
const none: Fault = { kind: "none" };
const echo: Voice = { kind: "echo" };

export const sandboxModels: readonly SandboxModel[] = [
  voice("echo", "repeats the last user message", echo),
  voice("transcript", "repeats all messages, with their roles", { kind: "transcript" }),
  voice("chat", "answers with a fixed text of several sentences", { kind: "chat" }),
  {
    ...voice("reasoning", "reasons first: `reasoning_content`, and `reasoning_tokens` in the usage", {
      kind: "reasoning",
    }),
    facts: { id: "reasoning", ...abilities, reasoning: true },
  },
  voice("refusal", "refuses: `refusal` instead of `content`", { kind: "refusal" }),
  {
    name: "flood-<n>",
    facts: { id: "flood-1000", ...abilities },
    about: "counts from 1 to n, one chunk each; n is at most 100000",
    behave: (tokens) =>
      tokens >= 1 && tokens <= maxFloodTokens ? { voice: { kind: "count", tokens }, fault: none } : null,
  },
  fault("slow", "50 ms between chunks", { kind: "slow", delayMs: 50 }),
  delay("slow-<ms>", "slow", "that many milliseconds between chunks"),
  delay("slow-start-<ms>", "slow-start", "that many milliseconds before the answer starts"),
  fault("hang", "never answers", { kind: "hang" }),
  fault("stall", "sends 3 chunks, then nothing, and stays open", { kind: "stall" }),
  fault("cut", "closes the connection after 3 chunks", { kind: "cut" }),
  fault("no-done", "ends its stream without `[DONE]`", { kind: "no-done" }),
  fault("garbage", "answers 200 with an HTML page", { kind: "garbage" }),
  fault("garbage-in-stream", "sends an event that is not JSON after 2 chunks", { kind: "garbage-in-stream" }),
  fault("error-in-stream", "sends an error object after 2 chunks and ends", { kind: "error-in-stream" }),
  {
    name: "error-<status>",
    facts: { id: "error-429", ...abilities },
    isFault: true,
    about: "answers with that status (400 to 599) and an error body; 429 has `retry-after`",
    behave: (status) => (status >= 400 && status <= 599 ? { voice: echo, fault: { kind: "status", status } } : null),
  },
];

export function findBehaviour(id: string): Behaviour | null {
  const plain = sandboxModels.find((model) => model.name === id);
  if (plain !== undefined) return plain.behave(0);

  const numbered = /^([a-z-]+-)(0|[1-9]\d{0,5})$/.exec(id);
  if (numbered === null) return null;
  const model = sandboxModels.find((candidate) => candidate.name.replace(/<.*>/, "") === numbered[1]);
  return model?.behave(Number(numbered[2])) ?? null;
}

function voice(name: string, about: string, kind: Voice): SandboxModel {
  return { name, facts: { id: name, ...abilities }, about, behave: () => ({ voice: kind, fault: none }) };
}

function fault(name: string, about: string, kind: Fault): SandboxModel {
  const facts = { id: name, ...abilities };
  return { name, facts, about, isFault: true, behave: () => ({ voice: echo, fault: kind }) };
}

function delay(name: string, kind: "slow" | "slow-start", about: string): SandboxModel {
  return {
    name,
    facts: { id: name.replace("<ms>", "200"), ...abilities },
    about,
    isFault: true,
    behave: (delayMs) => (delayMs <= maxDelayMs ? { voice: echo, fault: { kind, delayMs } } : null),
  };
}
