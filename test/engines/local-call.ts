// Calls local engines as the gateway does, and checks what it would check.

import { findTask } from "../../src/contract/tasks.ts";
import type { InputFile, TaskResult } from "../../src/engines/engine.ts";
import type { LocalEngines } from "../../src/engines/local/index.ts";
import { ValidationError } from "../../src/errors.ts";
import { type Json, SchemaDocument } from "../../src/lib/json-schema/schema.ts";
import { fitsSchema } from "../../src/lib/json-schema/schema-check.ts";
import { CallTicket } from "../../src/providers/call-ticket.ts";
import { rejectionOf } from "../support/thrown.ts";

type Members = Readonly<Record<string, unknown>>;

// A busy machine may take many times as long as a quiet one.
const longTimeMs = 600_000;
export const longTimeLimitsMs = { text: longTimeMs, media: longTimeMs, job: longTimeMs } as const;

export interface LocalCallOptions {
  readonly files?: Readonly<Record<string, InputFile>>;
  readonly withinMs?: number;
  readonly model?: string | null;
  readonly onProgress?: (share: number) => void;
}

/** The input with the defaults of the schema, as the gateway fills them in. */
export function runLocal(
  local: LocalEngines,
  task: string,
  input: Members,
  options: LocalCallOptions = {},
): Promise<TaskResult> {
  const { model = null } = options;
  // As the gateway chooses: by the model's name, else the first one that is installed.
  const engine = local.engines.find(
    (one) => one.task === task && (model === null ? one.unavailableReason === null : one.models.includes(model)),
  );
  if (engine === undefined) throw new Error(`no local engine for ${task}`);
  return engine.run({
    ...plainCall(options.withinMs),
    model,
    input: { ...defaultsOf(task), ...input },
    files: options.files ?? {},
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
}

/** What calls of engines have in common. */
export function plainCall(withinMs = longTimeMs) {
  return {
    providerParams: {},
    signal: new AbortController().signal,
    deadline: performance.now() + withinMs,
    ticket: new CallTicket(),
    requestId: "test",
    owner: "key:test",
  };
}

/** The error of a call that must be refused as invalid. */
export function refusalOf(answer: Promise<unknown>): Promise<ValidationError> {
  return rejectionOf(answer, ValidationError);
}

export function fitsTask(task: string, output: Members): boolean {
  const document = new SchemaDocument(schemaOf(task, "outputSchema"), "unlimited");
  return fitsSchema(output as Json, document.root, document);
}

function defaultsOf(task: string): Members {
  const properties = schemaOf(task, "inputSchema")["properties"] as Readonly<Record<string, Members>>;
  const entries = Object.entries(properties).filter(([, schema]) => "default" in schema);
  return Object.fromEntries(entries.map(([name, schema]) => [name, schema["default"]]));
}

function schemaOf(task: string, which: "inputSchema" | "outputSchema"): Members {
  const found = findTask(task);
  if (found === undefined) throw new Error(`no task ${task}`);
  return found[which];
}
