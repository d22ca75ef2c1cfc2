// POST /v3/universal-ai: one task, now. Its asynchronous sibling checks its requests and says that there are no jobs yet.

import { parse } from "../../contract/problems.ts";
import { asyncJobRequest, universalAiRequest } from "../../contract/universal-ai.ts";
import { GatewayError } from "../../errors.ts";
import type { UniversalAi } from "../../inference/universal-ai/universal-ai.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";
import { wantsMetadata } from "../wants-metadata.ts";

interface Dependencies {
  readonly universalAi: UniversalAi;
  /** Where callers reach the gateway, when the operator says so. */
  readonly publicUrl: string | null;
}

export function universalAiRoutes({ universalAi, publicUrl }: Dependencies): Route[] {
  async function run({ request, requestId, caller, body, trace }: Call): Promise<Response> {
    const answer = await universalAi.run({
      request: parse(universalAiRequest, body?.value),
      caller: requireCaller(caller, "universal"),
      connection: request,
      requestId,
      trace,
      wantsMetadata: wantsMetadata(request.headers),
      baseUrl: publicUrl ?? new URL(request.url).origin,
    });
    return Response.json(answer);
  }

  function enqueue({ caller, body }: Call): never {
    const parsed = parse(asyncJobRequest, body?.value);
    universalAi.check(parsed, requireCaller(caller, "universal"), "job");
    throw new GatewayError("not_implemented", "This version does not run jobs yet. Use POST /v3/universal-ai.");
  }

  return [
    { method: "POST", path: "/v3/universal-ai", key: "inference", body: "json", run },
    { method: "POST", path: "/v3/universal-ai/async", key: "inference", body: "json", run: enqueue },
  ];
}
