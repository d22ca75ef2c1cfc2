// Converts the output of audio/speech_to_text_async into OpenAI's transcripts: three kinds of JSON, plain text, and subtitles.

import type { TranscriptFormat } from "../../contract/audio.ts";
import type { TaskOutputs } from "../../contract/task-types.ts";
import { ValidationError } from "../../errors.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
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
const maxCueCharacters = 84;
const maxCueSeconds = 7;
const maxPauseSeconds = 1;

/** `original` is the provider's answer, which contains more when it has this format. */
export function toTranscript(
  output: Transcript,
  options: TranscriptOptions,
  original: unknown = null,
): ShapedTranscript {
  const { text } = output;
  const { format, wantsWords } = options;
  if (format === "json") return { kind: "json", members: { text } };
  if (format === "text") return { kind: "text", text: `${text}\n`, mediaType: "text/plain" };
  const own = readOwn(original);
  const diarized = readSpans(output);
  // The output of the task contains only words of a known speaker.
  const spans = diarized === null || diarized.length === 0 ? (own?.spans ?? diarized) : diarized;
  if (spans === null || (spans.length === 0 && text !== "")) throw noTimes("response_format", format);
  if (format === "srt") return { kind: "text", text: toSubRip(toCues(spans)), mediaType: "application/x-subrip" };
  if (format === "vtt") return { kind: "text", text: toWebVtt(toCues(spans)), mediaType: "text/vtt" };
  const whole = { task: "transcribe", duration: own?.duration ?? spans.at(-1)?.end ?? 0, text };
  const language = own?.language ?? options.language;
  if (format === "diarized_json") return { kind: "json", members: { ...whole, segments: toSpeakers(spans) } };
  return {
    kind: "json",
    members: {
      ...whole,
      ...(language === null ? {} : { language }),
      segments:
        own?.segments ?? toCues(spans).map((cue, id) => ({ id, start: cue.start, end: cue.end, text: cue.text })),
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
    next.start - last.end <= maxPauseSeconds &&
    next.end - last.start <= maxCueSeconds &&
    last.text.length + 1 + next.text.length <= maxCueCharacters &&
    !/[.!?…。！？]["')\]]?$/.test(last.text)
  );
}

function toSubRip(cues: readonly Span[]): string {
  return cues.map((cue, index) => `${index + 1}\n${toCueText(cue, ",")}`).join("\n");
}

function toWebVtt(cues: readonly Span[]): string {
  return ["WEBVTT\n", ...cues.map((cue) => toCueText(cue, "."))].join("\n");
}

function toCueText({ text, start, end }: Span, decimalPoint: string): string {
  // An empty line would end the cue, and an arrow would start another one.
  const line = text.replace(/\s+/g, " ").replaceAll("-->", "→");
  return `${toClock(start, decimalPoint)} --> ${toClock(end, decimalPoint)}\n${line}\n`;
}

/** `00:01:02.345` */
function toClock(seconds: number, decimalPoint: string): string {
  const total = Math.round(seconds * 1_000);
  const part = (unitMs: number, limit: number, digits = 2) =>
    String(Math.floor(total / unitMs) % limit).padStart(digits, "0");
  return `${part(3_600_000, 1_000_000)}:${part(60_000, 60)}:${part(1_000, 60)}${decimalPoint}${part(1, 1_000, 3)}`;
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
