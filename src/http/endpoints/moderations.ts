// POST /v3/moderations: the OpenAI format over the engines of text/moderation. Each text is a task of its own.

import { engineMemberNames } from "../../contract/engine-models.ts";
import { createModerationsRequest, type ModerationsRequest } from "../../contract/moderations.ts";
import { parse } from "../../contract/problems.ts";
import { toModerationResult } from "../../inference/universal-ai/moderation-shape.ts";
import { runShapedTask, type ShapedAnswer } from "../../inference/universal-ai/shaped-task.ts";
import type { UniversalAi } from "../../inference/universal-ai/universal-ai.ts";
import { picoPerUsd, toUsd } from "../../lib/money.ts";
import { type Reply, replyJson } from "../reply.ts";
import type { Call, Route } from "../route.ts";
import { toShapedContext } from "../shaped-context.ts";

interface Dependencies {
  readonly universalAi: UniversalAi;
  /** Names that the operator declared. */
  readonly aliases: ReadonlySet<string>;
  readonly publicUrl: string | null;
}

const task = "text/moderation";
const atOnce = 4;
const members: ReadonlySet<string> = new Set([...engineMemberNames, "input"]);

export function moderationsRoutes({ universalAi, aliases, publicUrl }: Dependencies): Route[] {
  const requestSchema = createModerationsRequest(aliases);

  async function moderate(call: Call): Promise<Reply> {
    const request = parse(requestSchema, call.body?.value);
    const context = toShapedContext(call, publicUrl);
    const { model, fallbacks, provider_params, strict_parameters } = request;
    const models = universalAi.aliases.resolveFor(task, [model, ...(fallbacks ?? [])]);
    const answers = await inTurns(textsOf(request), (text) =>
      runShapedTask(
        universalAi,
        {
          task,
          models,
          input: { text },
          names: { text: "input", language: "input" },
          others: Object.fromEntries(Object.entries(request).filter(([name]) => !members.has(name))),
          providerParams: provider_params,
          isStrict: strict_parameters === true,
          wantsOriginal: true,
        },
        context,
      ),
    );
    return replyJson({
      id: `modr-${crypto.randomUUID().replaceAll("-", "")}`,
      model: answers[0]?.model ?? answers[0]?.added.provider,
      results: answers.map(({ output, original_response }) => toModerationResult(output, original_response)),
      ...sumUp(answers),
    });
  }

  return [{ method: "POST", path: "/v3/moderations", key: "inference", body: "json", run: moderate }];
}

/** Parts are of one text, and judged as one. */
function textsOf({ input }: ModerationsRequest): readonly string[] {
  if (typeof input === "string") return [input];
  const [first] = input;
  return typeof first === "string"
    ? (input as readonly string[])
    : [(input as readonly { readonly text: string }[]).map(({ text }) => text).join("\n")];
}

/** Some at once, in the order of the texts. After a failure no other is begun, and those that run are waited for. */
async function inTurns<Result>(texts: readonly string[], run: (text: string) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = [...texts.entries()].reverse();
  let hasFailed = false;
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined && !hasFailed; next = waiting.pop()) {
      const [index, text] = next;
      try {
        results[index] = await run(text);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(atOnce, texts.length) }, work));
  const failure = ended.find((one) => one.status === "rejected");
  if (failure !== undefined) throw failure.reason;
  return results;
}

/** The cost of all; not known when one is not. */
function sumUp(answers: readonly ShapedAnswer[]): object {
  const added = answers.map((answer) => answer.added);
  const unknown = added.find(({ cost }) => cost === null);
  return {
    ...added.at(-1),
    ...(unknown === undefined
      ? { cost: sumOf(added.map(({ cost }) => cost ?? 0)) }
      : { cost: null, cost_reason: unknown.cost_reason }),
    provider_time: Math.max(...added.map(({ provider_time }) => provider_time)),
  };
}

/** In whole units, so that tenths do not add up to something else. */
function sumOf(costs: readonly number[]): number {
  return toUsd(costs.reduce((sum, cost) => sum + Math.round(cost * picoPerUsd), 0));
}
