import type { JsonObject } from "../dialect.ts";
import { asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { postJson } from "../shapes/inputs.ts";
import { poll } from "../shapes/requests.ts";
import { emptyPage, emptySource, toLink, toWebImages } from "../shapes/web.ts";
import { defineTask, refuseInput, TaskFailure } from "../task.ts";

const units = { request: 1 };

const search = defineTask("web/search", {
  docs: "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search",
  toRequest: ({ input }) =>
    postJson("/search", {
      q: input.query,
      depth: input.depth ?? "standard",
      outputType: "searchResults",
      maxResults: input.max_results ?? undefined,
    }),
  fromResponse({ json }, { input }) {
    const results = objectsIn(at(json, "results"));
    const output = {
      query: input.query,
      results: results
        .filter(({ type }) => type !== "image")
        .map((result) => ({
          ...toLink(result, result["name"]),
          content: asText(result["content"]),
          score: null,
          images: [],
        })),
      answer: asText(at(json, "answer")),
      sources: objectsIn(at(json, "sources")).map(toSource),
      images: toWebImages(
        results.filter(({ type }) => type === "image"),
        "name",
      ),
      usage: null,
    };
    return { output, units };
  },
});

/** The vendor sends sources with an answer, which a caller requests with the parameter `outputType`. */
function toSource(source: JsonObject) {
  const snippet = asText(source["snippet"]) ?? asText(source["content"]);
  return { ...emptySource, ...toLink(source, source["name"]), snippet };
}

const scrape = defineTask("web/scraping", {
  docs: "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-fetch",
  toRequest: ({ input }) => postJson("/fetch", { url: input.url }),
  fromResponse({ json }, { input }) {
    const output = {
      ...emptyPage,
      url: input.url,
      content: asText(at(json, "markdown")),
      images: toWebImages(at(json, "images"), "alt"),
      raw_html: asText(at(json, "rawHtml")),
      favicon: asText(at(json, "favicon")),
      usage: null,
    };
    return { output, units };
  },
});

const depths = ["S", "M", "L", "XL"];

const research = defineTask("web/research_async", {
  docs: "https://docs.linkup.so/pages/documentation/endpoints/research/post",
  toRequest: ({ input: { prompt, schema, reasoning_depth: depth } }) => {
    if (depth && !depths.includes(depth))
      refuseInput("reasoning_depth", `This provider supports ${depths.join(", ")}`, "literal_error");
    return postJson("/research", {
      q: prompt,
      outputType: schema ? "structured" : "sourcedAnswer",
      structuredOutputSchema: schema ? JSON.stringify(schema) : undefined,
      reasoningDepth: depth ?? undefined,
    });
  },
  next({ json }, _call, request) {
    const status = at(json, "status");
    if (status === "failed") throw new TaskFailure(502, asText(at(json, "error")) ?? "the research failed");
    if (status === "completed") return null;
    return request.method === "GET" ? { ...request, waitMs: "growing" } : poll("/research", json);
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
    return { output, units };
  },
});

export const linkup = defineProvider("linkup", "Linkup", {
  docs: "https://docs.linkup.so/pages/documentation/endpoints/search/overview",
  baseUrl: "https://api.linkup.so/v1",
  tasks: [search, scrape, research],
});
