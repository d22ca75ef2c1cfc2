// Speech that a vendor wrote down, and what tasks of many vendors read from a call for it.

import type { TaskDraft } from "../../contract/tasks.ts";
import { asNumber, asScore } from "../lenient.ts";
import { type ProviderTaskCall, refuseInput, type TaskResult } from "../task.ts";

export interface SpokenPiece {
  readonly text: string;
  /** In seconds. */
  readonly start: unknown;
  readonly end: unknown;
  /** As the vendor names them: 0, `spk_0`, `A`. Null: it does not say who spoke. */
  readonly speaker: string | number | null;
  readonly confidence: unknown;
}

/** The result of `audio/speech_to_text_async`. Speakers are counted from 1, in the order of their names. */
export function toTranscript(
  text: string,
  pieces: readonly SpokenPiece[],
  seconds: number | null,
): TaskResult<TaskDraft<"audio/speech_to_text_async">> {
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

function byName(one: string | number | null, another: string | number | null): number {
  return String(one).localeCompare(String(another), "en", { numeric: true });
}

/** Seconds are told as text. */
function toSeconds(value: unknown): string | null {
  const seconds = asNumber(value);
  return seconds === null ? null : String(seconds);
}

/** How many people speak, where the caller knows. */
export function speakersOf({ input }: ProviderTaskCall): number | null {
  return asNumber(input["speakers"]);
}

export function vocabularyOf({ input }: ProviderTaskCall): readonly string[] {
  const words = input["vocabulary"];
  return Array.isArray(words) ? words.filter((word) => typeof word === "string" && word !== "") : [];
}

export function wantsNoProfanity({ input }: ProviderTaskCall): boolean {
  return input["profanity_filter"] === true;
}

/** For vendors that leave out nothing of what was said. */
export function refuseProfanityFilter(call: ProviderTaskCall): void {
  if (wantsNoProfanity(call))
    refuseInput("profanity_filter", "This provider has no such parameter", "unsupported_parameter");
}
