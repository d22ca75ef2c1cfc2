// Asks a chat model for the output of a task. A request with a parameter that the model does not support is repeated without this parameter, or with
// a replacement. An answer that cannot be used is sent back once for correction. The cost of all calls is added up.

import type { ChatCompletion, ChatMessage, ChatRequest } from "../../contract/chat-format.ts";
import type { JsonSchema } from "../../contract/tasks.ts";
import { GatewayError, type Problem, ValidationError } from "../../errors.ts";
import { addCharges, type Charge, completeCharge, type StatedCharge, unknownUsage } from "../../lib/charge.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { asCount, asObject, textsIn } from "../../providers/lenient.ts";
import type { TaskCall } from "../engine.ts";
import { AnswerProblem } from "./definition.ts";
import { type Prompt, toMessages, toRepair } from "./prompt.ts";

/** Makes one chat completion at one offer. Fails with the same errors as the chat endpoint. */
export type Complete = (
  request: ChatRequest,
  offer: { readonly provider: string; readonly model: string },
  context: Pick<TaskCall, "signal" | "deadline" | "requestId" | "onAttempt" | "ticket">,
) => Promise<Completed>;

export interface Completed {
  readonly completion: ChatCompletion;
  readonly charge: StatedCharge;
}

export interface Question extends Features {
  /** `<provider>/<model>` */
  readonly model: string;
  readonly prompt: Prompt;
  /** Letters, digits and underscores. */
  readonly schemaName: string;
  /** In the subset of JSON Schema that vendors accept. */
  readonly schema: JsonSchema;
  /** `provider_params`: members that the caller adds to the chat request. */
  readonly params: JsonObject;
  /** Reads the output from the text of an answer. Throws an AnswerProblem if the model should correct the answer. */
  readonly read: (text: string) => JsonObject;
}

