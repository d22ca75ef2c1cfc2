// Converts the output of audio/speech_to_text_async into OpenAI's transcripts: three kinds of JSON, plain text, and subtitles.

import type { TranscriptFormat } from "../../contract/audio.ts";
import type { TaskOutputs } from "../../contract/task-types.ts";
import { ValidationError } from "../../errors.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { asObject } from "../../providers/lenient.ts";

type Transcript = TaskOutputs["audio/speech_to_text_async"];

export interface TranscriptOptions {
  readonly format: TranscriptFormat;
  readonly language: string | null;
  readonly wantsWords: boolean;
}

/** Consecutive words, with their times in seconds. */
interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
}

export type ShapedTranscript =
  | { readonly kind: "json"; readonly members: JsonObject }
  | { readonly kind: "text"; readonly text: string; readonly mediaType: string };

// A cue fits on a screen: two lines of 42 characters, shown long enough to be read.
const mostCueCharacters = 84;
const longestCueSeconds = 7;
const longestPauseSeconds = 1;

/** `original` is the provider's answer, which contains more when it has this format. */
export function toTranscript(output: Transcript, wish: TranscriptOptions, original: unknown = null): ShapedTranscript {
  const { text } = output;
  const { format, wantsWords } = wish;
  if (format === "json") return { kind: "json", members: { text } };
  if (format === "text") return { kind: "text", text: `${text}\n`, mediaType: "text/plain" };
  const own = readOwn(original);
  const told = readSpans(output);
  // The output of the task contains only words of a known speaker.
  const spans = told === null || told.length === 0 ? (own?.spans ?? told) : told;
  if (spans === null || (spans.length === 0 && text !== "")) throw noTimes("response_format", format);
  if (format === "srt") return { kind: "text", text: toSubRip(toCues(spans)), mediaType: "application/x-subrip" };
  if (format === "vtt") return { kind: "text", text: toWebVtt(toCues(spans)), mediaType: "text/vtt" };
  const whole = { task: "transcribe", duration: own?.duration ?? spans.at(-1)?.end ?? 0, text };
  const language = own?.language ?? wish.language;
  if (format === "diarized_json") return { kind: "json", members: { ...whole, segments: toSpeakers(spans) } };
  return {
    kind: "json",
    members: {
      ...whole,
      ...(language === null ? {} : { language }),
      segments:
        own?.segments ?? toCues(spans).map(({ start, end, text: said }, id) => ({ id, start, end, text: said })),
      ...(wantsWords && { words: toWords(spans) }),
    },
  };
}

interface OwnTranscript {
  readonly spans: readonly Span[];
  readonly segments: readonly unknown[];
  readonly duration: number | null;
  readonly language: string | null;
}

/** Null when the answer is not of this format. */
function readOwn(original: unknown): OwnTranscript | null {
  const { segments, duration, language } = asObject(original);
  if (!Array.isArray(segments) || segments.length === 0) return null;
  const spans = segments
    .map(asObject)
    .flatMap(({ start, end, text }) =>
      typeof start === "number" && typeof end === "number" && typeof text === "string"
        ? [{ start, end, text: text.trim(), speaker: 1 }]
        : [],
    );
  if (spans.length < segments.length) return null;
  return {
    spans: spans.filter(({ text }) => text !== ""),
    segments,
    duration: typeof duration === "number" ? duration : null,
    language: typeof language === "string" ? language : null,
  };
}

/** Null when a word or a segment has no times. */
function readSpans({ diarization }: Transcript): Span[] | null {
  const spans: Span[] = [];
  for (const { segment, start_time, end_time, speaker } of diarization.entries ?? []) {
    const [start, end] = [toSeconds(start_time), toSeconds(end_time)];
    if (start === null || end === null) return null;
    spans.push({ text: segment.trim(), start, end: Math.max(start, end), speaker });
  }
  return spans.filter(({ text }) => text !== "");
}

function toSeconds(time: unknown): number | null {
  if (typeof time !== "string" || time.trim() === "") return null;
  const seconds = Number(time);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1_000) / 1_000 : null;
}

/** Some engines return single words, others sentences: short segments that belong together become one cue. */
function toCues(spans: readonly Span[]): Span[] {
  const cues: Span[] = [];
  for (const span of spans) {
    const last = cues.at(-1);
    if (last !== undefined && belongs(last, span))
      cues[cues.length - 1] = { ...last, text: `${last.text} ${span.text}`, end: Math.max(last.end, span.end) };
    else cues.push(span);
  }
  return cues;
}

function belongs(last: Span, next: Span): boolean {
  return (
    last.speaker === next.speaker &&
    next.start - last.end <= longestPauseSeconds &&
    next.end - last.start <= longestCueSeconds &&
    last.text.length + 1 + next.text.length <= mostCueCharacters &&
    !/[.!?…。！？]["')\]]?$/.test(last.text)
  );
}

function toSubRip(cues: readonly Span[]): string {
  return cues
    .map(
      ({ text, start, end }, index) =>
        `${index + 1}\n${toClock(start, ",")} --> ${toClock(end, ",")}\n${toLine(text)}\n`,
    )
    .join("\n");
}

function toWebVtt(cues: readonly Span[]): string {
  const lines = cues.map(
    ({ text, start, end }) => `${toClock(start, ".")} --> ${toClock(end, ".")}\n${toLine(text)}\n`,
  );
  return ["WEBVTT\n", ...lines].join("\n");
}

/** An empty line would end the cue, and an arrow would start another one. */
function toLine(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("-->", "→");
}

/** `00:01:02.345` */
function toClock(seconds: number, point: string): string {
  const whole = Math.round(seconds * 1_000);
  const part = (unit: number, of: number, digits: number) =>
    String(Math.floor(whole / unit) % of).padStart(digits, "0");
  return `${part(3_600_000, 1_000_000, 2)}:${part(60_000, 60, 2)}:${part(1_000, 60, 2)}${point}${part(1, 1_000, 3)}`;
}

function toSpeakers(spans: readonly Span[]): object[] {
  const names = new Map<number, string>();
  return toCues(spans).map(({ text, start, end, speaker }, index) => {
    if (!names.has(speaker)) names.set(speaker, letterOf(names.size));
    return { id: `seg_${index}`, type: "transcript.text.segment", start, end, text, speaker: names.get(speaker) };
  });
}

/** A, B … Z, AA, AB … */
function letterOf(index: number): string {
  const rest = Math.floor(index / 26);
  return `${rest === 0 ? "" : letterOf(rest - 1)}${String.fromCharCode(65 + (index % 26))}`;
}

function toWords(spans: readonly Span[]): object[] {
  if (spans.some(({ text }) => /\s/.test(text))) throw noTimes("timestamp_granularities", "word");
  return spans.map(({ text: word, start, end }) => ({ word, start, end }));
}

function noTimes(member: string, wanted: string): ValidationError {
  const msg = `The provider returned no times, which '${wanted}' needs. Use json or text`;
  return new ValidationError([{ loc: ["body", member], msg, type: "unsupported_parameter" }]);
}
