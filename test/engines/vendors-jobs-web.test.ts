// Crawls and research of vendors, over real HTTP: begun, asked for, and mapped, each step by an engine of its own. Answers are small and say where
// they come from: `documented` follows an example of the vendor's reference, `invented` has its form with values of ours.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import { firecrawl } from "../../src/providers/firecrawl/index.ts";
import { linkup } from "../../src/providers/linkup/index.ts";
import { tavily } from "../../src/providers/tavily/index.ts";
import { failureOf, pathsOf, runJob } from "./vendors-jobs/job.ts";

describe("the web", () => {
  const page = (url: string, more: object = {}) => ({
    markdown: `About ${url}`,
    links: ["https://a.example/next"],
    metadata: { sourceURL: url, title: "T", statusCode: 200, ...more },
  });

  test("firecrawl's crawl tells how far it is, and its pages come in portions", async () => {
    const { output, seen, waits, answer } = await runJob({
      row: firecrawl,
      task: "web/crawl_async",
      input: { url: "https://a.example" },
      answers: [
        { json: { success: true, id: "c1", url: "https://elsewhere.example/v2/crawl/c1" } },
        { json: { status: "scraping", total: 4, completed: 1, data: [] } },
        // documented: the form; values invented
        {
          json: {
            status: "completed",
            total: 2,
            completed: 2,
            creditsUsed: 2,
            next: "https://elsewhere.example/v2/crawl/c1?skip=1",
            data: [page("https://a.example")],
          },
        },
        { json: { status: "completed", total: 2, completed: 2, creditsUsed: 2, data: [page("https://a.example/2")] } },
      ],
    });
    expect(pathsOf(seen)).toEqual([
      "POST /v2/crawl",
      "GET /v2/crawl/c1",
      "GET /v2/crawl/c1",
      "GET /v2/crawl/c1?skip=1",
    ]);
    expect(waits.map(({ progress }) => progress)).toEqual([undefined, 0.25]);
    expect(output).toMatchObject({
      pages: [{ url: "https://a.example" }, { url: "https://a.example/2", content: "About https://a.example/2" }],
      status: "completed",
      total: 2,
      usage: { credits: 2 },
    });
    expect(answer.units).toMatchObject({ token: 2 });
  });

  test("firecrawl's batch tells which addresses failed", async () => {
    const { output } = await runJob({
      row: firecrawl,
      task: "web/batch_scrape_async",
      input: { urls: ["https://a.example", "x:", "https://b.example"] },
      answers: [
        { json: { success: true, id: "b1", invalidURLs: ["x:"] } },
        {
          json: {
            status: "completed",
            creditsUsed: 1,
            data: [page("https://a.example"), page("https://b.example", { error: "timeout" })],
          },
        },
      ],
    });
    expect(output).toMatchObject({
      pages: [{ url: "https://a.example" }],
      failed_results: [{ url: "x:" }, { url: "https://b.example", error: "timeout" }],
    });
  });

  test("firecrawl's extraction and research end in data", async () => {
    const schema = { type: "object" };
    const found = await runJob({
      row: firecrawl,
      task: "web/structured_extraction_async",
      input: { urls: ["https://a.example"], prompt: "who?", schema },
      answers: [
        { json: { success: true, id: "e1" } },
        { json: { success: true, status: "processing" } },
        {
          json: {
            success: true,
            status: "completed",
            data: { name: "Ada" },
            sources: { name: ["https://a.example"] },
            creditsUsed: 5,
          },
        },
      ],
    });
    expect(found.seen[0]?.json).toMatchObject({ urls: ["https://a.example"], prompt: "who?", schema });
    expect(found.output).toMatchObject({ data: { name: "Ada" }, sources: [{ url: "https://a.example" }] });
    const studied = await runJob({
      row: firecrawl,
      task: "web/research_async",
      input: { prompt: "who?", schema: null, reasoning_depth: null },
      answers: [
        { json: { success: true, id: "r1" } },
        { json: { success: true, status: "completed", data: { name: "Ada" }, creditsUsed: 9 } },
      ],
    });
    expect(pathsOf(studied.seen)).toEqual(["POST /v2/agent", "GET /v2/agent/r1"]);
    expect(studied.output).toMatchObject({ answer: '{"name":"Ada"}', data: { name: "Ada" }, usage: { credits: 9 } });
    const answers = [
      { json: { success: true, id: "r1" } },
      { json: { success: true, status: "failed", error: "no way" } },
    ];
    const failure = await failureOf({ row: firecrawl, task: "web/research_async", input: { prompt: "who?" }, answers });
    expect(failure.message).toEndWith("no way");
  });

  test("tavily crawls at once and researches in a while", async () => {
    const crawled = await runJob({
      row: tavily,
      task: "web/crawl_async",
      input: { url: "https://a.example" },
      answers: [
        {
          json: {
            base_url: "a.example",
            results: [{ url: "https://a.example", raw_content: "Hi", images: [] }],
            usage: { credits: 1 },
          },
        },
      ],
    });
    expect(crawled.output).toMatchObject({ pages: [{ content: "Hi" }], total: 1 });
    const { output, seen } = await runJob({
      row: tavily,
      task: "web/research_async",
      input: { prompt: "who?", schema: null, reasoning_depth: null },
      answers: [
        { status: 201, json: { request_id: "r1", status: "pending" } },
        { status: 202, json: { request_id: "r1", status: "in_progress" } },
        // documented: the form; values invented
        {
          json: {
            request_id: "r1",
            status: "completed",
            created_at: "2026-01-01",
            content: "Ada.",
            sources: [{ title: "A", url: "https://a.example" }],
            usage: { credits: 30 },
          },
        },
      ],
    });
    expect(seen[0]?.json).toEqual({ input: "who?", model: "auto" });
    expect(pathsOf(seen)[1]).toBe("GET /research/r1?include_usage=true");
    expect(output).toMatchObject({
      answer: "Ada.",
      sources: [{ url: "https://a.example" }],
      request_id: "r1",
      usage: { credits: 30 },
    });
  });

  test("linkup's research has four depths, and an answer or data", async () => {
    const job = { row: linkup, task: "web/research_async" };
    const { output, seen } = await runJob({
      ...job,
      input: { prompt: "revenue?", schema: null, reasoning_depth: "L" },
      answers: [
        { json: { id: "r1", status: "pending" } },
        { json: { id: "r1", status: "processing" } },
        // documented
        {
          json: {
            id: "r1",
            status: "completed",
            createdAt: "2026-01-01T00:00:00.000Z",
            output: { answer: "245.1 billion", sources: [{ name: "Report", snippet: "…", url: "https://a.example" }] },
          },
        },
      ],
    });
    expect(seen[0]?.json).toEqual({ q: "revenue?", outputType: "sourcedAnswer", reasoningDepth: "L" });
    expect(output).toMatchObject({ answer: "245.1 billion", sources: [{ title: "Report" }], data: null });
    const refused = runJob({ ...job, input: { prompt: "x", reasoning_depth: "deep" }, answers: [] });
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
    const failed = { json: { id: "r1", status: "failed", error: "no way" } };
    const failure = await failureOf({
      ...job,
      input: { prompt: "x" },
      answers: [{ json: { id: "r1", status: "pending" } }, failed],
    });
    expect(failure.message).toEndWith("no way");
  });
});
