// `switchyard engines add | list | remove`: the groups of local engines that do not come with the gateway.

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
import { findNearest } from "../lib/find-nearest.ts";
import { type CommandSpec, type Input, runInGroup, toOutput, UsageError } from "./command-line.ts";

export interface EnginesContext {
  /** What npm said of itself when it started this command; null: it did not. */
  readonly npmScript: string | null;
  /** The Node that npm, or the launcher, runs on. */
  readonly nodePath: string | null;
  print(line: string): void;
  /** Messages for people, kept apart from what `--json` prints. */
  printError?(line: string): void;
}

const fetchTimeoutMs = 15 * 60_000;

interface Command {
  readonly spec: CommandSpec;
  readonly run: (input: Input, context: EnginesContext) => void | Promise<void>;
}

const groups = { shown: "<group>…", least: 1, most: 100, hint: " (see: switchyard engines list)" };

const commands: Readonly<Record<string, Command>> = {
  list: {
    spec: {
      name: "engines list",
      summary: "Lists the groups of local engines, whether each is installed, and its tasks.",
      options: { json: { meaning: "prints JSON" } },
      example: "npx switchyard engines list",
    },
    run: (input, context) => list(input.has("json"), context),
  },
  add: {
    spec: {
      name: "engines add",
      summary: "Installs the packages of these groups with npm, in fixed versions, and checks their model files.",
      words: groups,
      example: "npx switchyard engines add speech",
    },
    run: (input, context) => add(readGroups(input.words), context),
  },
  remove: {
    spec: {
      name: "engines remove",
      summary: "Deletes the packages of these groups.",
      words: groups,
      example: "npx switchyard engines remove speech",
    },
    run: (input, context) => remove(readGroups(input.words), context),
  },
};

/** The exit code: 0 done, 1 it could not be done, 2 the command was not understood. */
export async function runEnginesCommand(args: string[], context: EnginesContext): Promise<number> {
  const output = toOutput(context);
  return await runInGroup("engines", commands, args, output, async (command, input) => {
    try {
      await command.run(input, context);
      return 0;
    } catch (error) {
      if (!(error instanceof GroupError)) throw error;
      output.printError(error.message);
      return 1;
    }
  });
}

function readGroups(names: readonly string[]): Group[] {
  const known = listGroups().map(({ name }) => name);
  return names.map((name) => {
    const group = known.includes(name) ? findGroup(name) : null;
    if (group !== null) return group;
    const nearest = findNearest(name, known);
    throw new UsageError(
      `Unknown group "${name}"${nearest === null ? "." : `; did you mean "${nearest}"?`} The groups are ${known.join(", ")}.`,
    );
  });
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
      context.print(`${group.name} is added: ${megabytes(bytesIn(modules))}, every model file matches its checksum.`);
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
