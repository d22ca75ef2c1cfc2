// Asks a chat model until its answer can be used: again without parameters that the model does not support, and once more with what was
// wrong. The cost of all calls is added up.

import type { ChatCompletion, ChatMessage, ChatRequest } from "../../contract/chat-format.ts";
import type { JsonSchema } from "../../contract/tasks.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import { addCharges, type Charge, completeCharge, type StatedCharge, unknownUsage } from "../../lib/charge.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import type { TaskCall } from "../engine.ts";
import { AnswerProblem } from "./definition.ts";
import { type Prompt, toMessages, toRepair } from "./prompt.ts";

/** One chat completion at one offer. Throws what a chat completion throws. */
export type Complete = (
  request: ChatRequest,
  offer: { readonly provider: string; readonly model: string },
  context: Pick<TaskCall, "signal" | "deadline" | "requestId" | "onAttempt" | "ticket">,
) => Promise<Completed>;

export interface Completed {
  readonly completion: ChatCompletion;
  readonly charge: StatedCharge;
}

export interface Question extends Style {
  /** `<provider>/<model>` */
  readonly model: string;
  readonly prompt: Prompt;
  /** A name for the schema: letters, digits, underscores. */
  readonly name: string;
  /** In the subset that vendors accept. */
  readonly schema: JsonSchema;
  /** Members that the caller adds to the request. */
  readonly params: JsonObject;
  /** Throws an AnswerProblem. */
  readonly read: (text: string) => JsonObject;
}

/** Parts of the request that a model may not support. */
interface Style {
  /** Whether the vendor enforces the schema; otherwise the prompt describes it. */
  readonly enforcesSchema: boolean;
  readonly options: ChatOptions;
}

export interface ChatOptions {
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

export interface ModelAnswer {
  readonly output: JsonObject;
  readonly completion: ChatCompletion;
  readonly tokens: number;
  readonly charge: Charge;
}

/** Sends a request that does not name the model yet. */
type Send = (request: { readonly messages: readonly ChatMessage[] } & JsonObject) => Promise<Completed>;

const rounds = 2;
/** Members that the task sets, or that make no sense for a task. */
const reservedMembers = new Set(
  "model messages response_format stream stream_options n tools tool_choice functions function_call modalities audio".split(
    " ",
  ),
);

export async function askModel(question: Question, send: Send): Promise<ModelAnswer> {
  const { model, schema } = question;
  const total = new Total();
  const added: ChatMessage[] = [];
  let style: Style = question;
  let problem = "";
  for (let round = 0; round < rounds; round++) {
    const answer = await sendSupported(question, style, added, send).catch((error: unknown) => {
      // The chat layer refused the answer, so its text and its cost are not known.
      if (round > 0 || !isBadAnswer(error)) throw error;
      return error;
    });
    if (answer instanceof GatewayError) {
      total.addUnknown();
      problem = answer.message;
      added.push(...toRepair("", "it did not have the form that was asked for", schema));
      continue;
    }
    style = answer.style;
    total.add(answer.completed);
    const { completion } = answer.completed;
    const text = readText(completion, model);
    try {
      return { output: question.read(text), completion, tokens: total.tokens, charge: total.charge };
    } catch (error) {
      if (!(error instanceof AnswerProblem)) throw error;
      problem = error.message;
      added.push(...toRepair(text, problem, schema));
    }
  }
  throw new GatewayError(
    "provider_bad_response",
    `The model '${model}' did not answer in the form that the task needs, also when asked again: ${problem}.`,
  );
}

async function sendSupported(question: Question, first: Style, added: readonly ChatMessage[], send: Send) {
  for (let style = first; ; ) {
    try {
      return { completed: await send(toRequest(question, style, added)), style };
    } catch (error) {
      const other = withoutUnsupported(style, error);
      if (other === null) throw toInputProblem(error);
      style = other;
    }
  }
}

function toRequest(
  { prompt, name, schema, params }: Question,
  { enforcesSchema, options }: Style,
  added: readonly ChatMessage[],
) {
  return {
    ...options,
    ...Object.fromEntries(Object.entries(params).filter(([member]) => !reservedMembers.has(member))),
    messages: [...toMessages(prompt, enforcesSchema ? null : schema), ...added],
    ...(enforcesSchema && { response_format: { type: "json_schema", json_schema: { name, strict: true, schema } } }),
  };
}

/** Vendors name the parameter that a model does not support. Null: the error has another reason. */
function withoutUnsupported(style: Style, error: unknown): Style | null {
  const message = refusalOf(error);
  const { temperature, max_tokens, ...rest } = style.options;
  const limit = max_tokens === undefined ? {} : { max_tokens };
  if (temperature !== undefined && /temperature/i.test(message)) return { ...style, options: { ...rest, ...limit } };
  if (max_tokens !== undefined && /max_(?:completion_)?tokens/i.test(message)) {
    const kept = temperature === undefined ? rest : { ...rest, temperature };
    return { ...style, options: { ...kept, max_completion_tokens: max_tokens } };
  }
  if (style.enforcesSchema && /response_?format|json_?schema|schema|structured|output_config/i.test(message))
    return { ...style, enforcesSchema: false };
  return null;
}

function refusalOf(error: unknown): string {
  if (error instanceof ValidationError)
    return error.problems.map(({ loc, msg }) => `${loc.join(".")} ${msg}`).join(" ");
  return error instanceof GatewayError && error.code === "provider_rejected_request" ? error.message : "";
}

/** The caller sent no chat request, so its problems are reported as problems of the input. */
function toInputProblem(error: unknown): unknown {
  if (!(error instanceof ValidationError)) return error;
  const [first, ...others] = error.problems;
  const move = ({ msg, type }: typeof first) => ({ loc: ["body", "input"], msg, type });
  return new ValidationError([move(first), ...others.map(move)]);
}

function isBadAnswer(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === "provider_bad_response" && !error.details.mayHaveExecuted;
}

function readText({ choices }: ChatCompletion, model: string): string {
  const [choice] = choices;
  const refusal = choice?.message?.refusal;
  if (refusal || choice?.finish_reason === "content_filter")
    throw new GatewayError(
      "provider_rejected_request",
      `The model '${model}' refused to work on this input${refusal ? `: ${refusal}` : "."}`,
    );
  if (choice?.finish_reason === "length")
    throw new GatewayError(
      "provider_bad_response",
      `The answer of the model '${model}' was cut at its limit of tokens: send less at once, or name a model with a longer output.`,
    );
  return choice?.message?.content ?? "";
}

/** Tokens and cost of all calls. */
class Total {
  readonly #charges: Charge[] = [];
  tokens = 0;

  add({ completion, charge }: Completed): void {
    const { prompt_tokens = 0, completion_tokens = 0 } = completion.usage ?? {};
    this.tokens += prompt_tokens + completion_tokens;
    this.#charges.push(completeCharge(charge));
  }

  addUnknown(): void {
    this.#charges.push(unknownUsage);
  }

  get charge(): Charge {
    return addCharges(this.#charges);
  }
}