/** Features of the request that a model may not support. */
interface Features {
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

/** Sends a request to the model of the question. */
type Send = (request: { readonly messages: readonly ChatMessage[] } & JsonObject) => Promise<Completed>;

/** What a chat request is made from. */
interface Draft {
  readonly question: Question;
  readonly features: Features;
  /** Unusable answers, each with the message that asks for a correction. */
  readonly corrections: readonly ChatMessage[];
}

const maxAnswers = 2;
/** The answers were billed: a client that repeats the task pays for the same failure again. Fallbacks are still tried. */
const paidForNothing = { shouldRetry: false } as const;
/** Members that `params` may not set: the task sets them, or they make no sense for a task. */
const reservedMembers = new Set(
  "model messages response_format stream stream_options n tools tool_choice functions function_call modalities audio".split(
    " ",
  ),
);

export async function askModel(question: Question, send: Send): Promise<ModelAnswer> {
  const { model, schema } = question;
  const total = new Total();
  const corrections: ChatMessage[] = [];
  let features: Features = question;
  for (let answers = 1; ; answers++) {
    const isLast = answers === maxAnswers;
    const sent = await sendSupported({ question, features, corrections }, send).catch((error: unknown) => {
      if (!isLast && isBadAnswer(error)) return null;
      throw answers === 1 ? error : toPaidFailure(error, model);
    });
    if (sent === null) {
      // The chat layer rejected the answer, so its text and its cost are unknown.
      total.addUnknown();
      corrections.push(...toRepair("", "it did not have the form that was asked for", schema));
      continue;
    }
    features = sent.features;
    total.add(sent.completed);
    const { completion } = sent.completed;
    const text = readText(completion, model);
    try {
      return { output: question.read(text), completion, tokens: total.tokens, charge: total.charge };
    } catch (error) {
      if (!(error instanceof AnswerProblem)) throw error;
      if (isLast) throw toUnusable(error, model);
      corrections.push(...toRepair(text, error.message, schema));
    }
  }
}

/** Repeats the request while the model rejects a feature that can be removed or replaced. Returns the accepted features, for the next request. */
async function sendSupported(draft: Draft, send: Send) {
  let { features } = draft;
  for (;;) {
    try {
      return { completed: await send(toRequest({ ...draft, features })), features };
    } catch (error) {
      const next = replaceRejected(features, error);
      if (next === null) throw relocateProblems(error, draft.question);
      features = next;
    }
  }
}

function toRequest({ question, features, corrections }: Draft) {
  const { prompt, schemaName, schema, params } = question;
  const { enforcesSchema, options } = features;
  const json_schema = { name: schemaName, strict: true, schema };
  return {
    ...options,
    ...Object.fromEntries(Object.entries(params).filter(([member]) => !reservedMembers.has(member))),
    messages: [...toMessages(prompt, enforcesSchema ? null : schema), ...corrections],
    ...(enforcesSchema && { response_format: { type: "json_schema", json_schema } }),
  };
}

/** Removes or replaces the parameter that the error names. Null: the error has another reason. */
function replaceRejected(features: Features, error: unknown): Features | null {
  const message = readRejection(error);
  const { temperature, ...withoutTemperature } = features.options;
  if (temperature !== undefined && /temperature/i.test(message)) return { ...features, options: withoutTemperature };
  // Some models accept the limit only as max_completion_tokens.
  const { max_tokens, ...withoutMaxTokens } = features.options;
  if (max_tokens !== undefined && /max_(?:completion_)?tokens/i.test(message))
    return { ...features, options: { ...withoutMaxTokens, max_completion_tokens: max_tokens } };
  if (features.enforcesSchema && /response_?format|schema|structured|output_config/i.test(message))
    return { ...features, enforcesSchema: false };
  return null;
}

/** Empty for an error that is not a rejection of the request. */
function readRejection(error: unknown): string {
  if (error instanceof ValidationError)
    return error.problems.map(({ loc, msg }) => `${loc.join(".")} ${msg}`).join(" ");
  return error instanceof GatewayError && error.code === "provider_rejected_request" ? error.message : "";
}

/** The caller did not write the chat request: its problems belong to `provider_params` or to the input of the task. */
function relocateProblems(error: unknown, { params }: Question): unknown {
  if (!(error instanceof ValidationError)) return error;
  const [first, ...others] = error.problems;
  const relocate = ({ loc: [, ...path], msg, type }: Problem): Problem => {
    const member = String(path[0]);
    const isParam = Object.hasOwn(params, member) && !reservedMembers.has(member);
    return { loc: isParam ? ["body", "provider_params", ...path] : ["body", "input"], msg, type };
  };
  return new ValidationError([relocate(first), ...others.map(relocate)]);
}

function toUnusable(problem: AnswerProblem, model: string): GatewayError {
  return new GatewayError(
    "provider_bad_response",
    `The model '${model}' gave ${maxAnswers} answers that cannot be used: choose another model. The last problem: ${problem.message}.`,
    { ...paidForNothing, cause: problem },
  );
}

/** An earlier call was answered: a repetition of the task would pay for that call again, whatever refused this one. */
function toPaidFailure(error: unknown, model: string): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { code, message, details } = error;
  const what = `The first answer of the model '${model}' could not be used, and the call to correct it failed: ${message}`;
  return new GatewayError(code, what, { ...details, mayHaveExecuted: true, cause: error });
}

/** Whether there is an answer to correct. A call that broke off has none; it is not repeated, because the provider may have executed it. */
function isBadAnswer(error: unknown): boolean {
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
      `The answer of the model '${model}' was cut off at the token limit: send a shorter input, raise max_tokens if it is set, or choose a model with a longer output.`,
      paidForNothing,
    );
  const content: unknown = choice?.message?.content;
  // The chat format requires a string; some providers send parts.
  return typeof content === "string" ? content : textsIn(content, "text").join("");
}

/** The tokens and the cost of all calls. */
class Total {
  readonly #charges: Charge[] = [];
  tokens = 0;

  add({ completion, charge }: Completed): void {
    const { prompt_tokens, completion_tokens } = asObject(completion.usage);
    this.tokens += asCount(prompt_tokens) + asCount(completion_tokens);
    this.#charges.push(completeCharge(charge));
  }

  addUnknown(): void {
    this.#charges.push(unknownUsage);
  }

  get charge(): Charge {
    return addCharges(this.#charges);
  }
}
