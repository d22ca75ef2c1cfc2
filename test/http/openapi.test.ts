// GET /v3/openapi.json and /docs: generated from the operations, and true to them.

import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { createCatalogue } from "../../src/catalogue/catalogue.ts";
import { listKeysQuery } from "../../src/contract/keys.ts";
import { errorCatalogue } from "../../src/errors.ts";
import { docsRoutes } from "../../src/http/endpoints/docs.ts";
import { infoRoutes } from "../../src/http/endpoints/info.ts";
import { modelsRoutes } from "../../src/http/endpoints/models.ts";
import { openApiRoutes } from "../../src/http/endpoints/openapi.ts";
import { buildOpenApi, type OpenApiDocument, toOpenApiPath } from "../../src/http/openapi/build-openapi.ts";
import { memberDescriptions } from "../../src/http/openapi/descriptions.ts";
import { renderDocsPage } from "../../src/http/openapi/docs-page.ts";
import { examples, toCurl } from "../../src/http/openapi/examples.ts";
import { html, prose } from "../../src/http/openapi/html.ts";
import { toMemberRows } from "../../src/http/openapi/member-rows.ts";
import type { Operation } from "../../src/http/openapi/operation.ts";
import { namedSchemas, operations } from "../../src/http/openapi/operations.ts";
import { openTestServer } from "../support/test-server.ts";

