// `switchyard doctor`: looks for everything that keeps a gateway from working, and says how to repair it. It changes nothing.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { describeProblem } from "../config/config-file.ts";
import { type Config, ConfigError, readConfig, secretsOf } from "../config.ts";
import { messageOf, SettingError } from "../errors.ts";
import { createLog } from "../log.ts";
import { setUpProviders } from "../provider-setup.ts";
import { isGatewayRunning } from "../storage/storage.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { version } from "../version.ts";
import { askGateway, toGatewayUrl } from "./ask-gateway.ts";
import { CommandFailed, createCommand, type Output, printResult } from "./command-line.ts";
import { checkEngines } from "./doctor/engines.ts";
import { type Finding, report } from "./doctor/finding.ts";
import {
  type ClockReading,
  checkClock,
  checkDisk,
  checkMemory,
  checkOpenFiles,
  measureDisk,
  measureMemory,
  measureOpenFiles,
} from "./doctor/machine.ts";
import { callProviders, checkProviders } from "./doctor/providers.ts";
import { checkDataDir, checkStore } from "./doctor/store.ts";
import { findPortProblems } from "./ports.ts";
import { withProgress } from "./progress.ts";
import { addressOf } from "./serve.ts";

interface DoctorOptions {
  readonly call?: true;
  readonly json?: true;
}

export function createDoctorCommand(output: Output): Command {
  return createCommand("doctor", "Find what keeps the gateway from working, and how to repair it.", output)
    .option("--call", "also call every configured provider once; no call costs anything")
    .option("--json", "print JSON")
    .action(async ({ call, json }: DoctorOptions) => {
      const findings = await withProgress(output, "checking", () => examine(call === true));
      const hasProblem = findings.some(({ severity }) => severity === "problem");
      const report = { ok: !hasProblem, version, findings };
      printResult(output, json, { json: report, lines: describe(findings) });
      if (hasProblem) throw new CommandFailed();
    })
    .addHelpText(
      "after",
      "\nExit code 1 if there is a problem; warnings and notes are none.\nExample: npx switchyard-gateway doctor --call",
    );
}

async function examine(mayCall: boolean): Promise<Finding[]> {
  const { config, finding } = readSettings();
  const machine = [checkOpenFiles(measureOpenFiles())];
  // What depends on the settings cannot be checked without them.
  if (config === null) return [finding, ...machine, ...checkEngines()];
  const { dataDir, workers, jobWorkers } = config;
  const { state, finding: store } = await checkStore(config);
  const log = createLog({ level: "error", format: "text", secrets: secretsOf(config), write: () => {} });
  const calls = mayCall ? await callProviders(config, log) : { findings: [], clocks: [] };
  const clocks: ClockReading[] = [...calls.clocks];
  if (state !== null && state.clockAheadMs !== null)
    clocks.push({ source: "the database", aheadMs: state.clockAheadMs });
  return [
    finding,
    ...checkDataDir(config),
    store,
    ...(await checkPorts(config)),
    ...checkProviders(config),
    ...calls.findings,
    checkDisk(measureDisk(existingFolder(dataDir))),
    ...machine,
    checkMemory({ totalBytes: measureMemory(), processes: workers + jobWorkers }),
    checkClock(clocks, state?.migratedAt === null || state === null ? [] : [state.migratedAt], Date.now()),
    ...checkEngines(),
  ];
}

function readSettings(): { readonly config: Config | null; readonly finding: Finding } {
  const { ok, warning, problem } = report("configuration");
  try {
    const config = readConfig();
    // Finds what only the providers can tell: unknown names in aliases, prices and limits.
    setUpProviders(config);
    const place = config.file ?? "the environment; there is no switchyard.yaml";
    const finding =
      config.warnings.length === 0
        ? ok(`Read from ${place}.`)
        : warning(
            config.warnings.map(describeProblem).join("\n"),
            "Set these variables, or remove the lines that name them.",
          );
    return { config, finding };
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof SettingError)) throw error;
    return {
      config: null,
      finding: problem(messageOf(error), "Correct these settings; docs/settings.md lists all of them."),
    };
  }
}

async function checkPorts(config: Config): Promise<Finding[]> {
  const { ok, problem } = report("ports");
  if (config.databaseUrl === null && isGatewayRunning(config.dataDir))
    return [ok("A gateway is running and uses them.")];
  const problems = findPortProblems(config);
  if (problems.length > 0 && (await isGateway(addressOf(config)))) return [ok("A gateway is running and uses them.")];
  if (problems.length === 0) return [ok(`Port ${config.port} on ${config.host} is free.`)];
  return problems.map((error) => {
    const [message, ...remedy] = messageOf(error).split(/(?<=\.) /);
    return problem(message ?? "", remedy.join(" ") || "Set SWITCHYARD_HOST to an address of this machine.");
  });
}

async function isGateway(address: string): Promise<boolean> {
  try {
    return (await askGateway(toGatewayUrl(address, "/healthz"))).includes('"status":"ok"');
  } catch {
    return false;
  }
}

function existingFolder(path: string): string {
  return existsSync(path) ? path : existingFolder(dirname(path));
}

const marks: Readonly<Record<Finding["severity"], string>> = {
  ok: "ok",
  note: "note",
  warning: "WARNING",
  problem: "PROBLEM",
};

function describe(findings: readonly Finding[]): string[] {
  const rows = findings.flatMap(({ check, severity, message, remedy }) => [
    ...message.split("\n").map((line, index) => (index === 0 ? [marks[severity], check, line] : ["", "", line])),
    ...(remedy === null ? [] : [["", "", `→ ${remedy}`]]),
  ]);
  const count = (severity: Finding["severity"]) => findings.filter((one) => one.severity === severity).length;
  return [
    ...alignColumns([["result", "check", "finding"], ...rows], 3),
    "",
    `${count("problem")} problems, ${count("warning")} warnings.`,
  ];
}
