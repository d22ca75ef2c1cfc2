// The table of tasks in the README, with the engines that perform each task.

import { tasks } from "../src/contract/tasks.ts";
import { definitions } from "../src/engines/llm/tasks/index.ts";
import { localEngines } from "../src/engines/local/list.ts";
import { rows } from "../src/providers/index.ts";

export function tasksTable(): string {
  const lines = tasks.flatMap(({ name: task }) => {
    const cells = [localOf(task), definitions[task] !== undefined ? "yes" : "", vendorsOf(task)];
    return cells.every((cell) => cell === "") ? [] : [`| \`${task}\` | ${cells.join(" | ")} |`];
  });
  return ["| task | local | chat models | vendors |", "|---|---|---|---|", ...lines].join("\n");
}

/** `yes` for an engine of the plain install, else the group that adds it. */
function localOf(task: string): string {
  const groups = localEngines.filter((engine) => engine.task === task).map(({ group = "core" }) => group);
  return [...new Set(groups)].map((group) => (group === "core" ? "yes" : `\`${group}\``)).join(", ");
}

function vendorsOf(task: string): string {
  return rows
    .filter(({ tasks = [] }) => tasks.some((one) => one.task === task))
    .map(({ name }) => name)
    .sort()
    .join(", ");
}
