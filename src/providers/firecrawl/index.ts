import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { postJson } from "../shapes/inputs.ts";
import { defineTask, type TaskResponse } from "../task.ts";
import { crawl, extract, research, scrapeBatch } from "./jobs.ts";
import { formats, refuseFailure, toPage, withUsage } from "./responses.ts";

const search = defineTask("web/search", {
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/search",
  unsupported: ["depth"],
  toRequest: ({ input }) => postJson("/v2/search", { query: input.query, limit: input.max_results ?? undefined }),
  fromResponse(response, { input }) {
    const found = dataOf(response);
    return withUsage(asNumber(at(response.json, "creditsUsed")), {
      query: input.query,
      results: [...objectsIn(found["web"]), ...objectsIn(found["news"])].map(toResult),
      answer: null,
      sources: [],
      images: objectsIn(found["images"]).flatMap(toImage),
    });
  },
});

/** A result whose page was scraped as well has its title in the metadata. */
function toResult(result: JsonObject) {
  const metadata = asObject(result["metadata"]);
  return {
    title: asText(result["title"]) ?? asText(metadata["title"]),
    url: asText(result["url"]) ?? asText(metadata["sourceURL"]) ?? "",
    content: asText(result["markdown"]) ?? asText(result["description"]) ?? asText(result["snippet"]),
    score: null,
    favicon: asText(metadata["favicon"]),
    images: [],
  };
}

function toImage(image: JsonObject) {
  const url = asText(image["imageUrl"]);
  if (url === null) return [];
  const description = asText(image["title"]);
  return [{ url, description, width: asNumber(image["imageWidth"]), height: asNumber(image["imageHeight"]) }];
}

const scrape = defineTask("web/scraping", {
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/scrape",
  toRequest: ({ input }) => postJson("/v2/scrape", { url: input.url, formats }),
  fromResponse(response, { input }) {
    const page = dataOf(response);
    return withUsage(asNumber(at(page, "metadata", "creditsUsed")) ?? 1, toPage(page, input.url));
  },
});

const map = defineTask("web/map", {
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/map",
  toRequest: ({ input }) => postJson("/v2/map", { url: input.url }),
  fromResponse(response, { input }) {
    refuseFailure(response);
    const links = objectsIn(at(response.json, "links")).map((link) => ({
      url: asText(link["url"]) ?? "",
      title: asText(link["title"]),
      description: asText(link["description"]),
    }));
    // A map costs one credit, which the response does not state.
    return { output: { url: input.url, links, base_url: null, usage: null }, units: { request: 1, token: 1 } };
  },
});

function dataOf(response: TaskResponse): JsonObject {
  refuseFailure(response);
  return asObject(at(response.json, "data"));
}

export const firecrawl = defineProvider("firecrawl", "Firecrawl", {
  docs: "https://docs.firecrawl.dev/api-reference/v2-introduction",
  baseUrl: "https://api.firecrawl.dev",
  sealedParams: ["webhook"],
  tasks: [search, scrape, map, crawl, scrapeBatch, extract, research],
});
