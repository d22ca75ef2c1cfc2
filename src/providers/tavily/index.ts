import { asList, asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { refuseMembers, textOf } from "../shapes/inputs.ts";
import { type ProviderTask, TaskFailure, type TaskResponse, type TaskResult } from "../task.ts";

const search: ProviderTask = {
  task: "web/search",
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/search",
  toRequest: ({ input }) => ({
    path: "/search",
    body: {
      kind: "json",
      value: {
        query: input["query"],
        include_favicon: true,
        include_usage: true,
        ...(typeof input["max_results"] === "number" && { max_results: input["max_results"] }),
        ...(typeof input["depth"] === "string" && { search_depth: input["depth"] }),
      },
    },
  }),
  fromResponse(answer, { input }) {
    const { json } = answer;
    const results = objectsIn(at(json, "results"));
    const output = {
      query: asText(at(json, "query")) ?? String(input["query"]),
      results: results.map((result) => ({
        title: asText(result["title"]),
        url: asText(result["url"]) ?? "",
        content: asText(result["content"]),
        score: asNumber(result["score"]),
        favicon: asText(result["favicon"]),
        images: toImages(result["images"]),
      })),
      answer: asText(at(json, "answer")),
      sources: results.map((result) => ({
        title: asText(result["title"]),
        url: asText(result["url"]) ?? "",
        snippet: asText(result["content"]),
        favicon: asText(result["favicon"]),
        published_date: asText(result["published_date"]),
        author: null,
        id: asText(result["id"]),
      })),
      images: toImages(at(json, "images")),
      usage: usageOf(answer),
    };
    return { output, units: unitsOf(answer) };
  },
};

const scrape: ProviderTask = {
  task: "web/scraping",
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/extract",
  toRequest: ({ input }) => ({
    path: "/extract",
    body: {
      kind: "json",
      value: { urls: [input["url"]], include_images: true, include_favicon: true, include_usage: true },
    },
  }),
  fromResponse(answer, { input }) {
    const { json } = answer;
    const [page] = objectsIn(at(json, "results"));
    if (page === undefined) {
      const [failed] = objectsIn(at(json, "failed_results"));
      throw new TaskFailure(400, asText(failed?.["error"]) ?? "The page could not be read");
    }
    const output = {
      url: asText(page["url"]) ?? String(input["url"]),
      content: asText(page["raw_content"]),
      title: asText(page["title"]),
      description: null,
      status_code: null,
      links: [],
      images: toImages(page["images"]),
      raw_html: null,
      summary: null,
      published_date: null,
      author: null,
      favicon: asText(page["favicon"]),
      usage: usageOf(answer),
    };
    return { output, units: unitsOf(answer) };
  },
};

const map: ProviderTask = {
  task: "web/map",
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/map",
  toRequest: ({ input }) => ({
    path: "/map",
    body: { kind: "json", value: { url: input["url"], include_usage: true } },
  }),
  fromResponse(answer, { input }) {
    const output = {
      url: String(input["url"]),
      links: asList(at(answer.json, "results")).flatMap((url) =>
        typeof url === "string" ? [{ url, title: null, description: null }] : [],
      ),
      base_url: asText(at(answer.json, "base_url")),
      usage: usageOf(answer),
    };
    return { output, units: unitsOf(answer) };
  },
};

/** The vendor answers when it is done: behind a job there is nothing to ask for. */
const crawl: ProviderTask = {
  task: "web/crawl_async",
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/crawl",
  toRequest: ({ input }) => ({
    path: "/crawl",
    body: {
      kind: "json",
      value: { url: input["url"], include_images: true, include_favicon: true, include_usage: true },
    },
  }),
  fromResponse(answer) {
    const pages = objectsIn(at(answer.json, "results"));
    const output = {
      pages: pages.map((page) => ({
        url: asText(page["url"]) ?? "",
        content: asText(page["raw_content"]),
        images: toImages(page["images"]),
        favicon: asText(page["favicon"]),
      })),
      status: "completed",
      total: pages.length,
      completed: pages.length,
      base_url: asText(at(answer.json, "base_url")),
      usage: usageOf(answer),
    };
    return { output, units: unitsOf(answer) };
  },
};

const research: ProviderTask = {
  task: "web/research_async",
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/research",
  models: ["auto", "mini", "pro"],
  toRequest: (call) => {
    refuseMembers(call, ["reasoning_depth"]);
    const { schema } = call.input;
    return {
      path: "/research",
      body: {
        kind: "json",
        value: {
          input: textOf(call, "prompt"),
          model: call.model ?? "auto",
          ...(typeof schema === "object" && schema !== null && { output_schema: schema }),
        },
      },
    };
  },
  next({ json }, _call, asked) {
    const status = at(json, "status");
    if (status === "failed") throw new TaskFailure(502, asText(at(json, "error")) ?? "the research failed");
    if (asked.method === "GET") return status === "completed" ? null : { ...asked, waitMs: "growing" };
    const id = asText(at(json, "request_id"));
    if (id === null) throw new TypeError("there is no id in the answer");
    const path = `/research/${encodeURIComponent(id)}`;
    return { method: "GET", path, query: { include_usage: true }, waitMs: "growing" };
  },
  fromResponse(answer) {
    const { json } = answer;
    const content = at(json, "content");
    const output = {
      answer: asText(content),
      data: typeof content === "object" ? content : null,
      sources: objectsIn(at(json, "sources")).map((source) => ({
        title: asText(source["title"]),
        url: asText(source["url"]) ?? "",
        favicon: asText(source["favicon"]),
      })),
      status: asText(at(json, "status")),
      request_id: asText(at(json, "request_id")),
      created_at: asText(at(json, "created_at")),
      usage: usageOf(answer),
    };
    return { output, units: unitsOf(answer) };
  },
};

/** Addresses, or objects where descriptions were asked for. */
function toImages(images: unknown): object[] {
  return asList(images).flatMap((image) => {
    const url = asText(image) ?? asText(at(image, "url"));
    if (url === null) return [];
    return [{ url, description: asText(asObject(image)["description"]), width: null, height: null }];
  });
}

function usageOf({ json }: TaskResponse): object | null {
  const usage = at(json, "usage");
  return typeof usage === "object" ? usage : null;
}

/** Credits are what is billed; the price list counts them as tokens. */
function unitsOf({ json }: TaskResponse): TaskResult["units"] {
  const credits = asNumber(at(json, "usage", "credits"));
  return { request: 1, ...(credits !== null && { token: credits }) };
}

export const tavily: ProviderRow = {
  name: "tavily",
  title: "Tavily",
  docs: "https://docs.tavily.com/documentation/api-reference/introduction",
  baseUrl: "https://api.tavily.com",
  auth: { kind: "bearer" },
  // https://docs.tavily.com/documentation/api-reference/endpoint/search: the limit of the key or plan (432), or of paid use (433).
  errors: [
    { status: 432, means: "rate_limit" },
    { status: 433, means: "rate_limit" },
  ],
  tasks: [search, scrape, map, crawl, research],
};