const get = openTestServer([...openApiRoutes(), ...docsRoutes()]);

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

  test("holds every operation, once", () => {
    const expected = operations.map((one) => `${one.method.toLowerCase()} ${toOpenApiPath(one.path)}`);
    expect(described.map(({ path, method }) => `${method} ${path}`).toSorted()).toEqual(expected.toSorted());
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  });

  test("holds the routes of the listing and its own", () => {
    const catalogue = createCatalogue([]);
    const routes = [...modelsRoutes(catalogue), ...infoRoutes(catalogue), ...openApiRoutes(), ...docsRoutes()];
    const known = new Map(operations.map((one) => [`${one.method} ${one.path}`, one.key]));
    for (const route of routes) expect(known.get(`${route.method} ${route.path}`)).toBe(route.key);
  });

  test("refers only to what it holds, and holds only what is referred to", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, target]) => target ?? "");
    for (const reference of references) expect(reference).toMatch(/^#\/components\/(schemas|headers)\//);
    const schemas = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    const referred = new Set(references.filter((reference) => reference.startsWith("#/components/schemas/")));
    expect([...referred].toSorted()).toEqual(schemas.toSorted());
    expect(Object.keys(document.components.schemas).toSorted()).toEqual(Object.keys(namedSchemas).toSorted());
  });

  test("declares every parameter of a path, and no other", () => {
    for (const { path, operation } of described) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(declared.map(({ name }) => name)).toEqual(inPath);
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  test("says which key opens an operation, and answers 401 only there", () => {
    for (const { operation } of described) {
      expect("401" in operation.responses).toBe(operation.security.length > 0);
    }
    expect(document.paths["/v3/chat/completions"]?.["post"]?.security).toEqual([{ inferenceKey: [] }]);
    expect(document.paths["/v3/manage/keys"]?.["post"]?.security).toEqual([{ managementKey: [] }]);
  });

  test("gives every failure the body of both forms, or of the Messages format", () => {
    for (const { path, operation } of described) {
      for (const [status, answer] of Object.entries(operation.responses).filter(([one]) => Number(one) >= 400)) {
        const usual = status === "422" ? "ValidationError" : "Error";
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

  test("names the filters of the key listing as the listing reads them", () => {
    const names = document.paths["/v3/manage/keys"]?.["get"]?.parameters?.map(({ name }) => name) ?? [];
    expect(names.toSorted()).toEqual(Object.keys(listKeysQuery.shape).toSorted());
  });

  test("is answered with 304 to a client that has it", async () => {
    const tag = response.headers.get("etag") ?? "";
    expect(tag).toMatch(/^"[\w-]+"$/);
    expect((await get("/v3/openapi.json", { "if-none-match": tag })).status).toBe(304);
  });
});

test("a schema that refers to itself stays whole inside the document", () => {
  const tree: z.ZodType = z.object({ children: z.array(z.lazy(() => tree)) });
  const answering = (schema: z.ZodType): Operation => ({
    id: "plant",
    method: "GET",
    path: "/tree",
    summary: "A tree",
    tag: "Service",
    key: "none",
    responses: [{ status: 200, description: "It.", schema }],
    errors: [],
  });
  for (const document of [
    buildOpenApi([answering(z.object({ root: tree }))]),
    buildOpenApi([answering(tree)], { Tree: tree }),
    buildOpenApi([answering(z.object({ root: tree }))], { Tree: tree }),
  ]) {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]*)"/g)];
    expect(references.length).toBeGreaterThanOrEqual(2);
    for (const [, name = ""] of references) expect(document.components.schemas).toHaveProperty([name]);
  }
  expect(() => buildOpenApi([answering(tree)])).toThrow("needs a name");
});

test("every description belongs to a member that has none of its own", () => {
  for (const [name, descriptions] of Object.entries(memberDescriptions)) {
    const schema = namedSchemas[name];
    if (schema === undefined) throw new Error(`There is no component ${name}.`);
    const { properties = {} } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    for (const member of Object.keys(descriptions)) {
      expect(properties, `${name}.${member}`).toHaveProperty([member]);
      expect((properties[member] as { description?: string }).description, `${name}.${member}`).toBeUndefined();
    }
  }
});

test("every example is a request that the gateway accepts", () => {
  for (const operation of operations) {
    const example = examples[operation.id];
    const isJson = operation.request !== undefined && operation.requestType === undefined;
    expect(example?.body !== undefined, operation.id).toBe(isJson);
    expect(example?.form !== undefined, operation.id).toBe(operation.requestType !== undefined);
    if (isJson) expect(operation.request.safeParse(example?.body).error).toBeUndefined();
    const names = [...toOpenApiPath(operation.path).matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
    expect(Object.keys(example?.path ?? {}), operation.id).toEqual(names);
    expect(toCurl(operation)).not.toMatch(/[{]\w+[}]/);
  }
  expect(Object.keys(examples).filter((id) => !operations.some((operation) => operation.id === id))).toEqual([]);
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

describe("the readable page", async () => {
  const response = await get("/docs");
  const page = await response.text();

  test("is HTML that loads nothing and runs nothing", () => {
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page).toStartWith("<!doctype html>");
    expect(page.match(/<script|<img|<link|<iframe|@import|url\(|\son\w+="|\sstyle="|="javascript:/gi)).toBeNull();
    for (const [, target] of page.matchAll(/(?:href|src)="([^"]*)"/g))
      expect(target).toMatch(/^(#|\/v3\/openapi\.json$)/);
  });

  test("allows its one style sheet by hash and forbids everything else", () => {
    const styles = [...page.matchAll(/<style>([\s\S]*?)<\/style>/g)];
    expect(styles).toHaveLength(1);
    const hash = new Bun.CryptoHasher("sha256").update(styles[0]?.[1] ?? "").digest("base64");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith(`default-src 'none'; style-src 'sha256-${hash}';`);
    expect(policy).not.toContain("unsafe");
  });

  test("leads to every operation and every error code, and no link leads nowhere", () => {
    const anchors = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id ?? "");
    expect(new Set(anchors).size).toBe(anchors.length);
    for (const [, target = ""] of page.matchAll(/href="#([^"]*)"/g)) expect(anchors).toContain(target);
    for (const { id } of operations) expect(anchors).toContain(id);
    for (const code of Object.keys(errorCatalogue)) expect(anchors).toContain(`error-${code}`);
  });

  test("shows the command of every operation, escaped", () => {
    for (const operation of operations) {
      expect(page).toContain(html`<pre tabindex="0"><code>${toCurl(operation)}</code></pre>`.text);
    }
  });

  test("is answered with 304 to a client that has it", async () => {
    const tag = response.headers.get("etag") ?? "";
    const second = await get("/docs", { "if-none-match": tag });
    expect(second.status).toBe(304);
    expect(second.headers.get("content-security-policy")).not.toBeNull();
  });
});

test("whatever comes from data is escaped on the page", () => {
  const attack = `<script>alert("x")</script>'&`;
  const operation: Operation = {
    id: "attack",
    method: "POST",
    path: `/v3/${attack}`,
    summary: attack,
    description: `${attack} \`${attack}\``,
    tag: "Service",
    key: "none",
    parameters: [{ name: attack, in: "query", description: attack, schema: z.enum([attack, "b"]).default("b") }],
    request: z.object({ [attack]: z.literal(attack).describe(attack) }),
    responses: [{ status: 200, description: attack, schema: z.object({}), contentType: attack }],
    errors: [],
  };
  const page = renderDocsPage([operation]);
  expect(page).not.toContain("<script");
  expect(page).not.toContain('alert("x")');
  expect(page).toContain("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;");
  expect(prose("a `<b>` & c").text).toBe("a <code>&lt;b&gt;</code> &amp; c");
});
