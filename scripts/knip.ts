// Configures knip, which finds unused files, exports and dependencies in `npm run check`.

import { readdirSync, readFileSync } from "node:fs";
import type { KnipConfig } from "knip";
import { dependencies } from "../package.json";

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(`src/${path}`, "utf8"))
  .join("\n");
// Local engines load packages by a name in a string. `bun` runs the gateway.
const namedInText = Object.keys(dependencies).filter(
  (name) => sources.includes(`"${name}`) && !sources.includes(`from "${name}`),
);

export default {
  entry: [
    "src/main.ts",
    "scripts/*.ts",
    "bench/*.ts",
    "test/**/*.test.ts",
    "examples/**/*.ts",
    // Processes that are started by the path of their file.
    "bench/load/{*-client,job-receiver,stalled-readers}.ts",
    "test/**/*-child.ts",
    "test/support/{egress-network,storage-neighbour,supervised-process}.ts",
  ],
  project: ["{src,scripts,bench,test,examples}/**/*.ts"],
  // tsc finds missing packages: the tests have some of their own, in test/tools.
  include: ["files", "exports", "types", "duplicates", "dependencies"],
  ignoreDependencies: ["bun", ...namedInText],
  // The type of a parameter may be exported for readers.
  ignoreExportsUsedInFile: { interface: true, type: true },
} satisfies KnipConfig;
