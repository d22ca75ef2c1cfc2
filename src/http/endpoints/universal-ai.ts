// POST /v3/universal-ai: runs one task and waits for its result.

import { createUniversalAiRequest, universalAiAnswer } from "../../contract/universal-ai.ts";
import { contextOf, modelCallErrors, taskRoute } from "../model-call.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

export function universalAiRoutes({ universalAi, aliases }: RouteDependencies): Route[] {
  return [
    defineRoute("runTask", "Run a task now", {
      ...taskRoute,
      description:
        "One answer format for every task and provider. GET /v3/info lists the tasks, and the schemas of their input and output.",
      path: "/v3/universal-ai",
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
