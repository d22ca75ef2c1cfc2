// `switchyard reload`: what it prints, and its exit codes.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startReloadedGateway } from "../support/reload-load.ts";
import { runProgram } from "../support/run-program.ts";

const command = join(import.meta.dir, "../../bin/switchyard.mjs");

async function reload(cwd: string, ...args: string[]) {
  const env = { PATH: process.env["PATH"] ?? "", SWITCHYARD_CONFIG: join(cwd, "switchyard.yaml") };
  return await runProgram(["node", command, "reload", ...args], { cwd, env });
}

test("the command says which configuration serves, and why", async () => {
  await using started = await startReloadedGateway();
  const folder = dirname(started.gateway.dataFolder);
  started.write(2);
  const taken = await reload(folder);
  expect(taken).toMatchObject({ code: 0, errors: "" });
  expect(taken.out).toMatch(
    /^Gateway \d+: all processes serve the new configuration \(configuration 2, read at .*yaml\)\./,
  );
  expect(await started.ask()).toBe(2);

  writeFileSync(started.file, "aliases: { which: mock/3\n");
  const refused = await reload(folder);
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.errors).toMatch(/all processes keep the current configuration \(configuration 2/);
  expect(refused.errors).toMatch(/switchyard\.yaml:\d+/);

  started.write(3, { aliases: { which: "mock/3", wrong: "nosuch/x" } });
  const json = await reload(folder, "--json");
  expect(json.code).toBe(2);
  const [answer] = JSON.parse(json.out) as [Record<string, unknown>];
  expect(answer).toMatchObject({ reloaded: false, configuration: { number: 2 } });
  expect(answer["reason"]).toContain("unknown provider 'nosuch'");
  expect(await started.ask()).toBe(2);

  // Whatever happened, the output of the gateway is JSON.
  const lines = started.gateway.log().trimEnd().split("\n");
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();

  const elsewhere = await reload(folder, "--data-dir", join(tmpdir(), "no-such-folder"));
  expect(elsewhere).toMatchObject({ code: 1, out: "" });
  expect(elsewhere.errors).toContain("No gateway runs on the data folder");
}, 300_000);
