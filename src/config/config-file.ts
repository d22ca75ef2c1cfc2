// switchyard.yaml: finds and parses it, fills in `${VARIABLES}`, and names file and line in every problem.

import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isObject } from "../lib/lenient-json.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the members of the configuration are written. */
export interface Locations {
  /** The file that was read, if there was one. */
  readonly file: string | null;
  /** The line of each member of the file, by its path joined with dots. */
  readonly lines: Readonly<Record<string, number>>;
}

export interface ConfigFile extends Locations {
  readonly document: Readonly<Record<string, unknown>>;
  /** Provider keys whose variable is not set: path → name of the variable. */
  readonly unsetKeys: ReadonlyMap<string, string>;
}

const usualFile = "switchyard.yaml";
const noFile: ConfigFile = { file: null, lines: {}, document: {}, unsetKeys: new Map() };

/** Problems of the configuration, one line each. A problem in the file names the line to correct. */
export class Problems {
  readonly #messages = new Map<string, { readonly message: string; readonly line: number }>();

  get isEmpty(): boolean {
    return this.#messages.size === 0;
  }

  /** Those of the environment first, those of the file in the order of its lines. */
  list(): string[] {
    return [...this.#messages.values()].toSorted((one, other) => one.line - other.line).map(({ message }) => message);
  }

  /** `path` is a member of the file or an environment variable. */
  add(path: string, message: string, locations: Locations = noFile): void {
    // A second problem of the same value usually follows from the first one.
    if (this.#messages.has(path)) return;
    const line = findLine(path, locations) ?? 0;
    this.#messages.set(path, { message: `${describeLocation(path, locations)}: ${message}`, line });
  }

  /** A problem of the file as a whole. */
  addToFile(file: string, line: number, message: string): void {
    this.#messages.set("", { message: `${file}:${line}: ${message}`, line });
  }
}

/** `switchyard.yaml:4: providers.openai`; the path alone when the file does not hold it. */
export function describeLocation(path: string, locations: Locations): string {
  const line = findLine(path, locations);
  return line === null ? path : `${locations.file}:${line}: ${path}`;
}

/** The line of the member, or of the innermost member around it. */
function findLine(path: string, { lines }: Locations): number | null {
  for (let known = path; known !== ""; known = known.slice(0, Math.max(0, known.lastIndexOf(".")))) {
    const line = lines[known];
    if (line !== undefined) return line;
  }
  return null;
}

export function readConfigFile(environment: Environment, problems: Problems): ConfigFile {
  const file = findFile(environment, problems);
  if (file === null) return noFile;
  // Loaded on demand: a start without a file, and processes that receive their configuration, do not need the parser.
  const { parseYaml } = require("../lib/yaml-file.ts") as typeof import("../lib/yaml-file.ts");
  const parsed = parseYaml(readFileSync(file, "utf8"));
  // Later syntax errors usually follow from the first one.
  const [problem] = parsed.problems;
  if (problem !== undefined) problems.addToFile(file, problem.line, problem.message);
  if (problem !== undefined || parsed.value === null || parsed.value === undefined)
    return { ...noFile, file, lines: parsed.lines };
  if (!isObject(parsed.value)) {
    problems.addToFile(file, 1, "should hold members such as 'port: 8080' or 'providers:'");
    return { ...noFile, file };
  }
  const locations = { file, lines: parsed.lines };
  const unsetKeys = new Map<string, string>();
  const document = fillVariables(parsed.value, "", { environment, locations, unsetKeys, problems });
  return { ...locations, document: document as Record<string, unknown>, unsetKeys };
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
  readonly locations: Locations;
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
  if (!isObject(value)) return value;
  // The schema would skip it without a word.
  if (Object.hasOwn(value, "__proto__"))
    filling.problems.add(
      below("__proto__"),
      "'__proto__' cannot be a name; use lower-case letters, digits and hyphens",
      filling.locations,
    );
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, fillVariables(inner, below(name), filling)]),
  );
}

function fillVariable(written: string, name: string, path: string, filling: Filling): string {
  const { environment, locations, unsetKeys, problems } = filling;
  if (!variableName.test(name)) {
    problems.add(
      path,
      `'${written}' is not a variable; write \${NAME} with letters, digits and underscores`,
      locations,
    );
    return "";
  }
  const value = environment[name];
  if (value) return value;
  if (/^providers\..*\.api_key$/.test(path)) unsetKeys.set(path, name);
  else
    problems.add(path, `the variable ${name} is not set; set it in the environment or write the value here`, locations);
  return "";
}
