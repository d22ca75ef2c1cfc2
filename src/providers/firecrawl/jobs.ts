// Work that takes the vendor a while: begun, and asked for by its id.

import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { refuseMembers, textOf } from "../shapes/inputs.ts";
import { type NextRequest, type ProviderTask, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { formats, refuseFailure, toPage, toUnits, toUsage } from "./answers.ts";

/** Pages come in portions; those before the last one. */
interface Gathered {
  readonly portions?: readonly (readonly JsonObject[])[];
  readonly refused?: readonly string[];
}

export const crawl: ProviderTask = {
  task: "web/crawl_async",
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/crawl-get",
  toRequest: ({ input }) => ({
    path: "/v2/crawl",
    body: { kind: "json", value: { url: input["url"], scrapeOptions: { formats } } },
  }),
  next: (answer, _call, asked) => nextOf("/v2/crawl", answer, asked),
  fromResponse({ json }, { input }, { state }) {
    const pages = gather(state, json);
    const credits = asNumber(at(json, "creditsUsed"));
    const output = {
      pages: pages.map((page) => toPage(page)),
      status: asText(at(json, "status")),
      total: asNumber(at(json, "total")),
      completed: asNumber(at(json, "completed")),
      base_url: String(input["url"]),
      usage: toUsage(credits),
    };
    return { output, units: toUnits(credits ?? pages.length) };
  },
};

export const scrapeBatch: ProviderTask = {
  task: "web/batch_scrape_async",
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/batch-scrape-get",
  toRequest: ({ input }) => ({
    path: "/v2/batch/scrape",
    body: { kind: "json", value: { urls: input["urls"], formats } },
  }),
  next: (answer, _call, asked) => nextOf("/v2/batch/scrape", answer, asked),
  fromResponse({ json }, _call, { state }) {
    const pages = gather(state, json);
    const refused = (state as Gathered | undefined)?.refused ?? [];
    const hasFailed = (page: JsonObject) => asText(at(page, "metadata", "error")) !== null;
    const credits = asNumber(at(json, "creditsUsed"));
    const output = {
      pages: pages.filter((page) => !hasFailed(page)).map((page) => toPage(page)),
      failed_results: [
        ...refused.map((url) => ({ url, error: "The provider does not take this address" })),
        ...pages.filter(hasFailed).map((page) => ({
          url: asText(at(page, "metadata", "sourceURL")),
          error: asText(at(page, "metadata", "error")),
        })),
      ],
      usage: toUsage(credits),
    };
    return { output, units: toUnits(credits ?? pages.length) };
  },
};

export const extract: ProviderTask = {
  task: "web/structured_extraction_async",
  docs: "https://docs.firecrawl.dev/api-reference/endpoint/extract-get",
  toRequest: ({ input }) => ({
    path: "/v2/extract",
    body: {
      kind: "json",
      value: {
        urls: input["urls"],
        showSources: true,
        ...(typeof input["prompt"] === "string" && { prompt: input["prompt"] }),
        ...(typeof input["schema"] === "object" && input["schema"] !== null && { schema: input["schema"] }),
      },
    },
  }),
  next: (answer, _call, asked) => nextOf("/v2/extract", answer, asked),
  fromResponse({ json }) {
    const credits = asNumber(at(json, "creditsUsed")) ?? asNumber(at(json, "tokensUsed"));
    const output = {
      data: at(json, "data") ?? null,
      sources: toSources(at(json, "sources")),
      status: asText(at(json, "status")),
      failed_results: [],
      usage: toUsage(credits),
    };
    return { output, units: toUnits(credits) };
  },
};

/** By member of the data: the pages that it was found on. */
function toSources(sources: unknown): readonly JsonObject[] {
  const lists = typeof sources === "object" && sources !== null ? Object.values(sources) : [];
  const urls = new Set(lists.flat().filter((url) => typeof url === "string"));
  return [...urls].map((url) => ({
    title: null,
    url,
    snippet: null,
    favicon: null,
    published_date: null,
    author: null,
    id: null,
  }));
}

/** The vendor's agent takes the place of its earlier deep research. */
export const research: ProviderTask = {
  task: "web/research_async",
  docs: "https://docs.firecrawl.dev/features/agent",
  toRequest: (call) => {
    refuseMembers(call, ["reasoning_depth"]);
    const { schema } = call.input;
    return {
      path: "/v2/agent",
      body: {
        kind: "json",
        value: { prompt: textOf(call, "prompt"), ...(typeof schema === "object" && schema !== null && { schema }) },
      },
    };
  },
  next: (answer, _call, asked) => nextOf("/v2/agent", answer, asked),
  fromResponse({ json }) {
    const data = at(json, "data") ?? null;
    const credits = asNumber(at(json, "creditsUsed"));
    const output = {
      answer: asText(data) ?? (data === null ? null : JSON.stringify(data)),
      data: typeof data === "object" ? data : null,
      sources: [],
      status: asText(at(json, "status")),
      request_id: null,
      created_at: null,
      usage: toUsage(credits),
    };
    return { output, units: toUnits(credits) };
  },
};

/** The question for work that was begun at `path`, the next portion of what came out, or null at the end. */
function nextOf(path: string, answer: TaskResponse, asked: TaskRequest): NextRequest | null {
  refuseFailure(answer);
  const { json } = answer;
  const status = at(json, "status");
  if (asked.method !== "GET") {
    const id = asText(at(json, "id"));
    if (id === null) throw new TypeError("there is no id in the answer");
    const refused = at(json, "invalidURLs");
    const state: Gathered = Array.isArray(refused) ? { refused } : {};
    return { method: "GET", path: `${path}/${encodeURIComponent(id)}`, state, waitMs: "growing" };
  }
  if (status === "failed" || status === "cancelled")
    throw new TaskFailure(502, asText(at(json, "error")) ?? "The provider did not succeed");
  if (status === "scraping" || status === "processing" || status === "pending") {
    const [completed, total] = [asNumber(at(json, "completed")), asNumber(at(json, "total"))];
    const progress = completed !== null && total ? Math.min(1, completed / total) : null;
    return { ...asked, waitMs: "growing", ...(progress !== null && { progress }) };
  }
  const more = asText(at(json, "next"));
  if (more === null) return null;
  // Only where in the list it goes on is taken: the gateway's credentials go to no address but the operator's.
  const query = Object.fromEntries(new URL(more).searchParams);
  return {
    method: "GET",
    path: asked.path,
    query,
    state: { ...(asked.state as Gathered), portions: portionsOf(asked.state, json) },
  };
}

function gather(state: unknown, json: unknown): readonly JsonObject[] {
  return portionsOf(state, json).flat();
}

function portionsOf(state: unknown, json: unknown): readonly (readonly JsonObject[])[] {
  return [...((state as Gathered | undefined)?.portions ?? []), objectsIn(at(json, "data"))];
}
