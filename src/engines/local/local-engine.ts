// What a module of a local engine exports. It runs in a worker, but the gateway's own thread reads its members too: so a module
// imports its packages inside `load` (`await import("…")`), at its head only types, node's own modules and files of ours.

import type { JsonObject } from "../../providers/dialect.ts";
import type { BinaryResult, EngineAnswer } from "../engine.ts";

export interface LocalEngine {
  /** `text/sentiment_analysis` */
  readonly task: string;
  /** What must be installed, by the name that is imported. The engine is listed only when all of them resolve. */
  readonly packages: readonly string[];
  /** What `switchyard engines add` calls the set that brings the packages. Absent: `core`, which comes with the gateway. */
  readonly group?: EngineGroup;
  /** Light: milliseconds a call and tens of megabytes. Absent: heavy. The two never wait for one another. */
  readonly lane?: Lane;
  /** A text that is longer makes a heavy job of a light one. Absent: 20,000 characters. */
  readonly lightCharacters?: number;
  /** Which of the time limits of the settings holds. Absent: `text` for text and translation, else `media`. */
  readonly timeLimit?: TimeLimitKind;
  /** Absent: it has none to choose from. */
  readonly models?: readonly string[];
  /** Once per worker, at the first call. Nothing in it or in what it returns may reach for the network. */
  load(): Promise<LocalRun>;
}

/** Throws a ValidationError or a GatewayError for what the caller can know; anything else is a bug of ours. */
export type LocalRun = (call: LocalCall) => Promise<LocalAnswer>;

export interface LocalCall {
  /** Null: none was named. */
  readonly model: string | null;
  /** Checked against the task's schema, with its defaults filled in. */
  readonly input: JsonObject;
  /** By the member of the input that names them: `file`, `file1`, `reference_images.0` … */
  readonly files: Readonly<Record<string, LocalFile>>;
  /** How much of it is done, 0..1. Only jobs listen; it costs nothing to say. */
  tellProgress(share: number): void;
}

export interface LocalFile {
  readonly name: string;
  /** Detected from the bytes, never believed. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Everything in it must survive a structured clone: plain objects, arrays, numbers, strings, bytes. */
export interface LocalAnswer {
  readonly output: JsonObject;
  readonly original: unknown;
  readonly units: EngineAnswer["units"];
  readonly binaries?: readonly BinaryResult[];
}

export type EngineGroup = "core" | "embeddings" | "speech" | "vision" | "voice" | "grammar";

/** `job`: for tasks that run as jobs only, on files of many pages or hours. */
export type TimeLimitKind = "text" | "media" | "job";

export type Lane = "light" | "heavy";
