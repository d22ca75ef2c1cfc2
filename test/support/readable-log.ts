// A log whose lines a test reads.

import { createLog, type Log } from "../../src/log.ts";

export function openReadableLog(level: "debug" | "info" | "warn" | "error"): { log: Log; readLog: () => string } {
  let written = "";
  const write = (lines: string) => {
    written += lines;
  };
  const log = createLog({ level, format: "json", secrets: [], write });
  const readLog = () => {
    log.flush();
    return written;
  };
  return { log, readLog };
}
