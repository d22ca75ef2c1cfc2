// Work that takes the vendor a while: one request starts it, others poll for the result.

import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import { postJson, refuseMembers } from "../shapes/inputs.ts";
import { poll } from "../shapes/requests.ts";
import { emptySource, toCreditUnits } from "../shapes/web.ts";
import { defineTask, type NextRequest, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { formats, refuseFailure, toPage, withUsage } from "./responses.ts";

/** What the responses so far have contained: a response holds a part of the pages, and the first one lists invalid addresses. */
interface Progress {
  readonly parts?: readonly (readonly JsonObject[])[];
  readonly invalidUrls?: readonly string[];
}

export const crawl = defineTask("web/crawl_async", {
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/crawl-get",
  toRequest: ({ input }) => postJson("/v2/crawl", { url: input.url, scrapeOptions: { formats } }),
  next: (response, _call, request) => toNext("/v2/crawl", response, request),
  fromResponse({ json }, { input }, { state }) {
    const pages = collectParts(state, json).flat();
    const output = {
      pages: pages.map((page) => toPage(page)),
      status: asText(at(json, "status")),
      total: asNumber(at(json, "total")),
      completed: asNumber(at(json, "completed")),
      base_url: input.url,
    };
    return withUsage(asNumber(at(json, "creditsUsed")), output, pages.length);
  },
});

export const scrapeBatch = defineTask("web/batch_scrape_async", {
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/batch-scrape-get",
  toRequest: ({ input }) => postJson("/v2/batch/scrape", { urls: input.urls, formats }),
  next: (response, _call, request) => toNext("/v2/batch/scrape", response, request),
  fromResponse({ json }, _call, { state }) {
    const pages = collectParts(state, json).flat();
    const { invalidUrls = [] } = asObject(state) as Progress;
    const hasFailed = ({ metadata }: JsonObject) => asText(at(metadata, "error")) !== null;
    const output = {
      pages: pages.filter((page) => !hasFailed(page)).map((page) => toPage(page)),
      failed_results: [
        ...invalidUrls.map((url) => ({ url, error: "The provider does not take this address" })),
        ...pages.filter(hasFailed).map(({ metadata }) => ({
          url: asText(at(metadata, "sourceURL")),
          error: asText(at(metadata, "error")),
        })),
      ],
    };
    return withUsage(asNumber(at(json, "creditsUsed")), output, pages.length);
  },
});

/** https://docs.firecrawl.dev/api-reference/endpoint/token-usage */
const tokensPerCredit = 15;

export const extract = defineTask("web/structured_extraction_async", {
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/extract-get",
  toRequest: ({ input: { urls, prompt, schema } }) =>
    postJson("/v2/extract", { urls, showSources: true, prompt: prompt ?? undefined, schema: schema ?? undefined }),
  next: (response, _call, request) => toNext("/v2/extract", response, request),
  fromResponse({ json }) {
    const [credits, tokens] = [asNumber(at(json, "creditsUsed")), asNumber(at(json, "tokensUsed"))];
    const { output } = withUsage(credits ?? (tokens === null ? null : tokens / tokensPerCredit), {
      data: at(json, "data") ?? null,
      sources: toSources(at(json, "sources")),
      status: asText(at(json, "status")),
      failed_results: [],
    });
    // The vendor bills whole credits, and the price list of this task alone has the price of a token.
    return { output, units: toCreditUnits(credits === null ? tokens : credits * tokensPerCredit) };
  },
});

/** The vendor lists, for each member of the data, the pages that contain it. */
function toSources(sources: unknown) {
  const urls = Object.values(asObject(sources)).flatMap((list) =>
    asList(list).filter((url) => typeof url === "string"),
  );
  return [...new Set(urls)].map((url) => ({ ...emptySource, url, title: null, favicon: null }));
}

/** The vendor's agent, which replaces its earlier endpoint for deep research. */
export const research = defineTask("web/research_async", {
  docs: "https://docs.firecrawl.dev/features/agent",
  toRequest: (call) => {
    refuseMembers(call, ["reasoning_depth"]);
    const { prompt, schema } = call.input;
    return postJson("/v2/agent", { prompt, schema: schema ?? undefined });
  },
  next: (response, _call, request) => toNext("/v2/agent", response, request),
  fromResponse({ json }) {
    const data = at(json, "data") ?? null;
    return withUsage(asNumber(at(json, "creditsUsed")), {
      answer: asText(data) ?? (data === null ? null : JSON.stringify(data)),
      data: typeof data === "object" ? data : null,
      sources: [],
      status: asText(at(json, "status")),
      request_id: null,
      created_at: null,
    });
  },
});

/** Polls for work that was started at `path`, then requests the parts of the result; null after the last part. */
function toNext(path: string, response: TaskResponse, request: TaskRequest): NextRequest | null {
  refuseFailure(response);
  const { json } = response;
  if (request.method !== "GET") {
    const invalidUrls = at(json, "invalidURLs");
    return { ...poll(path, json), state: (Array.isArray(invalidUrls) ? { invalidUrls } : {}) satisfies Progress };
  }
  const status = String(at(json, "status"));
  if (["failed", "cancelled"].includes(status))
    throw new TaskFailure(502, asText(at(json, "error")) ?? "The provider did not succeed");
  if (["scraping", "processing", "pending"].includes(status)) {
    const [completed, total] = [asNumber(at(json, "completed")), asNumber(at(json, "total"))];
    const progress = completed !== null && total ? Math.min(1, completed / total) : null;
    return { ...request, waitMs: "growing", ...(progress !== null && { progress }) };
  }
  const nextUrl = asText(at(json, "next"));
  if (nextUrl === null) return null;
  // Only the query is used: credentials must not be sent to an address that a response names.
  const query = Object.fromEntries(new URL(nextUrl).searchParams);
  const state = { ...asObject(request.state), parts: collectParts(request.state, json) } satisfies Progress;
  return { method: "GET", path: request.path, query, state };
}

function collectParts(state: unknown, json: unknown): readonly (readonly JsonObject[])[] {
  const { parts = [] } = asObject(state) as Progress;
  return [...parts, objectsIn(at(json, "data"))];
}
