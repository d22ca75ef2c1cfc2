// The README's table of tasks and who does them, from the engines themselves.

import { tasks } from "../src/contract/tasks.ts";
import { definitions } from "../src/engines/llm/tasks/index.ts";
import { localEngines } from "../src/engines/local/list.ts";
import { vendorRows } from "../src/engines/vendors/index.ts";

const begin = "<!-- tasks: begin -->";
const end = "<!-- tasks: end -->";

/** The README with its table renewed. */
export function withTasksTable(readme: string): string {
  const [before, , after] = splitAt(readme);
  return `${before}${begin}\n\n${tasksTable()}\n\n${end}${after}`;
}

function splitAt(readme: string): [before: string, between: string, after: string] {
  const [before, rest, ...more] = readme.split(begin);
  const [between, after, ...others] = (rest ?? "").split(end);
  if (before === undefined || between === undefined || after === undefined || more.length + others.length > 0)
    throw new Error(`README.md needs ${begin} and ${end}, once each`);
  return [before, between, after];
}

function tasksTable(): string {
  const names = tasks.map(({ feature, subfeature }) => `${feature}/${subfeature}`);
  const lines = names.flatMap((task) => {
    const cells = [localOf(task), definitions.some((one) => one.task === task) ? "yes" : "", vendorsOf(task)];
    return cells.every((cell) => cell === "") ? [] : [`| \`${task}\` | ${cells.join(" | ")} |`];
  });
  return ["| task | local | chat models | vendors |", "|---|---|---|---|", ...lines].join("\n");
}

/** What comes with the gateway, and what groups add to it. */
function localOf(task: string): string {
  const groups = localEngines.filter((engine) => engine.task === task).map(({ group = "core" }) => group);
  return [...new Set(groups)].map((group) => (group === "core" ? "yes" : `\`${group}\``)).join(", ");
}

function vendorsOf(task: string): string {
  return vendorRows
    .filter((row) => row.tasks.some((one) => one.task === task))
    .map(({ name }) => name)
    .sort()
    .join(", ");
}
