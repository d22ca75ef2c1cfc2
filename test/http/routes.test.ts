// The route table: each declaration is complete, and no two routes collide.

import { expect, test } from "bun:test";
import type { z } from "zod";
import { toOpenApiPath } from "../../src/http/openapi/openapi-path.ts";
import { spellingsOf } from "../../src/http/router.ts";
import { listAllRoutes } from "../support/all-routes.ts";

const routes = listAllRoutes();

test("no two routes have the same id, or the same method and path", () => {
  const ids = routes.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const places = routes.flatMap((route) => spellingsOf(route).map((path) => `${route.method} ${path}`));
  expect(new Set(places).size).toBe(places.length);
});

test("every route checks exactly the parameters of its path", () => {
  for (const { id, path, params } of routes) {
    const inPath = [...toOpenApiPath(path).matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
    expect(params === undefined ? [] : Object.keys((params as z.ZodObject).shape), id).toEqual(inPath);
  }
});

test("every route of an inference key needs a scope, and no other route does", () => {
  for (const { id, key, scope } of routes) expect(scope !== undefined, id).toBe(key === "inference");
});

test("a cheap test of a body accepts nothing that the schema refuses", () => {
  const [body] = routes.flatMap((route) =>
    route.body?.kind === "json" && route.body.isCertainlyValid ? [route.body] : [],
  );
  const plain = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] };
  expect(body?.isCertainlyValid?.(plain)).toBe(true);
  expect(body?.schema.safeParse(plain).success).toBe(true);
  for (const value of [
    null,
    {},
    { ...plain, model: "echo" },
    { ...plain, temperature: 3 },
    { ...plain, messages: [] },
  ]) {
    expect(body?.isCertainlyValid?.(value)).toBe(false);
    expect(body?.schema.safeParse(value).success).toBe(false);
  }
});
