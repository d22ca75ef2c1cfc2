// One question to a model until its answer can be used: once more without what the model does not take, once more with what was
// wrong. What all of it cost is added up.

import type { ChatCompletion, ChatMessage, ChatRequest } from "../../contract/chat-format.ts";
import type { JsonSchema } from "../../contract/tasks.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import { picoPerUsd, toUsd } from "../../lib/money.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { TaskCall } from "../engine.ts";
import { AnswerProblem } from "./definition.ts";
import { type Prompt, toMessages, toRepair } from "./prompt.ts";

/** One chat completion at one offer. Throws what a chat completion throws. */
export type Complete = (
  request: ChatRequest,
  offer: { readonly provider: string; readonly model: string },
  context: Pick<TaskCall, "signal" | "deadline" | "requestId" | "onAttempt">,
) => Promise<Completed>;

export interface Completed {
  readonly completion: ChatCompletion;
  readonly charge: { readonly cost: number | null; readonly reason: string | null };
}

export interface Question {
  readonly prompt: Prompt;
  /** A name for the form of the answer: letters, digits, underscores. */
  readonly name: string;
  /** In the part of the language that vendors take. */
  readonly schema: JsonSchema;
  /** Whether the model can be held to a schema; otherwise it is only told. */
  readonly isHeld: boolean;
  readonly options: ChatOptions;
  /** Members of the caller's own for the vendor's call. */
  readonly params: JsonObject;
  /** Throws an AnswerProblem. */
  readonly read: (text: string) => JsonObject;
}

export interface ChatOptions {
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

export interface Told {
  readonly output: JsonObject;
  readonly completion: ChatCompletion;
  readonly tokens: number;
  readonly charge: Completed["charge"];
}

type Send = (request: Unaddressed) => Promise<Completed>;

/** A chat request that does not say yet which model it is for. */
interface Unaddressed {
  readonly messages: readonly ChatMessage[];
  readonly [member: string]: unknown;
}

const rounds = 2;
/** Ours, or of no sense for a task. */
const keptFromCaller = new Set(
  "model messages response_format stream stream_options n tools tool_choice functions function_call modalities audio".split(
    " ",
  ),
);

export async function askModel(question: Question, who: string, send: Send): Promise<Told> {
  const account = new Account();
  let manner: Manner = { isHeld: question.isHeld, options: question.options };
  const added: ChatMessage[] = [];
  let problem = "";
  for (let round = 0; round < rounds; round++) {
    const answer = await sendSuitably(question, manner, added, send).catch((error: unknown) => {
      // An answer that the chat layer itself could not take: nothing of it is known but that it was bad.
      if (round > 0 || !isBadAnswer(error)) throw error;
      return error;
    });
    if (answer instanceof GatewayError) {
      account.addUnknown();
      problem = answer.message;
      added.push(...toRepair("", "it did not have the form that was asked for", question.schema));
      continue;
    }
    manner = answer.manner;
    account.add(answer.completed);
    const { completion } = answer.completed;
    const text = readText(completion, who);
    try {
      const output = question.read(text);
      return { output, completion, tokens: account.tokens, charge: account.charge };
    } catch (error) {
      if (!(error instanceof AnswerProblem)) throw error;
      problem = error.message;
      added.push(...toRepair(text, problem, question.schema));
    }
  }
  throw new GatewayError(
    "provider_bad_response",
    `The model '${who}' did not answer in the form that the task needs, also when asked again: ${problem}.`,
  );
}

/** How a model is spoken to: what it does not take is given up. */
interface Manner {
  readonly isHeld: boolean;
  readonly options: ChatOptions;
}

interface Answered {
  readonly completed: Completed;
  readonly manner: Manner;
}

async function sendSuitably(question: Question, first: Manner, added: ChatMessage[], send: Send): Promise<Answered> {
  let manner = first;
  for (;;) {
    try {
      return { completed: await send(toRequest(question, manner, added)), manner };
    } catch (error) {
      const other = giveUp(manner, error);
      if (other === null) throw toOwnProblem(error);
      manner = other;
    }
  }
}

function toRequest(
  { prompt, name, schema, params }: Question,
  { isHeld, options }: Manner,
  added: readonly ChatMessage[],
) {
  const own = Object.entries(params).filter(([member]) => !keptFromCaller.has(member));
  return {
    ...options,
    ...Object.fromEntries(own),
    messages: [...toMessages(prompt, isHeld ? null : schema), ...added],
    ...(isHeld ? { response_format: toFormat(name, schema) } : {}),
  };
}

function toFormat(name: string, schema: JsonSchema): NonNullable<ChatRequest["response_format"]> {
  return { type: "json_schema", json_schema: { name, strict: true, schema } };
}

/** Vendors refuse what a model does not take, and name it. Null: it was something else. */
function giveUp(manner: Manner, error: unknown): Manner | null {
  const said = refusalOf(error);
  const { temperature, max_tokens, ...rest } = manner.options;
  if (temperature !== undefined && /temperature/i.test(said)) {
    return { ...manner, options: max_tokens === undefined ? rest : { ...rest, max_tokens } };
  }
  if (max_tokens !== undefined && /max_(?:completion_)?tokens/i.test(said)) {
    const { max_tokens: limit, ...others } = manner.options;
    return { ...manner, options: { ...others, max_completion_tokens: limit as number } };
  }
  if (manner.isHeld && /response_?format|json_?schema|schema|structured|output_config/i.test(said))
    return { ...manner, isHeld: false };
  return null;
}

function refusalOf(error: unknown): string {
  if (error instanceof ValidationError)
    return error.problems.map(({ loc, msg }) => `${loc.join(".")} ${msg}`).join(" ");
  return error instanceof GatewayError && error.code === "provider_rejected_request" ? error.message : "";
}

/** The caller sent no chat request: a problem of ours with one is told as one of the input. */
function toOwnProblem(error: unknown): unknown {
  if (!(error instanceof ValidationError)) return error;
  const [first, ...others] = error.problems;
  const move = ({ msg, type }: typeof first) => ({ loc: ["body", "input"], msg, type });
  return new ValidationError([move(first), ...others.map(move)]);
}

function isBadAnswer(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === "provider_bad_response" && !error.details.mayHaveExecuted;
}

function readText({ choices }: ChatCompletion, who: string): string {
  const [choice] = choices;
  const refusal = choice?.message?.refusal;
  if (refusal || choice?.finish_reason === "content_filter")
    throw new GatewayError(
      "provider_rejected_request",
      `The model '${who}' refused to work on this input${refusal ? `: ${refusal}` : "."}`,
    );
  if (choice?.finish_reason === "length")
    throw new GatewayError(
      "provider_bad_response",
      `The answer of the model '${who}' was cut at its limit of tokens: send less at once, or name a model with a longer output.`,
    );
  return choice?.message?.content ?? "";
}

class Account {
  #pico = 0;
  #reason: string | null = null;
  tokens = 0;

  add({ completion, charge }: Completed): void {
    const { prompt_tokens = 0, completion_tokens = 0 } = completion.usage ?? {};
    this.tokens += prompt_tokens + completion_tokens;
    if (charge.cost === null) this.#reason ??= charge.reason ?? "price_unknown";
    else this.#pico += Math.round(charge.cost * picoPerUsd);
  }

  /** Was paid for, and nobody knows how much. */
  addUnknown(): void {
    this.#reason ??= "usage_unknown";
  }

  get charge(): Completed["charge"] {
    return this.#reason === null ? { cost: toUsd(this.#pico), reason: null } : { cost: null, reason: this.#reason };
  }
}
