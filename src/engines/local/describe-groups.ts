// The groups of local engines as operators see them: whether each is installed, and its tasks.

import { type Group, type GroupState, listGroups, stateOf, withNeeds } from "./groups.ts";
import { localEngines } from "./list.ts";

export interface DescribedGroup extends Pick<Group, "name" | "description"> {
  /** Of the group and of those that it needs. */
  readonly state: GroupState;
  /** Tasks that need the group. */
  readonly tasks: string[];
  /** Tasks that work without the group, but better with it. */
  readonly improves: string[];
}

export function describeGroups(): DescribedGroup[] {
  return listGroups().map(describeGroup);
}

export function describeGroup(group: Group): DescribedGroup {
  const { name, description, improves } = group;
  return { name, state: stateWithNeeds(group), tasks: tasksOf(group), improves: [...improves], description };
}

function stateWithNeeds({ name }: Group): GroupState {
  const states = withNeeds(name).map(stateOf);
  if (states.includes("absent")) return "absent";
  return states.includes("outdated") ? "outdated" : "added";
}

export function tasksOf({ name, improves }: Pick<Group, "name" | "improves">): string[] {
  const tasks = localEngines.filter((engine) => engine.group === name).map(({ task }) => task);
  return [...new Set(tasks)].filter((task) => !improves.includes(task));
}
