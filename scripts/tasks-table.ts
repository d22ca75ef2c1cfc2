// The table of tasks in the README and in docs/tasks.md, with the engines that perform each task.

import { tasks } from "../src/contract/tasks.ts";
import { definitions } from "../src/engines/llm/tasks/index.ts";
import { listGroups } from "../src/engines/local/groups.ts";
import { localEngines } from "../src/engines/local/list.ts";
import { rows } from "../src/providers/index.ts";
import type { ProviderRow } from "../src/providers/provider.ts";

export function tasksTable(): string {
  const lines = tasks.flatMap(({ name: task }) => {
    const cells = [localOf(task), definitions[task] !== undefined ? "yes" : "", vendorsOf(task)];
    return cells.every((cell) => cell === "") ? [] : [`| \`${task}\` | ${cells.join(" | ")} |`];
  });
  return ["| task | local | chat models | vendors |", "|---|---|---|---|", ...lines].join("\n");
}

export function tasksPage(): string {
  return `# Tasks and their engines

Every task of [\`/v3/universal-ai\`](universal-ai.md), and what can perform it.

In the column *local*, "yes" means that the task runs after a plain start, and a name is a group of [local engines](local-engines.md) to install with
\`npx switchyard-gateway engines add <name>\`; ffmpeg is a program of the operating system. Tasks marked under *chat models* work with
[any configured chat model](llm-engines.md). Vendors need a key of theirs ([providers](providers.md)). [The sandbox](sandbox.md) answers every task with example
data in the correct shape. \`GET /v3/info/{feature}/{subfeature}\` returns the schemas of a task.

${tasksTable()}
`;
}

/** `yes` for an engine of the plain install, otherwise what it needs: a group, a program; and the groups that improve the task. */
function localOf(task: string): string {
  const needs = localEngines
    .filter((engine) => engine.task === task)
    .map(({ group = "core", tools = [] }) => [...(group === "core" ? [] : [`\`${group}\``]), ...tools.slice(0, 1)]);
  const improving = listGroups().filter(({ improves }) => improves.includes(task));
  const cells = needs.map((one) => (one.length === 0 ? "yes" : one.join(" and ")));
  return [...new Set([...cells, ...improving.map(({ name }) => `\`${name}\``)])].join(", ");
}

function vendorsOf(task: string): string {
  return rows
    .filter((row) => isServedBy(row, task))
    .map(({ name }) => name)
    .sort()
    .join(", ");
}

function isServedBy({ tasks: own = [], embeddings, transport }: ProviderRow, task: string): boolean {
  // A provider without listed models serves those that a request names; GET /v3/info lists none of them either.
  if (task === "text/embeddings" && transport === undefined && (embeddings?.models ?? []).length > 0) return true;
  return own.some((one) => one.task === task);
}
