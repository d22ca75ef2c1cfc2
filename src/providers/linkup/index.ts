import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { postJson } from "../shapes/inputs.ts";
import { poll } from "../shapes/requests.ts";
import { emptyPage, emptySource, toCreditUnits, toLink, toWebImages } from "../shapes/web.ts";
import { defineTask, refuseInput, TaskFailure } from "../task.ts";

// The vendor's prices in thousandths of a dollar: the price list has 0.001 USD for a token. `provider_params` may choose another price, so
// they are read as well; a value that is not listed here has no known price.
// https://docs.linkup.so/pages/documentation/development/pricing
const quickSearchPrices = { searchResults: 5, sourcedAnswer: 6, structured: 6 };
const searchPrices: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  flash: quickSearchPrices,
  fast: quickSearchPrices,
  standard: quickSearchPrices,
  deep: { searchResults: 50, sourcedAnswer: 55, structured: 55 },
};
const fetchPrices: Readonly<Record<string, number>> = { false: 1, true: 5 };
const researchPrices: Readonly<Record<string, number>> = { S: 250, M: 500, L: 1_500, XL: 2_500 };
const depths = Object.keys(researchPrices);

const search = defineTask("web/search", {
  docs: "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search",
  toRequest: ({ input }) =>
    postJson("/search", {
      q: input.query,
      ...toSearchMode(input.depth),
      maxResults: input.max_results ?? undefined,
    }),
  fromResponse({ json }, { input, providerParams }) {
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
    const { depth, outputType } = { ...toSearchMode(input.depth), ...providerParams };
    const prices = lookUp(searchPrices, String(depth)) ?? {};
    return { output, units: toCreditUnits(lookUp(prices, String(outputType)) ?? null) };
  },
});

/** The members that decide about the price. */
function toSearchMode(depth: string | null | undefined): JsonObject {
  return { depth: depth ?? "standard", outputType: "searchResults" };
}

/** The vendor sends sources with an answer, which a caller requests with the parameter `outputType`. */
function toSource(source: JsonObject) {
  const snippet = asText(source["snippet"]) ?? asText(source["content"]);
  return { ...emptySource, ...toLink(source, source["name"]), snippet };
}

const scrape = defineTask("web/scraping", {
  docs: "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-fetch",
  toRequest: ({ input }) => postJson("/fetch", { url: input.url }),
  fromResponse({ json }, { input, providerParams: { renderJs = false } }) {
    const output = {
      ...emptyPage,
      url: input.url,
      content: asText(at(json, "markdown")),
      images: toWebImages(at(json, "images"), "alt"),
      raw_html: asText(at(json, "rawHtml")),
      favicon: asText(at(json, "favicon")),
      usage: null,
    };
    return { output, units: toCreditUnits(lookUp(fetchPrices, String(renderJs)) ?? null) };
  },
});

/** The vendor's default, which is sent so that the price of the research is known. */
const defaultDepth = "L";

const research = defineTask("web/research_async", {
  docs: "https://docs.linkup.so/pages/documentation/endpoints/research/post",
  toRequest: ({ input: { prompt, schema, reasoning_depth: depth } }) => {
    if (depth && !depths.includes(depth))
      refuseInput("reasoning_depth", `This provider supports ${depths.join(", ")}`, "literal_error");
    return postJson("/research", {
      q: prompt,
      outputType: schema ? "structured" : "sourcedAnswer",
      structuredOutputSchema: schema ? JSON.stringify(schema) : undefined,
      reasoningDepth: depth || defaultDepth,
    });
  },
  next({ json }, _call, request) {
    const status = at(json, "status");
    if (status === "failed") throw new TaskFailure(502, asText(at(json, "error")) ?? "the research failed");
    if (status === "completed") return null;
    return request.method === "GET" ? { ...request, waitMs: "growing" } : poll("/research", json);
  },
  fromResponse({ json }, { input, providerParams }) {
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
    const { reasoningDepth = input.reasoning_depth || defaultDepth } = providerParams;
    return { output, units: toCreditUnits(lookUp(researchPrices, String(reasoningDepth)) ?? null) };
  },
});

export const linkup = defineProvider("linkup", "Linkup", {
  docs: "https://docs.linkup.so/pages/documentation/endpoints/search/overview",
  baseUrl: "https://api.linkup.so/v1",
  tasks: [search, scrape, research],
});
