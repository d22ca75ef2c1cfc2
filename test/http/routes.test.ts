import { expect, test } from "bun:test";
import { createCatalogue } from "../../src/catalogue/catalogue.ts";
import { operations } from "../../src/http/openapi/operations.ts";
import { createRoutes } from "../../src/http/routes.ts";

test("the route table and the OpenAPI document list the same operations", () => {
  // The endpoints are not called here, so what they work with may be missing.
  const dependencies = { catalogue: createCatalogue([]), aliases: new Set(), whyNotReady: () => null };
  const routes = createRoutes(dependencies as unknown as Parameters<typeof createRoutes>[0]).map(
    ({ method, path, key }) => `${method} ${path} ${key}`,
  );
  const documented = operations.map(({ method, path, key }) => `${method} ${path} ${key}`);
  expect(routes.sort()).toEqual(documented.sort());
});
