// GET /docs: the documentation site. It is built when it is first asked for, in a process of its own, and then kept in memory, compressed.

import { type Document, toEntityTag } from "../../catalogue/document.ts";
import { docsPageParams } from "../../contract/docs.ts";
import { buildSiteInProcess, type CompressedFile } from "../../docs-site/build-in-process.ts";
import { GatewayError } from "../../errors.ts";
import { acceptsEncoding } from "../accept-encoding.ts";
import { buildOpenApi } from "../openapi/build-openapi.ts";
import { type Reply, reply } from "../reply.ts";
import { type Call, defineRoute, type Route } from "../route.ts";
import { documentAnswers, documentHeaders, sendDocument } from "../send-document.ts";

const common = { tag: "Service", method: "GET", key: "none", headers: documentHeaders } as const;
const answers = documentAnswers({ description: "The page.", contentType: "text/html" });

/** Pages load and call nothing but this gateway, and run no script that is part of a page. */
const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  vary: "accept-encoding",
} as const;

/** `listRoutes`: all routes, including these. */
export function docsRoutes(listRoutes: () => readonly Route[]): Route[] {
  const readPage = createDocsReader(listRoutes);
  return [
    defineRoute("getDocs", "Read the documentation", {
      ...common,
      description: "The first page of the documentation of this gateway.",
      path: "/docs",
      otherPaths: ["/docs/"],
      answers,
      run(call) {
        // Links of the page are relative to the path without the slash.
        if (call.request.url.endsWith("/")) return reply(null, { status: 308, headers: { location: "../docs" } });
        return readPage(call, "");
      },
    }),
    defineRoute("getDocsPage", "Read a page of the documentation", {
      ...common,
      description: "A guide, a page of the API reference, or a file that the pages load.",
      path: "/docs/{page...}",
      params: docsPageParams,
      answers,
      errors: ["not_found"],
      example: { path: { page: "routing" } },
      run: (call) => readPage(call, call.params.page),
    }),
  ];
}

function createDocsReader(listRoutes: () => readonly Route[]) {
  let building: Promise<ReadonlyMap<string, CompressedFile>> | undefined;

  async function build(): Promise<ReadonlyMap<string, CompressedFile>> {
    const files = await buildSiteInProcess(buildOpenApi(listRoutes()));
    return new Map(files.map((file) => [file.path, file]));
  }

  return async ({ request }: Pick<Call, "request">, path: string): Promise<Reply> => {
    building ??= build();
    const pages = await building.catch((error: unknown) => {
      // The next request tries again.
      building = undefined;
      throw error;
    });
    const page = pages.get(path);
    if (page !== undefined) return sendDocument({ request }, toDocument(page, request.headers), pageHeaders);
    const notFound = pages.get("404");
    if (notFound === undefined || !(request.headers.get("accept") ?? "").includes("text/html"))
      throw new GatewayError("not_found", "The documentation has no such page. GET /docs lists all pages.");
    const headers = { ...pageHeaders, "content-type": notFound.contentType, "cache-control": "no-cache" };
    return reply(Bun.gunzipSync(notFound.gzip), { status: 404, headers });
  };
}

/** The form that the client accepts. Almost all clients accept gzip; for the others, the page is decompressed each time. */
function toDocument({ gzip, contentType, digest }: CompressedFile, headers: Headers): Document {
  if (acceptsEncoding(headers.get("accept-encoding"), "gzip"))
    return { bytes: gzip, contentType, entityTag: toEntityTag(digest, "-gzip"), contentEncoding: "gzip" };
  return { bytes: Bun.gunzipSync(gzip), contentType, entityTag: toEntityTag(digest) };
}
