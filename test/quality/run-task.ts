// Runs tasks by local engines for the measures, with the defaults that the gateway fills in.

import type { LocalEngines } from "../../src/engines/local/index.ts";
import { runLocal } from "../engines/local-call.ts";
import type { RunTask } from "./quality.ts";

export function runnerOf(local: LocalEngines): RunTask {
  return async (task, input, model) => (await runLocal(local, task, input, { model: model ?? null })).output;
}
