// `npm run docs [folder]`: writes the documentation as a static site. Operations cannot be tried there, because no gateway serves it.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildSite } from "../src/docs-site/site.ts";
import { buildOpenApi } from "../src/http/openapi/build-openapi.ts";
import { listAllRoutes } from "../test/support/all-routes.ts";

const root = join(import.meta.dir, "..");
const folder = process.argv[2] ?? join(root, "docs-site");
const files = await buildSite({ root, openApi: buildOpenApi(listAllRoutes()), target: "static" });
for (const { url, text } of files) {
  const file = join(folder, url);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
console.log(`${files.length} files in ${folder}`);
