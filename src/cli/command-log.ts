// The log of a command: warnings and errors on standard error, so that they do not mix with a result that a program reads.

import { type Config, secretsOf } from "../config.ts";
import { createLog, type Log } from "../log.ts";

/** Hides the secrets of the configuration. `config`: null when the command has not read it. */
export function createCommandLog(config: Config | null, level: "warn" | "error" = "warn"): Log {
  const secrets = config === null ? [] : secretsOf(config);
  const log = createLog({ level, format: "text", secrets, write: (lines) => void process.stderr.write(lines) });
  return {
    ...log,
    // The log buffers warnings, and a command may end before they are written.
    warn(message, fields) {
      log.warn(message, fields);
      log.flush();
    },
  };
}
