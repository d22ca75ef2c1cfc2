// GET /v3/openapi.json: generated from the route table.

import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { listKeysQuery } from "../../src/contract/keys.ts";
import { toMemberRows } from "../../src/docs-site/member-rows.ts";
import { openApiRoutes } from "../../src/http/endpoints/openapi.ts";
import { buildOpenApi, type OpenApiDocument } from "../../src/http/openapi/build-openapi.ts";
import { toOpenApiPath } from "../../src/http/openapi/openapi-path.ts";
import { toCurl } from "../../src/http/openapi/samples.ts";
import type { Route } from "../../src/http/route.ts";
import { listAllRoutes } from "../support/all-routes.ts";
import { openTestServer } from "../support/test-server.ts";

const routes = listAllRoutes();
const get = openTestServer(openApiRoutes(() => routes));

describe("the OpenAPI document", async () => {
  const response = await get("/v3/openapi.json");
  const document = (await response.json()) as OpenApiDocument;
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  test("is OpenAPI 3.1 of the interface's version 3.0.0", () => {
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(document.openapi).toStartWith("3.1.");
    expect(document.info.version).toBe("3.0.0");
  });

  test("describes every route once", () => {
    const expected = routes.map((one) => `${one.method.toLowerCase()} ${toOpenApiPath(one.path)}`);
    expect(described.map(({ path, method }) => `${method} ${path}`).toSorted()).toEqual(expected.toSorted());
  });

  test("lists have 100 items per page, and at most 1,000 on request", () => {
    const others: Record<string, [number | undefined, number]> = {
      "/v3/responses/{response_id}/input_items": [20, 100],
      "/v3/manage/usage": [undefined, 20_000],
      "/v3/manage/keys/{key_id}/usage": [undefined, 20_000],
      "/v3/manage/budgets": [1_000, 10_000],
    };
    const limits = described.flatMap(({ path, operation }) =>
      (operation.parameters ?? []).filter(({ name }) => name === "limit").map(({ schema }) => ({ path, schema })),
    );
    expect(limits.length).toBeGreaterThan(12);
    for (const { path, schema } of limits) {
      const { default: usual, minimum, maximum } = schema as Record<string, number>;
      expect([path, minimum, usual, maximum]).toEqual([path, 1, ...(others[path] ?? [100, 1_000])]);
    }
  });

  test("refers only to components that it contains, and contains no unused schema", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, target]) => target ?? "");
    for (const reference of references) expect(reference).toMatch(/^#\/components\/(schemas|headers)\//);
    const schemas = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    const referred = new Set(references.filter((reference) => reference.startsWith("#/components/schemas/")));
    expect([...referred].toSorted()).toEqual(schemas.toSorted());
  });

  test("requires a body only where a request without one is refused", () => {
    const bodyOf = (path: string, method: string) => document.paths[path]?.[method]?.requestBody;
    expect(bodyOf("/v3/manage/keys", "post")?.required).toBe(true);
    expect(bodyOf("/v3/manage/keys/{key_id}/rotate", "post")?.required).toBe(false);
    expect(bodyOf("/v3/upload", "delete")).toEqual({
      required: false,
      content: { "application/json": { schema: { $ref: "#/components/schemas/DeleteFilesRequest" } } },
    });
    expect(bodyOf("/v3/universal-ai/async/{job_id}/cancel", "post")).toBeUndefined();
  });

  test("has the bounds and defaults with which query parameters are checked", () => {
    const find = (path: string, name: string) =>
      document.paths[path]?.["get"]?.parameters?.find((parameter) => parameter.name === name)?.schema;
    for (const path of ["/v3/manage/keys", "/v3/upload", "/v3/universal-ai/async", "/v3/manage/files"]) {
      expect(find(path, "page")).toEqual({ type: "integer", minimum: 1, maximum: 1_000_000, default: 1 });
      expect(find(path, "limit")).toEqual({ type: "integer", minimum: 1, maximum: 1_000, default: 100 });
    }
    expect(find("/v3/manage/keys", "enabled")).toEqual({ type: "boolean" });
    expect(find("/v3/universal-ai/async", "feature")).toEqual({ type: "string", minLength: 1, maxLength: 64 });
    const include = { type: "array", items: { type: "string", enum: ["unconfigured", "sandbox"] }, default: [] };
    expect(find("/v3/models", "include")).toEqual(include);
  });

  test("uses the names that generators of FastAPI clients expect for a 422", () => {
    const { HTTPValidationError: body, ValidationError: item } = document.components.schemas;
    expect(body).toMatchObject({
      required: ["error", "detail"],
      properties: { detail: { type: "array", items: { $ref: "#/components/schemas/ValidationError" } } },
    });
    expect(item).toMatchObject({ required: ["loc", "msg", "type"] });
  });

  test("documents a 422 only for routes that can refuse a value", () => {
    const statusesOf = (path: string) => Object.keys(document.paths[path]?.["get"]?.responses ?? {});
    expect(statusesOf("/v3/resources/{resource_id}")).not.toContain("422");
    expect(statusesOf("/v3/info/{feature}")).toContain("422");
    expect(statusesOf("/v3/manage/keys/{key_id}")).toContain("422");
  });

  test("describes the callback of a job as a webhook", () => {
    const webhook = document.webhooks.jobEnded.post;
    expect(webhook?.requestBody?.content["application/json"]?.schema).toEqual({
      $ref: "#/components/schemas/WebhookPayload",
    });
    expect(webhook?.parameters?.map(({ name }) => name)).toContain("x-service-signature");
  });

  test("does not reveal the operator's aliases", () => {
    expect(JSON.stringify(buildOpenApi(listAllRoutes(new Set(["secret-project"]))))).not.toContain("secret-project");
  });

  test("declares every parameter of a path, and no other", () => {
    for (const { path, operation } of described) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(declared.map(({ name }) => name)).toEqual(inPath);
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  test("names the key of each operation, and has a 401 only where one is needed", () => {
    // These two accept a credential in another way.
    const signIns = ["signIn", "finishOidcSignIn"];
    for (const { operation } of described) {
      const isRefused = operation.security.length > 0 || signIns.includes(operation.operationId);
      expect("401" in operation.responses, operation.operationId).toBe(isRefused);
    }
    expect(document.paths["/v3/chat/completions"]?.["post"]?.security).toEqual([{ inferenceKey: [] }]);
    expect(document.paths["/v3/manage/keys"]?.["post"]?.security).toEqual([{ managementKey: [] }, { session: [] }]);
  });

  test("describes every failure in both forms, or in the Messages format", () => {
    for (const { path, operation } of described) {
      for (const [status, answer] of Object.entries(operation.responses).filter(([one]) => Number(one) >= 400)) {
        const usual = status === "422" ? "HTTPValidationError" : "Error";
        const name = path.startsWith("/v3/v1/messages") ? "MessagesError" : usual;
        expect(answer.content?.["application/json"]?.schema).toEqual({ $ref: `#/components/schemas/${name}` });
      }
    }
  });

  test("describes chat both whole and streamed", () => {
    const content = document.paths["/v3/chat/completions"]?.["post"]?.responses["200"]?.content;
    expect(Object.keys(content ?? {})).toEqual(["application/json", "text/event-stream"]);
  });

  test("keeps the rules of requests and leaves answers open", () => {
    const { schemas } = document.components;
    expect(schemas["ChatCompletionRequest"]).toMatchObject({
      required: ["model", "messages"],
      properties: { messages: { minItems: 1, maxItems: 2048 } },
    });
    expect(schemas["CreateKeyRequest"]).toMatchObject({ required: ["name"], additionalProperties: false });
    expect(JSON.stringify(schemas["KeyList"])).not.toContain("additionalProperties");
    expect(JSON.stringify(document)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  test("has the filters of the key listing", () => {
    const names = document.paths["/v3/manage/keys"]?.["get"]?.parameters?.map(({ name }) => name) ?? [];
    expect(names.toSorted()).toEqual(Object.keys(listKeysQuery.shape).toSorted());
  });

  test("is answered with 304 if the client has it", async () => {
    const tag = response.headers.get("etag") ?? "";
    expect(tag).toMatch(/^(?:W\/)?"[\w-]+"$/);
    expect((await get("/v3/openapi.json", { "if-none-match": tag })).status).toBe(304);
  });
});

test("a schema that refers to itself needs an id, and is then a component", () => {
  const answering = (schema: z.ZodType): Route => ({
    id: "plant",
    method: "GET",
    path: "/tree",
    summary: "A tree",
    tag: "Service",
    key: "none",
    answers: [{ status: 200, description: "The tree.", schema }],
    run: () => "",
  });
  const named: z.ZodType = z.object({ children: z.array(z.lazy(() => named)) }).meta({ id: "Tree" });
  for (const schema of [named, z.object({ root: named })]) {
    const document = buildOpenApi([answering(schema)]);
    expect(document.components.schemas["Tree"]).toMatchObject({
      properties: { children: { items: { $ref: "#/components/schemas/Tree" } } },
    });
  }
  const unnamed: z.ZodType = z.object({ children: z.array(z.lazy(() => unnamed)) });
  for (const schema of [unnamed, z.object({ root: unnamed })])
    expect(() => buildOpenApi([answering(schema)])).toThrow("needs an id");
});

test("every example is a request that the gateway accepts", () => {
  for (const route of routes) {
    const { id, body, example } = route;
    if (body?.kind !== "optional-json") expect(example?.body !== undefined, id).toBe(body?.kind === "json");
    expect(example?.form !== undefined, id).toBe(body?.kind === "form");
    if (example?.body !== undefined && body !== undefined && "schema" in body)
      expect(body.schema.safeParse(example.body).error, id).toBeUndefined();
    const names = [...toOpenApiPath(route.path).matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
    expect(Object.keys(example?.path ?? {}), id).toEqual(names);
    expect(toCurl(route)).not.toMatch(/[{]\w+[}]/);
  }
});

test("nested members are named from the root, and unions are read as one", () => {
  const schema = z.toJSONSchema(
    z.object({
      parts: z.array(
        z.discriminatedUnion("type", [
          z.object({ type: z.literal("text"), text: z.string().max(9) }),
          z.object({ type: z.literal("image"), image: z.object({ url: z.string() }).nullish() }),
        ]),
      ),
      size: z.int().min(1).max(2048).default(7).describe("How large."),
    }),
    { io: "input" },
  );
  const rows = toMemberRows(schema as Record<string, unknown>);
  expect(rows.map(({ path, type, isRequired }) => [path, type, isRequired])).toEqual([
    ["parts", "array of object", true],
    ["size", "integer", false],
  ]);
  expect(rows[1]).toMatchObject({ description: "How large.", limits: ["1 to 2,048", "default `7`"] });
  expect(rows[0]?.inner.map(({ path, type, isRequired }) => [path, type, isRequired])).toEqual([
    ["parts[].type", "string", true],
    ["parts[].text", "string", false],
    ["parts[].image", "object or null", false],
    ["parts[].image.url", "string", true],
  ]);
  expect(rows[0]?.inner[0]?.limits).toEqual(["one of `text`, `image`"]);
});
