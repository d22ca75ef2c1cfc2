// GET /v3/openapi.json: the interface for programs, built at the first request.

import { createJsonDocument, type Document } from "../../catalogue/document.ts";
import { buildOpenApi } from "../openapi/build-openapi.ts";
import { operations } from "../openapi/operations.ts";
import { sendDocument } from "../openapi/send-document.ts";
import type { Route } from "../route.ts";

export function openApiRoutes(): readonly Route[] {
  let document: Document | undefined;
  return [
    {
      method: "GET",
      path: "/v3/openapi.json",
      key: "none",
      run: (call) => {
        document ??= createJsonDocument(buildOpenApi(operations));
        return sendDocument(call, document);
      },
    },
  ];
}
