// Transcripts: the input members that vendors of `audio/speech_to_text_async` read, and the output.

import type { TaskInput } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asScore, asString } from "../lenient.ts";
import type { ProviderTaskCall, ResultOf } from "../task.ts";

export type TranscriptCall = ProviderTaskCall<TaskInput<"audio/speech_to_text_async">>;

export interface SpokenPiece {
  readonly text: string;
  /** In seconds. */
  readonly start: unknown;
  readonly end: unknown;
  /** The vendor's name of the speaker: 0, `spk_0`, `A`. Null: the vendor sent none. */
  readonly speaker: string | number | null;
  readonly confidence: unknown;
}

/** The result of `audio/speech_to_text_async`. Speakers are counted from 1, in the order of their names. */
export function toTranscript(
  text: string,
  pieces: readonly SpokenPiece[],
  seconds: number | null,
): ResultOf<"audio/speech_to_text_async"> {
  const spoken = pieces.filter(({ speaker }) => speaker !== null);
  const names = [...new Set(spoken.map(({ speaker }) => speaker))].sort(byName);
  const numbers = new Map(names.map((name, index) => [name, index + 1]));
  const entries = spoken.map(({ text: segment, start, end, speaker, confidence }) => ({
    segment,
    start_time: toSeconds(start),
    end_time: toSeconds(end),
    speaker: numbers.get(speaker) ?? 0,
    confidence: asScore(confidence),
  }));
  const diarization = { total_speakers: names.length, entries, error_message: null };
  return {
    output: { text, diarization },
    units: { request: 1, file: 1, ...(seconds !== null && { second: seconds }) },
  };
}

/** A word or segment whose members have the names that most vendors use. */
export function toPiece(
  { start, end, confidence }: JsonObject,
  text: unknown,
  speaker: SpokenPiece["speaker"],
): SpokenPiece {
  return { text: asString(text), start, end, speaker, confidence };
}

function byName(one: string | number | null, another: string | number | null): number {
  return String(one).localeCompare(String(another), "en", { numeric: true });
}

/** The schema has seconds as text. */
function toSeconds(value: unknown): string | null {
  const seconds = asNumber(value);
  return seconds === null ? null : String(seconds);
}

export function vocabularyOf({ input }: TranscriptCall): readonly string[] {
  return input.vocabulary?.filter((word) => word !== "") ?? [];
}
