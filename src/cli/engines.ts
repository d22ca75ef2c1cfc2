// `switchyard engines add|list|remove`: groups of local engines that are not installed with the gateway.

import { join } from "node:path";
import type { Command } from "commander";
import { addGroup, removeGroup } from "../engines/local/add-group.ts";
import { describeGroup, tasksOf } from "../engines/local/describe-groups.ts";
import { findNpm, type NpmLocation } from "../engines/local/find-npm.ts";
import {
  bytesIn,
  findGroup,
  findWrongFiles,
  type Group,
  listGroups,
  packagesOf,
  stateOf,
  withNeeds,
} from "../engines/local/groups.ts";
import { localEngines } from "../engines/local/list.ts";
import { termsOf } from "../engines/local/models.ts";
import { suggest } from "../lib/find-nearest.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { createCommand, explain, megabytes, type Output, UsageError } from "./command-line.ts";
import { withProgress } from "./progress.ts";

export type EnginesContext = Output & NpmLocation;

const installTimeoutMs = 15 * 60_000;

export function createEnginesCommand(context: EnginesContext): Command {
  const group = createCommand("engines", "List, install and remove groups of local engines.", context);
  explain(
    group.command("list"),
    "List the groups of local engines, whether each is installed, and its tasks.",
    "engines list",
  )
    .option("--json", "print JSON")
    .action(({ json = false }: { json?: boolean }) => printGroups(json, context));
  explain(
    group.command("add"),
    "Install the packages of these groups with npm or pip, in fixed versions, and check their model files.",
    "engines add speech",
  )
    .argument("<group...>", "as `switchyard engines list` prints it")
    .option("--json", "print JSON")
    .action((names: readonly string[], { json }: { json?: true }) => addGroups(readGroups(names), json, context));
  explain(group.command("remove"), "Delete the packages of these groups.", "engines remove speech")
    .argument("<group...>", "as `switchyard engines list` prints it")
    .option("--json", "print JSON")
    .action((names: readonly string[], { json }: { json?: true }) => removeGroups(readGroups(names), json, context));
  return group;
}

function readGroups(names: readonly string[]): Group[] {
  const known = listGroups().map(({ name }) => name);
  return names.map((name) => {
    const group = known.includes(name) ? findGroup(name) : null;
    if (group !== null) return group;
    throw new UsageError(`Unknown group '${name}'${suggest(name, known) || "."} The groups are ${known.join(", ")}.`);
  });
}

function printGroups(isJson: boolean, { print }: EnginesContext): void {
  const groups = listGroups().map((group) => {
    const { name, state, tasks, improves, description } = describeGroup(group);
    const bytes = bytesIn(join(group.folder, "node_modules"));
    return { name, state, bytes, tasks, improves, better: betterModelsOf(group), description };
  });
  if (isJson) {
    print(JSON.stringify({ groups }, null, 2));
    return;
  }
  const rows = groups.map(({ name, state, bytes, tasks, improves, better }) => [
    name,
    state,
    bytes === 0 ? null : megabytes(bytes),
    [...tasks, ...(better.length > 0 ? better : improves.map((task) => `${task} (better)`))].join(", ") || null,
  ]);
  for (const line of alignColumns([["group", "state", "size", "tasks"], ...rows], 4)) print(line);
  print("");
  for (const { name, description } of groups) print(`${name}: ${description}`);
}

async function addGroups(groups: readonly Group[], isJson: true | undefined, output: EnginesContext): Promise<void> {
  const npm = findNpm(output);
  // Reports are for people, and results for programs.
  const context = isJson ? { ...output, print: () => {} } : output;
  for (const wanted of groups) {
    for (const group of withNeeds(wanted.name)) {
      const modules = join(group.folder, "node_modules");
      if (stateOf(group) === "added" && findWrongFiles(group, modules).length === 0) {
        context.print(`${group.name} is already installed, and its files are correct.`);
        continue;
      }
      for (const terms of termsOf(group.name)) context.print(`${group.name}: note the terms of ${terms}`);
      context.print(`${group.name}: installing ${packagesOf(group).join(", ")} …`);
      await withProgress(output, `${group.name}: installing`, () =>
        addGroup(group, { npm, timeoutMs: installTimeoutMs }),
      );
      context.print(
        `${group.name} is installed (${megabytes(bytesIn(modules))}), and its model files have the right checksums.`,
      );
    }
    const [tasks, better] = [tasksOf(wanted), betterModelsOf(wanted)];
    if (tasks.length > 0) context.print(`It adds ${tasks.map((task) => `${task}/local`).join(", ")}.`);
    if (better.length > 0) context.print(`It adds better models for tasks that work without it: ${better.join(", ")}.`);
    else if (wanted.improves.length > 0)
      context.print(
        `Tasks that work without it use it by default: ${wanted.improves.map((task) => `${task}/local`).join(", ")}.`,
      );
  }
  context.print("A running gateway uses them after a restart or a reload.");
  if (isJson) output.print(JSON.stringify({ added: groups.map(({ name }) => name) }, null, 2));
}

async function removeGroups(groups: readonly Group[], isJson: true | undefined, output: EnginesContext): Promise<void> {
  const print = isJson ? () => {} : output.print;
  const removed: string[] = [];
  for (const group of groups) {
    if (stateOf(group) === "absent") {
      print(`${group.name} is not installed.`);
      continue;
    }
    await removeGroup(group);
    removed.push(group.name);
    print(`${group.name} is removed.`);
  }
  const needed = new Set(listGroups().flatMap((group) => (stateOf(group) === "absent" ? [] : group.needs)));
  for (const name of new Set(groups.flatMap(({ needs }) => needs))) {
    const shared = findGroup(name);
    if (shared === null || needed.has(name) || stateOf(shared) === "absent") continue;
    await removeGroup(shared);
    removed.push(name);
    print(`${name} is removed: no installed group needs it.`);
  }
  if (isJson) output.print(JSON.stringify({ removed }, null, 2));
}

/** Models for tasks that work without the group as well: `text/spell_check/local/harper`. The default model of the task does not change. */
function betterModelsOf({ name, improves }: Group): string[] {
  return localEngines
    .filter((engine) => engine.group === name && improves.includes(engine.task))
    .flatMap(({ task, models = [] }) => models.map((model) => `${task}/local/${model}`));
}
