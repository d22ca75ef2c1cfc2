// The models and data files of the local engines, with their licences: engines/models.json.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { groupsFolder } from "./resolve-package.ts";

export interface ModelSource {
  readonly name: string;
  /** A glob: `ocr-*`. `core`: it comes with the gateway. */
  readonly group: string;
  /** Globs of package and path, as in checksums.json. */
  readonly files: readonly string[];
  readonly licence: string;
  readonly source: string;
  /** What the licence demands or leaves unclear, in a sentence for operators; null if there is nothing to say. */
  readonly terms: string | null;
}

export function listModels(): ModelSource[] {
  return JSON.parse(readFileSync(join(groupsFolder, "models.json"), "utf8")) as ModelSource[];
}

export function isInGroup(model: ModelSource, group: string): boolean {
  return new Bun.Glob(model.group).match(group);
}

/** The terms of a group, which an operator has to know before installing it. */
export function termsOf(group: string): string[] {
  return listModels().flatMap((model) =>
    isInGroup(model, group) && model.terms !== null ? [`${model.name}: ${model.terms}`] : [],
  );
}
