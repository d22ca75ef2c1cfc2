// The models of the sandbox: normal ones, and faults that a gateway or client must survive. The name of a model determines its behaviour.

import type { ModelFacts } from "../provider.ts";

type PlainVoice = "echo" | "transcript" | "chat" | "reasoning" | "refusal";

export type Voice =
  | { readonly kind: PlainVoice }
  /** Counts aloud: "1 2 3 ...", one token each. */
  | { readonly kind: "count"; readonly tokens: number };

type PlainFault = "none" | "hang" | "cut" | "stall" | "no-done" | "garbage" | "error-in-stream" | "garbage-in-stream";

export type Fault =
  | { readonly kind: PlainFault }
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
const slow: Behaviour = { voice: echo, fault: { kind: "slow", delayMs: 50 } };

export const sandboxModels: readonly SandboxModel[] = [
  normal("echo", "repeats the last user message"),
  normal("transcript", "repeats all messages, with their roles"),
  normal("chat", "answers with a fixed text of several sentences"),
  {
    ...normal("reasoning", "reasons first: `reasoning_content`, and `reasoning_tokens` in the usage"),
    facts: { id: "reasoning", ...abilities, reasoning: true },
  },
  normal("refusal", "refuses: `refusal` instead of `content`"),
  {
    name: "flood-<n>",
    facts: { id: "flood-1000", ...abilities },
    about: "counts from 1 to n, one chunk each; n is at most 100000",
    behave: (tokens) =>
      tokens >= 1 && tokens <= maxFloodTokens ? { voice: { kind: "count", tokens }, fault: none } : null,
  },
  { ...delay("slow", "slow", "50 ms between chunks"), behave: () => slow },
  delay("slow-<ms>", "slow", "that many milliseconds between chunks"),
  delay("slow-start-<ms>", "slow-start", "that many milliseconds before the answer starts"),
  fault("hang", "never answers"),
  fault("stall", "sends 3 chunks, then nothing, and stays open"),
  fault("cut", "closes the connection after 3 chunks"),
  fault("no-done", "ends its stream without `[DONE]`"),
  fault("garbage", "answers 200 with an HTML page"),
  fault("garbage-in-stream", "sends an event that is not JSON after 2 chunks"),
  fault("error-in-stream", "sends an error object after 2 chunks and ends"),
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

function normal(name: PlainVoice, about: string): SandboxModel {
  return { name, facts: { id: name, ...abilities }, about, behave: () => ({ voice: { kind: name }, fault: none }) };
}

function fault(name: PlainFault, about: string): SandboxModel {
  const facts = { id: name, ...abilities };
  return { name, facts, about, isFault: true, behave: () => ({ voice: echo, fault: { kind: name } }) };
}

function delay(name: string, kind: "slow" | "slow-start", about: string): SandboxModel {
  const facts = { id: name.replace("<ms>", "200"), ...abilities };
  const behave = (delayMs: number) => (delayMs <= maxDelayMs ? { voice: echo, fault: { kind, delayMs } } : null);
  return { name, facts, about, isFault: true, behave };
}
