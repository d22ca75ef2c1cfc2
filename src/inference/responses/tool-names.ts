// The functions of a `namespace` tool, for providers whose format has only functions: each becomes the function `<namespace>__<name>`, and a
// call of it is reported with `namespace` and `name` again.

import { createHash } from "node:crypto";
import type { NamespaceTool, ResponseTool } from "../../contract/responses.ts";

export type ToolName = { readonly name: string; readonly namespace?: string };

/** The caller's names of functions, by their names at the provider. */
export type ToolNames = ReadonlyMap<string, ToolName>;

// Most vendors reject longer names of functions.
const longestName = 64;
const hashLength = 8;

export function toFlatName({ name, namespace }: { readonly name: string; readonly namespace?: unknown }): string {
  if (typeof namespace !== "string" || namespace === "") return name;
  const flat = `${namespace}__${name}`.replace(/[^A-Za-z0-9_-]/g, "_");
  if (flat.length <= longestName) return flat;
  // JSON, because its quotes and commas keep ["ab", "c"] and ["a", "bc"] apart.
  const hash = createHash("sha256")
    .update(JSON.stringify([namespace, name]))
    .digest("hex");
  return `${flat.slice(0, longestName - hashLength - 1)}_${hash.slice(0, hashLength)}`;
}

export function isNamespace(tool: ResponseTool): tool is ResponseTool & NamespaceTool {
  return tool.type === "namespace";
}

export function toToolNames(tools: readonly ResponseTool[]): ToolNames {
  const names = new Map<string, ToolName>();
  for (const tool of tools.filter(isNamespace))
    for (const { name } of tool.tools)
      if (typeof name === "string") {
        const own = { name, namespace: tool.name };
        names.set(toFlatName(own), own);
      }
  return names;
}
