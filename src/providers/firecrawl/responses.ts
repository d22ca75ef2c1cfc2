// Parts that the responses of several endpoints have in common.

import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asText, at } from "../lenient.ts";
import { toCreditUnits, toWebImages } from "../shapes/web.ts";
import { TaskFailure, type TaskResponse } from "../task.ts";

export const formats = ["markdown", "links", "images"];

export function toPage(page: JsonObject, requestedUrl = "") {
  const metadata = asObject(page["metadata"]);
  return {
    url: asText(metadata["sourceURL"]) ?? requestedUrl,
    content: asText(page["markdown"]),
    title: asText(metadata["title"]),
    description: asText(metadata["description"]),
    status_code: asNumber(metadata["statusCode"]),
    links: asList(page["links"]).filter((link) => typeof link === "string"),
    images: toWebImages(page["images"]),
    raw_html: asText(page["rawHtml"]),
    summary: asText(page["summary"]),
    published_date: asText(metadata["publishedTime"]),
    author: asText(metadata["author"]),
    favicon: asText(metadata["favicon"]),
  };
}

export function refuseFailure({ json }: TaskResponse): void {
  if (at(json, "success") === false)
    throw new TaskFailure(502, asText(at(json, "error")) ?? "The provider did not succeed");
}

/** `billed`: the credits to bill if the response does not state them. */
export function withUsage<Output extends object>(credits: number | null, output: Output, billed: number | null = null) {
  const usage = credits === null ? null : { credits };
  return { output: { ...output, usage }, units: toCreditUnits(credits ?? billed) };
}
