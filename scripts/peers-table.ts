// The table of the README that compares the gateway with others, from the result of a run of the bench.

import { readFileSync } from "node:fs";

interface Result {
  readonly machine: Readonly<Record<string, string | number>>;
  readonly figures: readonly {
    readonly id: string;
    readonly unit: string;
    readonly values: Readonly<Record<string, number>>;
  }[];
}

const measured = [
  ["P1", "processor time of a plain completion"],
  ["P2", "processor time of a streamed chunk"],
  ["P4", "added to the median latency"],
] as const;
const programs = ["Switchyard", "Portkey", "LiteLLM", "nginx"] as const;

export function peersTable(): string {
  const { machine, figures } = JSON.parse(readFileSync("bench/results/peers.json", "utf8")) as Result;
  const rows = measured.flatMap(([id, name]) => {
    const figure = figures.find((one) => one.id === id);
    if (figure === undefined) return [];
    const cells = programs.map((program) => show(figure.values[program], figure.unit));
    return [`| ${name} | ${cells.join(" | ")} |`];
  });
  const versions = programs.slice(1).map((name) => `${name} ${machine[name.toLowerCase()]}`);
  return [
    `| | ${programs.join(" | ")} |`,
    `|---|${programs.map(() => "---:|").join("")}`,
    ...rows,
    "",
    `Measured in one run on ${machine["cores"]} cores: commit ${machine["commit"]}, ${versions.join(", ")}. A dash: it answered no request in time, or failed.`,
  ].join("\n");
}

function show(value: number | undefined, unit: string): string {
  if (value === undefined) return "–";
  return `${value >= 10 ? Math.round(value).toLocaleString("en") : value.toFixed(1)} ${unit}`;
}
