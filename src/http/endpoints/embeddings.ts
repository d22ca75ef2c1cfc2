// POST /v3/embeddings.

import { createEmbeddingsRequest } from "../../contract/embeddings.ts";
import { parse } from "../../contract/problems.ts";
import type { Embeddings } from "../../inference/embeddings.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";
import { wantsMetadata } from "../wants-metadata.ts";

interface Dependencies {
  readonly embeddings: Embeddings;
  readonly aliases: ReadonlySet<string>;
}

export function embeddingsRoutes({ embeddings, aliases }: Dependencies): Route[] {
  const requestSchema = createEmbeddingsRequest(aliases);

  async function run({ request, requestId, caller, body, trace }: Call): Promise<string> {
    const parsed = parse(requestSchema, body?.value);
    const allowed = requireCaller(caller, "embeddings");
    if (body === null) throw new TypeError("the route reads a body");
    return embeddings.embed({
      request: parsed,
      value: body.value as Readonly<Record<string, unknown>>,
      text: body.text,
      scan: body.scan,
      caller: allowed,
      connection: request,
      requestId,
      trace,
      wantsMetadata: wantsMetadata(request.headers),
    });
  }

  return [{ method: "POST", path: "/v3/embeddings", key: "inference", body: "json", run }];
}
