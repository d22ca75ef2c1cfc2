// The structured logger. It removes secrets by value when it writes, so that no caller has to.

import { hideGatewayKeys } from "./lib/secret-forms.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Adds a value that must not be written from now on. */
  hide(secret: string): void;
  /** Replaces what must not be written, for other outputs of the gateway. */
  redact(text: string, mark: string): string;
  /** Writes the buffered lines. Call it before the process ends. */
  flush(): void;
}

interface LogOptions {
  readonly level: LogLevel;
  readonly format: "json" | "text";
  readonly secrets: readonly string[];
  readonly write: (lines: string) => void;
}

const rank: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };
const flushAfterMs = 100;
const flushAtCharacters = 32_768;
// A shorter value may be an ordinary word; hiding it would blank much of the log.
const shortestSecret = 6;
const hidden = "[hidden]";

export function createLog(options: LogOptions): Log {
  const secrets = new Set<string>();
  let waiting = "";
  let writtenAt = 0;
  let time = "";
  let timer: ReturnType<typeof setTimeout> | null = null;

  function hide(secret: string): void {
    if (secret.length < shortestSecret) return;
    secrets.add(secret);
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (escaped !== secret) secrets.add(escaped);
  }

  function redact(text: string, mark = hidden): string {
    let clean = text;
    for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, mark);
    // The gateway stores no keys in plain text, so they are recognized by their form.
    return hideGatewayKeys(clean, mark);
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (waiting === "") return;
    const lines = waiting;
    waiting = "";
    options.write(redact(lines));
  }

  /** Cached: many lines have the same millisecond, and formatting a date takes longer than the rest of a line. */
  function readTime(): string {
    const now = Date.now();
    if (now !== writtenAt) {
      writtenAt = now;
      time = new Date(now).toISOString();
    }
    return time;
  }

  function log(level: LogLevel, message: string, fields?: LogFields): void {
    if (rank[level] < rank[options.level]) return;
    const toLine = options.format === "json" ? toJson : toText;
    waiting += toLine(readTime(), level, message, fields);
    if (level === "error" || waiting.length > flushAtCharacters) flush();
    else timer ??= setTimeout(flush, flushAfterMs);
  }

  for (const secret of options.secrets) hide(secret);
  return {
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
    hide,
    redact,
    flush,
  };
}

function toJson(time: string, level: LogLevel, message: string, fields?: LogFields): string {
  const head = `{"time":"${time}","level":"${level}","message":${JSON.stringify(message)}`;
  // Joined as text: copying the fields into a larger object first would cost more than writing them.
  const rest = fields === undefined ? "{}" : JSON.stringify(plain(fields));
  return rest === "{}" ? `${head}}\n` : `${head},${rest.slice(1)}\n`;
}

function toText(time: string, level: LogLevel, message: string, fields?: LogFields): string {
  const known = Object.entries(plain(fields) ?? {}).filter(([, value]) => value !== undefined);
  const pairs = known.map(([name, value]) => ` ${name}=${toWord(value)}`);
  return `${time.slice(11, 23)} ${level.padEnd(5)} ${message}${pairs.join("")}\n`;
}

function toWord(value: unknown): string {
  return typeof value === "string" && !/[\s"]/.test(value) ? value : String(JSON.stringify(value));
}

/** JSON.stringify writes an error as `{}`, so its members are copied. */
function plain(fields?: LogFields): LogFields | undefined {
  if (fields === undefined || !("error" in fields)) return fields;
  return { ...fields, error: describeError(fields["error"]) };
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
