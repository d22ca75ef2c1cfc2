// switchyard.yaml: finds and parses it, fills in `${VARIABLES}`, and names file and line in every problem.

import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { findNearest } from "../lib/find-nearest.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a member of the configuration is written. */
export interface Places {
  /** The file that was read, if there was one. */
  readonly file: string | null;
  /** The line of each member of the file, by its path joined with dots. */
  readonly lines: Readonly<Record<string, number>>;
}

export interface ConfigFile extends Places {
  readonly document: Readonly<Record<string, unknown>>;
  /** Provider keys whose variable is not set: path → name of the variable. */
  readonly unsetKeys: ReadonlyMap<string, string>;
}

const usualFile = "switchyard.yaml";
const noFile: ConfigFile = { file: null, lines: {}, document: {}, unsetKeys: new Map() };

/** Problems of the settings, one line each, with the place where the operator corrects them. */
export class Problems {
  readonly all: string[] = [];
  readonly #paths = new Set<string>();

  /** `path` is a member of the file or an environment variable. */
  add(path: string, message: string, places: Places = noFile): void {
    // A second problem of the same value mostly follows from the first one.
    if (this.#paths.has(path)) return;
    this.#paths.add(path);
    this.all.push(`${describePlace(path, places)}: ${message}`);
  }
}

/** `switchyard.yaml:4: providers.openai`; a path that the file does not hold is named alone. */
export function describePlace(path: string, { file, lines }: Places): string {
  if (file === null) return path;
  for (let known = path; known !== ""; known = known.slice(0, Math.max(0, known.lastIndexOf("."))))
    if (lines[known] !== undefined) return `${file}:${lines[known]}: ${path}`;
  return path;
}

/** `; did you mean 'port'?`, or nothing where no known name resembles the one given. */
export function suggest(name: string, known: readonly string[]): string {
  const nearest = findNearest(name, known);
  return nearest === null ? "" : `; did you mean '${nearest}'?`;
}

export function readConfigFile(environment: Environment, problems: Problems): ConfigFile {
  const file = findFile(environment, problems);
  if (file === null) return noFile;
  // Loaded when there is a file: a start without one, and every process that is handed its configuration, does without the parser.
  const { parseYaml } = require("../lib/yaml-file.ts") as typeof import("../lib/yaml-file.ts");
  const parsed = parseYaml(readFileSync(file, "utf8"));
  // What a parser says after its first error mostly follows from that error.
  const [problem] = parsed.problems;
  if (problem !== undefined) problems.all.push(`${file}:${problem.line}: ${problem.message}`);
  if (problem !== undefined || parsed.value === null || parsed.value === undefined)
    return { ...noFile, file, lines: parsed.lines };
  if (!isRecord(parsed.value)) {
    problems.all.push(`${file}:1: should hold members such as 'port: 8080' or 'providers:'`);
    return { ...noFile, file };
  }
  const places = { file, lines: parsed.lines };
  const unsetKeys = new Map<string, string>();
  const document = fillVariables(parsed.value, "", { environment, places, unsetKeys, problems });
  return { ...places, document: document as Record<string, unknown>, unsetKeys };
}

function findFile(environment: Environment, problems: Problems): string | null {
  const named = environment["SWITCHYARD_CONFIG"];
  if (!named) return existsSync(usualFile) ? resolve(usualFile) : null;
  const path = resolve(named);
  if (!existsSync(path))
    problems.add("SWITCHYARD_CONFIG", `there is no file ${path}; name an existing file or unset it`);
  else if (statSync(path).isDirectory())
    problems.add("SWITCHYARD_CONFIG", `${path} is a folder; name the file in it, such as ${path}/${usualFile}`);
  else return path;
  return null;
}

interface Filling {
  readonly environment: Environment;
  readonly places: Places;
  readonly unsetKeys: Map<string, string>;
  readonly problems: Problems;
}

const variable = /\$\{([^{}]*)\}/g;
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * `${NAME}` in any text of the file. A variable that is not set is a problem, except as the whole key of a provider: one file then
 * serves machines that have different keys, and the provider counts as not configured.
 */
function fillVariables(value: unknown, path: string, filling: Filling): unknown {
  const below = (name: string | number) => (path === "" ? String(name) : `${path}.${name}`);
  if (typeof value === "string")
    return value.replace(variable, (written, name: string) => fillVariable(written, name, path, filling));
  if (Array.isArray(value)) return value.map((element, index) => fillVariables(element, below(index), filling));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, fillVariables(inner, below(name), filling)]),
  );
}

function fillVariable(written: string, name: string, path: string, filling: Filling): string {
  const { environment, places, unsetKeys, problems } = filling;
  if (!variableName.test(name)) {
    problems.add(path, `'${written}' is not a variable; write \${NAME} with letters, digits and underscores`, places);
    return "";
  }
  const value = environment[name];
  if (value) return value;
  if (/^providers\..*\.api_key$/.test(path)) unsetKeys.set(path, name);
  else problems.add(path, `the variable ${name} is not set; set it in the environment or write the value here`, places);
  return "";
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
