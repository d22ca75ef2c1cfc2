// Text to speech: the voice, format, speed, pitch and volume that a caller wants, in the forms that vendors take, and the audio.

import type { TaskInput } from "../../contract/tasks.ts";
import { readAudioLength } from "../../lib/audio-length.ts";
import { lookUp } from "../../lib/look-up.ts";
import { rounded } from "../lenient.ts";
import { type ResultOf, type TaskCall, TaskFailure, type TaskResponse } from "../task.ts";
import { chooseFrom, textUnits } from "./inputs.ts";

export type SpeechCall = TaskCall<TaskInput<"audio/tts">>;

/** The result of `audio/tts` from an answer that is audio. */
export function toSpeech({ bytes, mediaType }: TaskResponse, call: SpeechCall): ResultOf<"audio/tts"> {
  refuseJson(mediaType);
  return fromAudio(bytes, call);
}

export function refuseJson(mediaType: string): void {
  if (mediaType.endsWith("json")) throw new TaskFailure(502, "The provider did not answer with audio");
}

/** `pcmBytesPerSecond`: of the vendor's audio without a header. Absent: its length is unknown. */
export function fromAudio(bytes: Uint8Array, call: SpeechCall, pcmBytesPerSecond?: number): ResultOf<"audio/tts"> {
  if (bytes.length === 0) throw new TypeError("there is no audio in the answer");
  const format = nameFormat(call);
  const seconds = format === "pcm" ? pcmBytesPerSecond && bytes.length / pcmBytesPerSecond : readAudioLength(bytes);
  const mediaType = lookUp(mediaTypes, format) ?? `audio/${format}`;
  return {
    output: {},
    // Some models are billed by the length of the audio.
    units: { ...textUnits(call), ...(seconds && { second: seconds }) },
    binaries: [{ base64Path: null, urlPath: ["audio_resource_url"], bytes, mediaType }],
    original: null,
  };
}

const oggTypes = { opus: "audio/ogg", ogg_opus: "audio/ogg", ogg_vorbis: "audio/ogg" };
/** The media types of formats that have other names than the format. */
const mediaTypes: Readonly<Record<string, string>> = { mp3: "audio/mpeg", ulaw: "audio/basic", ...oggTypes };

/** The vendor's name of the format that the caller wants. */
export function formatOf<T>(call: SpeechCall, formats: Readonly<Record<string, T>>): T {
  return chooseFrom(formats, nameFormat(call), "audio_format");
}

function nameFormat({ input }: SpeechCall): string {
  return (input.audio_format ?? "mp3").toLowerCase();
}

/** The members of `audio/tts` that change how a text is spoken. */
type Prosody = Partial<Pick<SpeechCall["input"], "speed" | "speaking_pitch" | "speaking_volume">>;

export function hasProsody({ speed, speaking_pitch, speaking_volume }: Prosody): boolean {
  return (speed ?? speaking_pitch ?? speaking_volume ?? null) !== null;
}

/** How a vendor writes a speed, of which 1 is the usual one, and a change of volume in percent. */
export interface ProsodyForms {
  rate(speed: number): string;
  volume(percent: number): string;
}

/** The text as SSML, without the element around it. */
export function toSsml(text: string, prosody: Prosody, forms: ProsodyForms): string {
  const { speed, speaking_pitch: pitch, speaking_volume: volume } = prosody;
  const attributes = [
    typeof speed === "number" ? ` rate="${forms.rate(speed)}"` : "",
    typeof pitch === "number" ? ` pitch="${signed(pitch)}%"` : "",
    typeof volume === "number" ? ` volume="${forms.volume(volume)}"` : "",
  ].join("");
  const escaped = escapeXml(text);
  return attributes === "" ? escaped : `<prosody${attributes}>${escaped}</prosody>`;
}

export function signed(number: number): string {
  return number < 0 ? String(number) : `+${number}`;
}

// The lowest volume in the vendors' documentation; it is inaudible.
const silenceDb = -96;

/** Twice the amplitude is 6 dB more, half of it 6 dB less. */
export function toDecibel(percent: number): number {
  const ratio = 1 + percent / 100;
  return ratio <= 0 ? silenceDb : Math.max(silenceDb, rounded(20 * Math.log10(ratio), 2));
}

export function toSemitones(percent: number): number {
  const ratio = 1 + percent / 100;
  return ratio <= 0 ? -20 : Math.min(20, Math.max(-20, rounded(12 * Math.log2(ratio), 2)));
}

/** Leaves out the characters that XML cannot contain. */
export function escapeXml(text: string): string {
  return Bun.escapeHTML(text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ""));
}
