// POST /v3/universal-ai: one task, now.

import { parse } from "../../contract/problems.ts";
import { createUniversalAiRequest } from "../../contract/universal-ai.ts";
import type { UniversalAi } from "../../inference/universal-ai/universal-ai.ts";
import { type Reply, replyJson } from "../reply.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";
import { wantsMetadata } from "../wants-metadata.ts";

interface Dependencies {
  readonly universalAi: UniversalAi;
  /** Names that the operator declared. */
  readonly aliases: ReadonlySet<string>;
  /** Where callers reach the gateway, when the operator says so. */
  readonly publicUrl: string | null;
}

export function universalAiRoutes({ universalAi, aliases, publicUrl }: Dependencies): Route[] {
  const requestSchema = createUniversalAiRequest(aliases);

  async function run(call: Call): Promise<Reply> {
    const { request, requestId, caller, body, trace } = call;
    const asked = parse(requestSchema, body?.value);
    const answer = await universalAi.run({
      caller: requireCaller(caller, "universal"),
      request: universalAi.aliases.resolve(asked),
      connection: request,
      requestId,
      trace,
      wantsMetadata: wantsMetadata(request.headers),
      baseUrl: publicUrl ?? call.origin,
    });
    return replyJson(answer);
  }

  return [{ method: "POST", path: "/v3/universal-ai", key: "inference", body: "json", run }];
}
