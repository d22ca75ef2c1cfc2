// /v3/responses. This version checks requests and keeps no response: creating one is answered honestly with 501, and no id
// is known.

import { z } from "zod";
import { parse } from "../../contract/problems.ts";
import { createResponseRequest, responseId } from "../../contract/responses.ts";
import { GatewayError } from "../../errors.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";

const path = z.object({ response_id: responseId });

export function responseRoutes(aliases: ReadonlySet<string>): Route[] {
  const requestSchema = createResponseRequest(aliases);

  function create({ body, caller }: Call): never {
    parse(requestSchema, body?.value);
    requireCaller(caller, "responses");
    throw new GatewayError("not_implemented", "This version does not serve responses yet. Use /v3/chat/completions.");
  }

  function find({ params, caller }: Call): never {
    parse(path, params, "path");
    requireCaller(caller, "responses");
    throw new GatewayError("response_not_found", "There is no such response.");
  }

  return [
    { method: "POST", path: "/v3/responses", key: "inference", body: "json", run: create },
    { method: "GET", path: "/v3/responses/{response_id}", key: "inference", run: find },
    { method: "DELETE", path: "/v3/responses/{response_id}", key: "inference", run: find },
  ];
}
