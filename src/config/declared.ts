// The members `providers` and `aliases` of switchyard.yaml: their form. Which names exist is checked where the providers are built.

import { tasks } from "../contract/tasks.ts";
import { findNearest } from "../lib/find-nearest.ts";
import { type ConfigFile, isRecord, type Problems, suggest } from "./config-file.ts";

/** What switchyard.yaml says of one provider: overrides of a known row, or a new one. */
export interface DeclaredProvider extends DeclaredDeployment {
  readonly dialect?: string;
  readonly stream_usage?: string;
  readonly stream_end?: string;
  readonly responses?: string;
  readonly tasks?: readonly string[];
  /** The model of tasks that name none: one for all tasks, or by task. */
  readonly default_model?: string | Readonly<Record<string, string>>;
  readonly deployments?: readonly DeclaredDeployment[];
}

/** One of several addresses or keys of a provider. */
export interface DeclaredDeployment {
  readonly name?: string;
  readonly base_url?: string;
  readonly api_key?: string;
  /** The variable that `api_key` names and that is not set. */
  readonly unset_key?: string;
  readonly weight?: number;
  readonly models?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an alias stands for. Without weights the order is the order of trying. */
export interface AliasTarget {
  readonly model: string;
  readonly weight: number | null;
}

interface Member {
  readonly isRight: (value: unknown) => boolean;
  /** Completes "should be …". */
  readonly form: string;
}

const text: Member = { isRight: (value) => typeof value === "string", form: "a text" };

const deploymentMembers: Readonly<Record<string, Member>> = {
  base_url: {
    isRight: (value) => typeof value === "string" && /^https?:\/\/[^/?#\s]+[^?#\s]*$/.test(value),
    form: "an address such as https://example.com/v1, without a query",
  },
  api_key: { isRight: (value) => typeof value === "string", form: 'a text such as "${OPENAI_API_KEY}"' },
  models: {
    isRight: (value) => Array.isArray(value) && value.every((model) => typeof model === "string"),
    form: "a list of model names such as [gpt-5, gpt-5-mini]",
  },
  headers: {
    isRight: (value) => isRecord(value) && Object.values(value).every((header) => typeof header === "string"),
    form: 'names with texts such as { x-team: "a" }',
  },
};

const providerMembers: Readonly<Record<string, Member>> = {
  ...deploymentMembers,
  dialect: text,
  stream_usage: text,
  stream_end: text,
  responses: text,
  tasks: {
    isRight: (value) => Array.isArray(value) && value.every((task) => isTaskName(String(task))),
    form: "a list of tasks such as [text/moderation]",
  },
  default_model: {
    isRight: (value) =>
      typeof value === "string" ||
      (isRecord(value) &&
        Object.entries(value).every(([task, model]) => isTaskName(task) && typeof model === "string")),
    form: "a model such as gpt-5-mini, or models by task such as { text/moderation: gpt-5-mini }",
  },
};

const oneOfSeveral: Readonly<Record<string, Member>> = {
  ...deploymentMembers,
  name: {
    isRight: (value) => typeof value === "string" && /^[A-Za-z0-9._-]{1,64}$/.test(value),
    form: "1 to 64 letters, digits, dots, hyphens and underscores",
  },
  weight: {
    isRight: (value) => typeof value === "number" && value > 0 && value <= 1_000_000,
    form: "a number above 0 and up to 1000000",
  },
};

export interface DeclaredProviders {
  readonly providers: Readonly<Record<string, DeclaredProvider>>;
  /** Those that are `false` in the file: they are left out of the gateway. */
  readonly switchedOff: ReadonlySet<string>;
}

export function readProviders(file: ConfigFile, problems: Problems): DeclaredProviders {
  const value = file.document["providers"];
  const providers: Record<string, DeclaredProvider> = {};
  const switchedOff = new Set<string>();
  if (value === undefined || value === null) return { providers, switchedOff };
  if (!isRecord(value)) {
    problems.add("providers", "should hold names with their settings, such as 'openai: { api_key: … }'", file);
    return { providers, switchedOff };
  }
  for (const [name, declared] of Object.entries(value)) {
    const path = `providers.${name}`;
    if (!/^[a-z0-9][a-z0-9_-]*$/.test(name))
      problems.add(path, "a provider's name holds lower-case letters, digits and hyphens", file);
    else if (declared === false) switchedOff.add(name);
    else if (declared !== null && !isRecord(declared))
      problems.add(path, "should hold settings, such as { api_key: … }, or be false to switch the provider off", file);
    else providers[name] = readProvider(path, declared ?? {}, file, problems);
  }
  return { providers, switchedOff };
}

function readProvider(
  path: string,
  declared: Readonly<Record<string, unknown>>,
  file: ConfigFile,
  problems: Problems,
): DeclaredProvider {
  const { deployments, ...members } = declared;
  checkMembers(path, members, providerMembers, file, problems);
  checkTasks(`${path}.tasks`, members["tasks"], file, problems);
  const byTask = members["default_model"];
  checkTasks(`${path}.default_model`, isRecord(byTask) ? Object.keys(byTask) : [], file, problems);
  const provider = withUnsetKey(path, members, file);
  if (deployments === undefined) return provider;
  return { ...provider, deployments: readDeployments(`${path}.deployments`, deployments, file, problems) };
}

function withUnsetKey(path: string, members: Readonly<Record<string, unknown>>, { unsetKeys }: ConfigFile) {
  const variable = unsetKeys.get(`${path}.api_key`);
  return variable === undefined ? members : { ...members, api_key: "", unset_key: variable };
}

function checkMembers(
  path: string,
  members: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, Member>>,
  file: ConfigFile,
  problems: Problems,
): void {
  for (const [name, value] of Object.entries(members)) {
    const member = Object.hasOwn(known, name) ? known[name] : undefined;
    const at = `${path}.${name}`;
    if (member === undefined) problems.add(at, `unknown member '${name}'${suggest(name, Object.keys(known))}`, file);
    else if (!member.isRight(value)) problems.add(at, `should be ${member.form}, and is ${show(name, value)}`, file);
  }
}

/** A key is never repeated in a message. */
function show(name: string, value: unknown): string {
  if (name === "api_key" || name === "headers") return `of type ${Array.isArray(value) ? "list" : typeof value}`;
  return `'${typeof value === "string" ? value : JSON.stringify(value)}'`;
}

/** A task that does not exist would be a provider that no request finds. */
function checkTasks(path: string, value: unknown, file: ConfigFile, problems: Problems): void {
  const declared = Array.isArray(value) ? value.map(String) : [];
  const known = tasks.map(({ feature, subfeature }) => `${feature}/${subfeature}`);
  for (const task of declared.filter(isTaskName)) {
    if (!known.includes(task))
      problems.add(path, `there is no task '${task}'; the nearest is '${findNearest(task, known)}'`, file);
  }
}

function isTaskName(name: string): boolean {
  return /^[a-z0-9_]+\/[a-z0-9_]+$/.test(name);
}

function readDeployments(path: string, value: unknown, file: ConfigFile, problems: Problems): DeclaredDeployment[] {
  if (!Array.isArray(value) || value.length === 0) {
    problems.add(path, "should be a list with at least one deployment, such as [{ api_key: … }]", file);
    return [];
  }
  const names = new Set<unknown>();
  return value.map((deployment, index): DeclaredDeployment => {
    const at = `${path}.${index}`;
    if (!isRecord(deployment)) {
      problems.add(at, "should hold settings, such as { api_key: … }", file);
      return {};
    }
    checkMembers(at, deployment, oneOfSeveral, file, problems);
    const { name } = deployment;
    if (name !== undefined && names.has(name))
      problems.add(`${at}.name`, `'${String(name)}' is used twice; give each deployment a name of its own`, file);
    names.add(name);
    return withUnsetKey(at, deployment, file);
  });
}

/** An alias stands for one model, for several in order, or for several with weights. */
export function readAliases(file: ConfigFile, problems: Problems): Map<string, readonly AliasTarget[]> {
  const aliases = new Map<string, readonly AliasTarget[]>();
  const value = file.document["aliases"];
  if (value === undefined || value === null) return aliases;
  if (!isRecord(value)) {
    problems.add("aliases", "should hold names with their models, such as 'fast: groq/llama-3.3-70b-versatile'", file);
    return aliases;
  }
  for (const [name, target] of Object.entries(value)) {
    const path = `aliases.${name}`;
    const targets = (Array.isArray(target) ? target : [target]).map(readTarget);
    if (!/^[A-Za-z0-9_.:@+~=-]{1,128}$/.test(name)) problems.add(path, "an alias's name holds no slash or space", file);
    else if (targets.length === 0 || targets.some((read) => read === null))
      problems.add(path, "should be <provider>/<model>, a list of them, or a list of { model, weight }", file);
    else aliases.set(name, targets as AliasTarget[]);
  }
  return aliases;
}

function readTarget(value: unknown): AliasTarget | null {
  if (typeof value === "string") return isModelName(value) ? { model: value, weight: null } : null;
  if (!isRecord(value)) return null;
  const { model, weight, ...others } = value;
  if (typeof model !== "string" || !isModelName(model) || Object.keys(others).length > 0) return null;
  if (weight === undefined) return { model, weight: null };
  return typeof weight === "number" && weight > 0 && weight <= 1_000_000 ? { model, weight } : null;
}

function isModelName(name: string): boolean {
  return /^[^/]+\/.+$/.test(name);
}
