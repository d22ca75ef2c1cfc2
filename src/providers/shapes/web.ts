// Outputs of the web tasks (search, scraping, crawling, research): parts that many vendors fill in the same way.

import type { JsonObject } from "../dialect.ts";
import { asList, asText, at } from "../lenient.ts";
import type { TaskResult } from "../task.ts";

/** Title, address and icon of a result or a source. */
export function toLink(item: JsonObject, title: unknown = item["title"]) {
  return { title: asText(title), url: asText(item["url"]) ?? "", favicon: asText(item["favicon"]) };
}

/** Further members of a source that some vendors do not send. */
export const emptySource = { snippet: null, published_date: null, author: null, id: null };

/** Further members of a page that some vendors do not send. */
export const emptyPage = {
  title: null,
  description: null,
  status_code: null,
  links: [],
  raw_html: null,
  summary: null,
  published_date: null,
  author: null,
};

/** From addresses, or from objects that have an address. */
export function toWebImages(images: unknown, descriptionMember = "description") {
  return asList(images).flatMap((image) => {
    const url = asText(image) ?? asText(at(image, "url"));
    if (url === null) return [];
    return [{ url, description: asText(at(image, descriptionMember)), width: null, height: null }];
  });
}

/** Vendors that bill credits: the price list counts them as tokens. */
export function toCreditUnits(credits: number | null): TaskResult["units"] {
  return { request: 1, ...(credits !== null && { token: credits }) };
}
