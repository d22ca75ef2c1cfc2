import type { JsonObject } from "../dialect.ts";
import { asList, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { textOf } from "../shapes/inputs.ts";
import { type ProviderTask, refuseInput, TaskFailure } from "../task.ts";

const search: ProviderTask = {
  task: "web/search",
  docs: "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search",
  toRequest: ({ input }) => ({
    path: "/search",
    body: {
      kind: "json",
      value: {
        q: input["query"],
        depth: typeof input["depth"] === "string" ? input["depth"] : "standard",
        outputType: "searchResults",
        ...(typeof input["max_results"] === "number" && { maxResults: input["max_results"] }),
      },
    },
  }),
  fromResponse({ json }, { input }) {
    const results = objectsIn(at(json, "results"));
    const output = {
      query: String(input["query"]),
      results: results.filter(({ type }) => type !== "image").map(toResult),
      answer: asText(at(json, "answer")),
      sources: objectsIn(at(json, "sources")).map(toSource),
      images: results.filter(({ type }) => type === "image").map(toImage),
      usage: null,
    };
    return { output, units: { request: 1 } };
  },
};

function toResult(result: JsonObject): object {
  return {
    title: asText(result["name"]),
    url: asText(result["url"]) ?? "",
    content: asText(result["content"]),
    score: null,
    favicon: asText(result["favicon"]),
    images: [],
  };
}

/** There are sources when an answer was asked for, with `outputType` among the parameters. */
function toSource(source: JsonObject): object {
  return {
    title: asText(source["name"]),
    url: asText(source["url"]) ?? "",
    snippet: asText(source["snippet"]) ?? asText(source["content"]),
    favicon: asText(source["favicon"]),
    published_date: null,
    author: null,
    id: null,
  };
}

function toImage(image: JsonObject): object {
  return { url: asText(image["url"]) ?? "", description: asText(image["name"]), width: null, height: null };
}

const scrape: ProviderTask = {
  task: "web/scraping",
  docs: "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-fetch",
  toRequest: ({ input }) => ({ path: "/fetch", body: { kind: "json", value: { url: input["url"] } } }),
  fromResponse({ json }, { input }) {
    const output = {
      url: String(input["url"]),
      content: asText(at(json, "markdown")),
      title: null,
      description: null,
      status_code: null,
      links: [],
      images: asList(at(json, "images")).flatMap((image) => {
        const url = asText(image) ?? asText(at(image, "url"));
        return url === null ? [] : [{ url, description: asText(at(image, "alt")), width: null, height: null }];
      }),
      raw_html: asText(at(json, "rawHtml")),
      summary: null,
      published_date: null,
      author: null,
      favicon: asText(at(json, "favicon")),
      usage: null,
    };
    return { output, units: { request: 1 } };
  },
};

const depths = ["S", "M", "L", "XL"];

const research: ProviderTask = {
  task: "web/research_async",
  docs: "https://docs.linkup.so/pages/documentation/endpoints/research/post",
  toRequest: (call) => {
    const { schema, reasoning_depth: depth } = call.input as {
      readonly schema?: unknown;
      readonly reasoning_depth?: unknown;
    };
    const isStructured = typeof schema === "object" && schema !== null;
    if (typeof depth === "string" && !depths.includes(depth))
      refuseInput("reasoning_depth", `This provider has ${depths.join(", ")}`, "literal_error");
    return {
      path: "/research",
      body: {
        kind: "json",
        value: {
          q: textOf(call, "prompt"),
          outputType: isStructured ? "structured" : "sourcedAnswer",
          ...(isStructured && { structuredOutputSchema: JSON.stringify(schema) }),
          ...(typeof depth === "string" && { reasoningDepth: depth }),
        },
      },
    };
  },
  next({ json }, _call, asked) {
    const status = at(json, "status");
    if (status === "failed") throw new TaskFailure(502, asText(at(json, "error")) ?? "the research failed");
    if (status === "completed") return null;
    if (asked.method === "GET") return { ...asked, waitMs: "growing" };
    const id = asText(at(json, "id"));
    if (id === null) throw new TypeError("there is no id in the answer");
    return { method: "GET", path: `/research/${encodeURIComponent(id)}`, waitMs: "growing" };
  },
  fromResponse({ json }) {
    const found = at(json, "output");
    const answer = asText(at(found, "answer"));
    const output = {
      answer,
      data: answer === null ? (at(found, "data") ?? found ?? null) : null,
      sources: objectsIn(at(found, "sources")).map(toSource),
      status: asText(at(json, "status")),
      request_id: asText(at(json, "id")),
      created_at: asText(at(json, "createdAt")),
      usage: null,
    };
    return { output, units: { request: 1 } };
  },
};

export const linkup: ProviderRow = {
  name: "linkup",
  title: "Linkup",
  docs: "https://docs.linkup.so/pages/documentation/endpoints/search/overview",
  baseUrl: "https://api.linkup.so/v1",
  auth: { kind: "bearer" },
  tasks: [search, scrape, research],
};
