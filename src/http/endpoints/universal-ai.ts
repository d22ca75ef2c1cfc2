// POST /v3/universal-ai: runs one task and waits for its result.

import { createUniversalAiRequest, universalAiAnswer } from "../../contract/universal-ai.ts";
import type { UniversalAi } from "../../inference/universal-ai/universal-ai.ts";
import { contextOf } from "../call-context.ts";
import { modelCallErrors } from "../call-errors.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

interface Dependencies {
  readonly universalAi: UniversalAi;
  readonly aliases: ReadonlySet<string>;
}

export function universalAiRoutes({ universalAi, aliases }: Dependencies): Route[] {
  return [
    defineRoute({
      id: "runTask",
      tag: "Tasks",
      summary: "Run a task now",
      description:
        "One answer format for every task and provider. GET /v3/info lists the tasks, and the schemas of their input and output.",
      method: "POST",
      path: "/v3/universal-ai",
      key: "inference",
      scope: "universal",
      body: { kind: "json", schema: createUniversalAiRequest(aliases) },
      answers: [{ status: 200, description: "The result.", schema: universalAiAnswer }],
      errors: [...modelCallErrors, "feature_not_found", "subfeature_not_found", "async_only"],
      example: { body: { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } } },
      async run(call) {
        const request = universalAi.aliases.resolve(call.body);
        return replyJson(await universalAi.run({ ...contextOf(call), request, baseUrl: call.baseUrl }));
      },
    }),
  ];
}
