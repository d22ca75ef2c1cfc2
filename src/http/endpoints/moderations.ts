// POST /v3/moderations: the OpenAI format over the engines of text/moderation. Each text is a task of its own.

import { createModerationsRequest, type ModerationsRequest, moderationsAnswer } from "../../contract/moderations.ts";
import { toModerationResult } from "../../inference/universal-ai/moderation-shape.ts";
import { runShapedTask, type ShapedAnswer } from "../../inference/universal-ai/shaped-task.ts";
import { picoPerUsd, toUsd } from "../../lib/money.ts";
import { contextOf, createTaskReader, taskRoute } from "../model-call.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const names = { text: "input", language: "input" };
const maxConcurrency = 4;

export function moderationsRoutes({ universalAi, aliases }: RouteDependencies): Route[] {
  const readTask = createTaskReader(universalAi, "text/moderation", ["input"]);
  return [
    defineRoute("createModerations", "Moderate texts", {
      ...taskRoute,
      description:
        "The OpenAI format over the engines of `text/moderation`. `flagged` is the provider's own decision where it makes one; " +
        "otherwise a category is flagged from a score of 0.5. Categories that the format does not define keep the provider's names.",
      path: "/v3/moderations",
      body: { kind: "json", schema: createModerationsRequest(aliases) },
      answers: [{ status: 200, description: "One result for each text.", schema: moderationsAnswer }],
      example: { body: { model: "local", input: ["Good morning.", "You are a bastard."] } },
      async run(call) {
        const context = { ...contextOf(call), baseUrl: call.baseUrl };
        const task = { ...readTask(call.body), names, wantsOriginal: true };
        const answers = await runConcurrently(textsOf(call.body), (text) =>
          runShapedTask(universalAi, { ...task, input: { text } }, context),
        );
        return replyJson({
          id: `modr-${crypto.randomUUID().replaceAll("-", "")}`,
          model: answers[0]?.model ?? answers[0]?.added.provider,
          results: answers.map(({ output, original_response }) => toModerationResult(output, original_response)),
          ...sumUp(answers),
        });
      },
    }),
  ];
}

/** Parts belong to one text, and are moderated together. */
function textsOf({ input }: ModerationsRequest): readonly string[] {
  if (typeof input === "string") return [input];
  const [first] = input;
  return typeof first === "string"
    ? (input as readonly string[])
    : [(input as readonly { readonly text: string }[]).map(({ text }) => text).join("\n")];
}

/** Results are in the order of the texts. After a failure no further run starts, and those that are running are awaited. */
async function runConcurrently<Result>(
  texts: readonly string[],
  run: (text: string) => Promise<Result>,
): Promise<Result[]> {
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
  const ended = await Promise.allSettled(Array.from({ length: Math.min(maxConcurrency, texts.length) }, work));
  const failure = ended.find((one) => one.status === "rejected");
  if (failure !== undefined) throw failure.reason;
  return results;
}

/** The cost of all answers together; null when one of them is not known. */
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

/** Adds integers, which have no rounding errors. */
function sumOf(costs: readonly number[]): number {
  return toUsd(costs.reduce((sum, cost) => sum + Math.round(cost * picoPerUsd), 0));
}
