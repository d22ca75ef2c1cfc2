// GET /docs: the interface for people, built at the first request.

import { createDocument, type Document } from "../../catalogue/document.ts";
import { docsPolicy, renderDocsPage } from "../openapi/docs-page.ts";
import { operations } from "../openapi/operations.ts";
import { sendDocument } from "../openapi/send-document.ts";
import type { Route } from "../route.ts";

export function docsRoutes(): readonly Route[] {
  const headers = {
    "content-security-policy": docsPolicy(),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
  let document: Document | undefined;
  return [
    {
      method: "GET",
      path: "/docs",
      key: "none",
      run: (call) => {
        document ??= createDocument(renderDocsPage(operations), "text/html; charset=utf-8");
        return sendDocument(call, document, headers);
      },
    },
  ];
}
