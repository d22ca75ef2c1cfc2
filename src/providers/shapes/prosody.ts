// Speed, pitch and volume of `audio/tts`, as percentages that change what is usual, in the ways that vendors take them.

import type { TaskCall } from "../task.ts";

export interface Prosody {
  /** 1 is usual. */
  readonly speed: number | null;
  /** -100..100, in percent. */
  readonly pitch: number | null;
  readonly volume: number | null;
}

export function prosodyOf({ input }: TaskCall): Prosody {
  const read = (member: string) => {
    const value = input[member];
    return typeof value === "number" ? value : null;
  };
  return { speed: read("speed"), pitch: read("speaking_pitch"), volume: read("speaking_volume") };
}

/** The text as SSML, without the element around it. `volumeOf`: how the vendor writes a change of volume. */
export function toSsml(text: string, { speed, pitch, volume }: Prosody, volumeOf: (percent: number) => string): string {
  const attributes = [
    speed === null ? "" : ` rate="${Math.round(speed * 100)}%"`,
    pitch === null ? "" : ` pitch="${signed(pitch)}%"`,
    volume === null ? "" : ` volume="${volumeOf(volume)}"`,
  ].join("");
  const escaped = escapeXml(text);
  return attributes === "" ? escaped : `<prosody${attributes}>${escaped}</prosody>`;
}

export function hasProsody({ speed, pitch, volume }: Prosody): boolean {
  return speed !== null || pitch !== null || volume !== null;
}

export function signed(number: number): string {
  return number < 0 ? String(number) : `+${number}`;
}

// The least that the vendors' documents name; nothing is heard of it.
const silenceDb = -96;

/** Twice the amplitude is 6 dB more, half of it 6 dB less. */
export function toDecibel(percent: number): number {
  const ratio = 1 + percent / 100;
  return ratio <= 0 ? silenceDb : Math.max(silenceDb, Math.round(20 * Math.log10(ratio) * 100) / 100);
}

export function toSemitones(percent: number): number {
  const ratio = 1 + percent / 100;
  const semitones = ratio <= 0 ? -20 : 12 * Math.log2(ratio);
  return Math.min(20, Math.max(-20, Math.round(semitones * 100) / 100));
}

/** What XML cannot hold at all is left out. */
export function escapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
  };
  const held = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
  return held.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
