// What the answers of the vendor's several endpoints have in common.

import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asText, at } from "../lenient.ts";
import { TaskFailure, type TaskResponse, type TaskResult } from "../task.ts";

export const formats = ["markdown", "links", "images"];

export function toPage(page: JsonObject, asked = ""): JsonObject {
  const metadata = asObject(page["metadata"]);
  return {
    url: asText(metadata["sourceURL"]) ?? asked,
    content: asText(page["markdown"]),
    title: asText(metadata["title"]),
    description: asText(metadata["description"]),
    status_code: asNumber(metadata["statusCode"]),
    links: asList(page["links"]).filter((link) => typeof link === "string"),
    images: asList(page["images"]).flatMap((url) =>
      typeof url === "string" ? [{ url, description: null, width: null, height: null }] : [],
    ),
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

export function toUsage(credits: number | null): object | null {
  return credits === null ? null : { credits };
}

/** Credits are what is billed; the price list counts them as tokens. */
export function toUnits(credits: number | null): TaskResult["units"] {
  return { request: 1, ...(credits !== null && { token: credits }) };
}
