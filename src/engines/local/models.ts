// The models and data files of the local engines, with their licences: engines/models.json.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { groupsFolder } from "./resolve-package.ts";

export interface ModelSource {
  readonly name: string;
  /** `core`: it comes with the gateway. */
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

/** The terms of a group, which an operator has to know before installing it. */
export function termsOf(group: string): string[] {
  return listModels().flatMap(({ name, group: owner, terms }) =>
    owner === group && terms !== null ? [`${name}: ${terms}`] : [],
  );
}
