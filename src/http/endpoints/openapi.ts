// GET /v3/openapi.json and /docs: the public interface for programs and for people, built at the first request.

import { z } from "zod";
import { createDocument, createJsonDocument, type Document } from "../../catalogue/document.ts";
import { buildOpenApi } from "../openapi/build-openapi.ts";
import { docsPolicy, renderDocsPage } from "../openapi/docs-page.ts";
import { defineRoute, type Route } from "../route.ts";
import { documentAnswers, documentHeaders, sendDocument } from "../send-document.ts";

const common = { tag: "Service", method: "GET", key: "none", headers: documentHeaders } as const;

/** `listRoutes`: all routes, including these. */
export function openApiRoutes(listRoutes: () => readonly Route[]): Route[] {
  let openApi: Document | undefined;
  let page: Document | undefined;
  const pageHeaders = {
    "content-security-policy": docsPolicy(),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
  return [
    defineRoute({
      ...common,
      id: "getOpenApi",
      summary: "This interface as OpenAPI 3.1",
      path: "/v3/openapi.json",
      answers: documentAnswers({ description: "The document.", schema: z.looseObject({ openapi: z.string() }) }),
      run(call) {
        openApi ??= createJsonDocument(buildOpenApi(listRoutes()));
        return sendDocument(call, openApi);
      },
    }),
    defineRoute({
      ...common,
      id: "getDocs",
      summary: "This interface as a readable page",
      path: "/docs",
      answers: documentAnswers({ description: "The page.", contentType: "text/html" }),
      run(call) {
        page ??= createDocument(renderDocsPage(listRoutes()), "text/html; charset=utf-8");
        return sendDocument(call, page, pageHeaders);
      },
    }),
  ];
}
