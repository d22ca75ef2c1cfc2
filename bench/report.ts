// The table, and the machine that it was taken on.

import { cpus, loadavg, totalmem } from "node:os";
import { type Contestant, isNginxInstalled } from "./contestants.ts";
import { format, isMet, type Measured } from "./figure.ts";
import { loadGenerator } from "./load/plain-load.ts";
import { peers } from "./peers.ts";
import { readAllowedCores } from "./process-tree.ts";

export type Outcome = { id: string; title: string; tookMs: number } & ({ measured: Measured } | { failure: string });

const columns = ["Switchyard", "nginx", "Portkey", "Bifrost", "LiteLLM"] as const;

export type Machine = ReturnType<typeof describeMachine>;

export function describeMachine(projectFolder: string) {
  const changed = print(["git", "-C", projectFolder, "status", "--porcelain"]);
  return {
    commit:
      (print(["git", "-C", projectFolder, "rev-parse", "--short", "HEAD"]) || "unknown") +
      (changed ? " with changes" : ""),
    cores: readAllowedCores().length,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    // Of the last minute before the run: above the number of cores, times (P4, P10) say little.
    load_average: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    memory_gb: Math.round(totalmem() / 1e9),
    bun: Bun.version,
    node: print(["node", "--version"]) || "not installed",
    nginx: isNginxInstalled ? print(["nginx", "-v"]).replace(/^.*\//, "") || "installed" : "not installed",
    ...Object.fromEntries(peers.map(({ name, version }) => [name.toLowerCase(), version ?? "not installed"])),
    load_generator: loadGenerator,
  };
}

export function printMachine(machine: Machine): void {
  const { commit, cores, processor, load_average, memory_gb, bun, node, nginx, load_generator } = machine;
  const others = peers.filter(({ version }) => version !== null).map(({ name, version }) => `${name} ${version}`);
  console.log(
    `Switchyard ${commit}, Bun ${bun}; ${cores} cores, ${processor}, ${memory_gb} GB, load average ${load_average}`,
  );
  console.log(`peers: nginx ${nginx}, ${others.join(", ")}; Node ${node}; load: ${load_generator}\n`);
}

export function printTable(outcomes: Outcome[]): void {
  const measured = outcomes.flatMap((outcome) => ("measured" in outcome ? [outcome.measured.values] : []));
  const shown = columns.filter((name) => measured.some((values) => values[name] !== undefined));
  const header = ["#", "figure", ...shown, "compared with", "result", "target", ""];
  const rows = outcomes.flatMap((outcome) => toRows(outcome, shown));
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  console.log([line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n"));
  const notes = outcomes.flatMap((outcome) =>
    "measured" in outcome ? outcome.measured.notes.map((note) => `${outcome.id}: ${note}`) : [],
  );
  if (notes.length > 0) console.log(`\n${notes.join("\n")}`);
}

export function toJson(machine: Machine, outcomes: Outcome[]): string {
  const figures = outcomes.map(({ id, title, tookMs, ...outcome }) => {
    if ("failure" in outcome) return { id, title, took_ms: Math.round(tookMs), failure: outcome.failure };
    const { values, unit, checks, notes, rounds } = outcome.measured;
    const judged = checks.map(({ against, value, limit, shown, target, ...check }) => {
      return { against, value, limit, shown, target, ok: isMet({ against, value, limit, shown, target, ...check }) };
    });
    return { id, title, took_ms: Math.round(tookMs), unit, values, checks: judged, notes, rounds };
  });
  return JSON.stringify({ machine, figures }, null, 2);
}

export function isEverythingMet(outcomes: Outcome[]): boolean {
  return outcomes.every(
    (outcome) => "measured" in outcome && outcome.measured.checks.every((check) => isMet(check) !== false),
  );
}

function toRows(outcome: Outcome, shown: readonly Contestant["name"][]): string[][] {
  const { id, title } = outcome;
  if ("failure" in outcome) return [[id, title, ...shown.map(() => "-"), "-", "-", "-", `failed: ${outcome.failure}`]];
  const { values, unit, checks } = outcome.measured;
  const show = (value: number | undefined) => (value === undefined ? "-" : `${format(value)} ${unit}`);
  return checks.map((check, index) => {
    const figure =
      index === 0 ? [id, title, ...shown.map((name) => show(values[name]))] : ["", "", ...shown.map(() => "")];
    const verdict = { true: "ok", false: "NOT OK", null: "not available" }[
      String(isMet(check)) as "true" | "false" | "null"
    ];
    return [...figure, check.against, check.shown, check.target, verdict];
  });
}

function print(command: string[]): string {
  if (!Bun.which(command[0] ?? "")) return "";
  const { stdout, stderr } = Bun.spawnSync(command, { stdin: "ignore" });
  return (stdout.toString() || (command[0] === "git" ? "" : stderr.toString())).trim();
}
