// switchyard.yaml: finds and parses it, fills in `${VARIABLES}`, and names file and line in every problem.

import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { suggest } from "../lib/find-nearest.ts";
import { isObject } from "../lib/lenient-json.ts";
import type { Position } from "../lib/yaml-file.ts";
import { fileVariableOf, type SecretFiles } from "./secret-files.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the members of the configuration are written. */
export interface Locations {
  /** The file that was read, if there was one. */
  readonly file: string | null;
  /** The position of each member of the file, by its path: `providers.openai.api_key`. */
  readonly positions: Readonly<Record<string, Position>>;
}

export interface ConfigFile extends Locations {
  readonly document: Readonly<Record<string, unknown>>;
  /** Provider keys whose variable is not set: path → name of the variable. */
  readonly unsetKeys: ReadonlyMap<string, string>;
}

/** Something that the operator has to correct. */
export interface ConfigProblem {
  /** A member of the file, or a variable of the environment; null: the file as a whole. */
  readonly path: string | null;
  readonly message: string;
  /** Null: the problem is not in the file. */
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

export const configVariable = "SWITCHYARD_CONFIG";
const usualFile = "switchyard.yaml";
const noFile: ConfigFile = { file: null, positions: {}, document: {}, unsetKeys: new Map() };

/** Problems of the configuration. */
export class Problems {
  readonly #problems = new Map<string | null, ConfigProblem>();

  get isEmpty(): boolean {
    return this.#problems.size === 0;
  }

  /** Whether the members of the file, if there is one, are known. */
  get isFileReadable(): boolean {
    return !this.#problems.has(null) && !this.#problems.has(configVariable);
  }

  /** Those of the environment first, those of the file in the order of its lines. */
  list(): ConfigProblem[] {
    return [...this.#problems.values()].toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
  }

  /** `path` is a member of the file or an environment variable. */
  add(path: string, message: string, locations: Locations = noFile): void {
    // A second problem of the same value usually follows from the first one.
    if (!this.#problems.has(path)) this.#problems.set(path, locate(path, message, locations));
  }

  /** A problem of the file as a whole. */
  addToFile(file: string, { line, column }: Position, message: string): void {
    this.#problems.set(null, { path: null, message, file, line, column });
  }
}

/** The problem with the position of the member, or of the innermost member around it. */
export function locate(path: string, message: string, { file, positions }: Locations): ConfigProblem {
  for (let known = path; known !== ""; known = known.slice(0, Math.max(0, known.lastIndexOf(".")))) {
    const position = positions[known];
    if (position !== undefined) return { path, message, file, ...position };
  }
  return { path, message, file: null, line: null, column: null };
}

/** `switchyard.yaml:4:3: providers.openai: …`, in the form in which compilers name a position. */
export function describeProblem({ path, message, file, line, column }: ConfigProblem): string {
  const prefix = file === null ? "" : `${file}:${line}:${column}: `;
  return `${prefix}${path === null ? "" : `${path}: `}${message}`;
}

export function readConfigFile(environment: Environment, secretFiles: SecretFiles, problems: Problems): ConfigFile {
  const file = findFile(environment, problems);
  if (file === null) return noFile;
  // Loaded on demand: a start without a file, and processes that receive their configuration, do not need the parser.
  const { parseYaml } = require("../lib/yaml-file.ts") as typeof import("../lib/yaml-file.ts");
  const parsed = parseYaml(readText(file, problems));
  // Later syntax errors usually follow from the first one.
  const [problem] = parsed.problems;
  if (problem !== undefined) problems.addToFile(file, problem, problem.message);
  if (problem !== undefined || parsed.value === null || parsed.value === undefined)
    return { ...noFile, file, positions: parsed.positions };
  if (!isObject(parsed.value)) {
    problems.addToFile(file, { line: 1, column: 1 }, "should hold members such as 'port: 8080' or 'providers:'");
    return { ...noFile, file };
  }
  const locations = { file, positions: parsed.positions };
  const unsetKeys = new Map<string, string>();
  const document = fillVariables(parsed.value, "", { environment, secretFiles, locations, unsetKeys, problems });
  return { ...locations, document: document as Record<string, unknown>, unsetKeys };
}

function readText(file: string, problems: Problems): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as { readonly code?: string };
    problems.add(configVariable, `the file ${file} cannot be read (${code}); let the user of the gateway read it`);
    return "";
  }
}

function findFile(environment: Environment, problems: Problems): string | null {
  const named = environment[configVariable];
  if (!named) return existsSync(usualFile) ? resolve(usualFile) : null;
  const path = resolve(named);
  if (!existsSync(path)) problems.add(configVariable, `there is no file ${path}; name an existing file or unset it`);
  else if (statSync(path).isDirectory())
    problems.add(configVariable, `${path} is a folder; name the file in it, such as ${path}/${usualFile}`);
  else return path;
  return null;
}

interface Filling {
  readonly environment: Environment;
  readonly secretFiles: SecretFiles;
  readonly locations: Locations;
  readonly unsetKeys: Map<string, string>;
  readonly problems: Problems;
}

const variable = /\$\{([^{}]*)\}/g;
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const providerKey = /^providers\.[^.]+\.(?:deployments\.\d+\.)?api_key$/;

/**
 * `${NAME}` in any text of the file. A variable that is not set is a problem, except as the whole key of a provider: one file then
 * serves machines that have different keys, and the provider counts as not configured.
 */
function fillVariables(value: unknown, path: string, filling: Filling): unknown {
  const below = (name: string | number) => (path === "" ? String(name) : `${path}.${name}`);
  if (typeof value === "string")
    return value.replace(variable, (written, name: string) => {
      const mayBeUnset = written === value && providerKey.test(path);
      return fillVariable(written, name, { path, mayBeUnset }, filling);
    });
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

interface VariableUse {
  readonly path: string;
  /** Whether the member may be empty. */
  readonly mayBeUnset: boolean;
}

function fillVariable(written: string, name: string, { path, mayBeUnset }: VariableUse, filling: Filling): string {
  const { environment, secretFiles, locations, unsetKeys, problems } = filling;
  if (!variableName.test(name)) {
    problems.add(
      path,
      `'${written}' is not a variable; write \${NAME} with letters, digits and underscores`,
      locations,
    );
    return "";
  }
  const problem = secretFiles.problems[name];
  if (problem !== undefined) problems.add(path, `${fileVariableOf(name)}: ${problem}`, locations);
  const value = environment[name];
  if (value || problem !== undefined) return value ?? "";
  if (mayBeUnset) unsetKeys.set(path, name);
  else {
    const known = Object.keys(environment).filter((other) => environment[other]);
    const remedy = suggest(name, known) || "; set it in the environment or write the value here";
    problems.add(path, `the variable ${name} is not set${remedy}`, locations);
  }
  return "";
}
