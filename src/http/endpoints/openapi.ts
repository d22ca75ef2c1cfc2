// GET /v3/openapi.json: the public interface for programs, built at the first request.

import { z } from "zod";
import { createJsonDocument, type Document, withCompression } from "../../catalogue/document.ts";
import { buildOpenApi } from "../openapi/build-openapi.ts";
import { defineRoute, type Route } from "../route.ts";
import { documentAnswers, documentHeaders, sendDocument } from "../send-document.ts";

/** `listRoutes`: all routes, including this one. */
export function openApiRoutes(listRoutes: () => readonly Route[]): Route[] {
  let openApi: Document | undefined;
  return [
    defineRoute("getOpenApi", "This interface as OpenAPI 3.1", {
      tag: "Service",
      method: "GET",
      path: "/v3/openapi.json",
      key: "none",
      headers: documentHeaders,
      answers: documentAnswers({ description: "The document.", schema: z.looseObject({ openapi: z.string() }) }),
      run(call) {
        openApi ??= withCompression(createJsonDocument(buildOpenApi(listRoutes())));
        return sendDocument(call, openApi);
      },
    }),
  ];
}
