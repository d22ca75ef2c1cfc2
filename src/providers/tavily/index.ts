import { asList, asNumber, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { modelOf, postJson, refuseMembers } from "../shapes/inputs.ts";
import { poll } from "../shapes/requests.ts";
import { emptyPage, toCreditUnits, toLink, toWebImages } from "../shapes/web.ts";
import { defineTask, TaskFailure } from "../task.ts";

const options = { include_favicon: true, include_usage: true };

const search = defineTask("web/search", {
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/search",
  toRequest: ({ input }) =>
    postJson("/search", {
      query: input.query,
      max_results: input.max_results ?? undefined,
      search_depth: input.depth ?? undefined,
      ...options,
    }),
  fromResponse({ json }, { input }) {
    const results = objectsIn(at(json, "results"));
    return withUsage(json, {
      query: asText(at(json, "query")) ?? input.query,
      results: results.map((result) => ({
        ...toLink(result),
        content: asText(result["content"]),
        score: asNumber(result["score"]),
        images: toWebImages(result["images"]),
      })),
      answer: asText(at(json, "answer")),
      sources: results.map((result) => ({
        ...toLink(result),
        snippet: asText(result["content"]),
        published_date: asText(result["published_date"]),
        author: null,
        id: asText(result["id"]),
      })),
      images: toWebImages(at(json, "images")),
    });
  },
});

const scrape = defineTask("web/scraping", {
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/extract",
  toRequest: ({ input }) => postJson("/extract", { urls: [input.url], include_images: true, ...options }),
  fromResponse({ json }, { input }) {
    const page = at(json, "results", 0);
    if (page === undefined)
      throw new TaskFailure(400, asText(at(json, "failed_results", 0, "error")) ?? "The page could not be read");
    return withUsage(json, {
      ...emptyPage,
      ...toPage(page),
      url: asText(at(page, "url")) ?? input.url,
      title: asText(at(page, "title")),
    });
  },
});

const map = defineTask("web/map", {
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/map",
  toRequest: ({ input }) => postJson("/map", { url: input.url, include_usage: true }),
  fromResponse: ({ json }, { input }) =>
    withUsage(json, {
      url: input.url,
      links: asList(at(json, "results"))
        .filter((url) => typeof url === "string")
        .map((url) => ({ url, title: null, description: null })),
      base_url: asText(at(json, "base_url")),
    }),
});

/** The vendor responds when the crawl is complete, so there is nothing to poll. */
const crawl = defineTask("web/crawl_async", {
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/crawl",
  toRequest: ({ input }) => postJson("/crawl", { url: input.url, include_images: true, ...options }),
  fromResponse({ json }) {
    const pages = objectsIn(at(json, "results")).map(toPage);
    return withUsage(json, {
      pages,
      status: "completed",
      total: pages.length,
      completed: pages.length,
      base_url: asText(at(json, "base_url")),
    });
  },
});

function toPage(page: unknown) {
  return {
    url: asText(at(page, "url")) ?? "",
    content: asText(at(page, "raw_content")),
    images: toWebImages(at(page, "images")),
    favicon: asText(at(page, "favicon")),
  };
}

const research = defineTask("web/research_async", {
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/research",
  models: ["auto", "mini", "pro"],
  defaultModel: "auto",
  toRequest: (call) => {
    refuseMembers(call, ["reasoning_depth"]);
    const { prompt, schema } = call.input;
    return postJson("/research", { input: prompt, model: modelOf(call), output_schema: schema ?? undefined });
  },
  next({ json }, _call, request) {
    const status = at(json, "status");
    if (status === "failed") throw new TaskFailure(502, asText(at(json, "error")) ?? "the research failed");
    if (request.method === "GET") return status === "completed" ? null : { ...request, waitMs: "growing" };
    return { ...poll("/research", json, "request_id"), query: { include_usage: true } };
  },
  fromResponse({ json }) {
    const content = at(json, "content");
    return withUsage(json, {
      answer: asText(content),
      data: typeof content === "object" ? content : null,
      sources: objectsIn(at(json, "sources")).map((source) => toLink(source)),
      status: asText(at(json, "status")),
      request_id: asText(at(json, "request_id")),
      created_at: asText(at(json, "created_at")),
    });
  },
});

function withUsage<Output extends object>(json: unknown, output: Output) {
  const usage = at(json, "usage");
  const units = toCreditUnits(asNumber(at(usage, "credits")));
  return { output: { ...output, usage: typeof usage === "object" ? usage : null }, units };
}

export const tavily = defineProvider("tavily", "Tavily", {
  docs: "https://docs.tavily.com/documentation/api-reference/introduction",
  baseUrl: "https://api.tavily.com",
  // https://docs.tavily.com/documentation/api-reference/endpoint/search: the limit of the key or plan (432), or of paid use (433).
  errors: [
    { status: 432, means: "rate_limit" },
    { status: 433, means: "rate_limit" },
  ],
  billedParams: ["model"],
  tasks: [search, scrape, map, crawl, research],
});
