import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import type { ProviderTask, TaskResponse } from "../task.ts";
import { formats, refuseFailure, toPage, toUnits, toUsage } from "./answers.ts";
import { crawl, extract, research, scrapeBatch } from "./jobs.ts";

const search: ProviderTask = {
  task: "web/search",
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/search",
  unsupported: ["depth"],
  toRequest: ({ input }) => ({
    path: "/v2/search",
    body: {
      kind: "json",
      value: {
        query: input["query"],
        ...(typeof input["max_results"] === "number" && { limit: input["max_results"] }),
      },
    },
  }),
  fromResponse(answer, { input }) {
    const found = dataOf(answer);
    const credits = asNumber(at(answer.json, "creditsUsed"));
    const output = {
      query: String(input["query"]),
      results: [...objectsIn(found["web"]), ...objectsIn(found["news"])].map(toResult),
      answer: null,
      sources: [],
      images: objectsIn(found["images"]).flatMap(toImage),
      usage: toUsage(credits),
    };
    return { output, units: toUnits(credits) };
  },
};

/** Results that were asked to be read as well are whole pages, whose title stands in their metadata. */
function toResult(result: JsonObject): object {
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

function toImage(image: JsonObject): object[] {
  const url = asText(image["imageUrl"]);
  if (url === null) return [];
  const description = asText(image["title"]);
  return [{ url, description, width: asNumber(image["imageWidth"]), height: asNumber(image["imageHeight"]) }];
}

const scrape: ProviderTask = {
  task: "web/scraping",
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/scrape",
  toRequest: ({ input }) => ({
    path: "/v2/scrape",
    body: { kind: "json", value: { url: input["url"], formats } },
  }),
  fromResponse(answer, { input }) {
    const page = dataOf(answer);
    const credits = asNumber(at(page, "metadata", "creditsUsed")) ?? 1;
    return { output: { ...toPage(page, String(input["url"])), usage: toUsage(credits) }, units: toUnits(credits) };
  },
};

const map: ProviderTask = {
  task: "web/map",
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/map",
  toRequest: ({ input }) => ({ path: "/v2/map", body: { kind: "json", value: { url: input["url"] } } }),
  fromResponse(answer, { input }) {
    refuseFailure(answer);
    const output = {
      url: String(input["url"]),
      links: objectsIn(at(answer.json, "links")).map((link) => ({
        url: asText(link["url"]) ?? "",
        title: asText(link["title"]),
        description: asText(link["description"]),
      })),
      base_url: null,
      usage: null,
    };
    // A map costs one credit, and the answer does not say so.
    return { output, units: toUnits(1) };
  },
};

function dataOf(answer: TaskResponse): JsonObject {
  refuseFailure(answer);
  return asObject(at(answer.json, "data"));
}

export const firecrawl: ProviderRow = {
  name: "firecrawl",
  title: "Firecrawl",
  docs: "https://docs.firecrawl.dev/api-reference/v2-introduction",
  baseUrl: "https://api.firecrawl.dev",
  auth: { kind: "bearer" },
  sealedParams: ["webhook"],
  tasks: [search, scrape, map, crawl, scrapeBatch, extract, research],
};
