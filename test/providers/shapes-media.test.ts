// Speech, transcripts, images and videos in the outputs that many vendors share. All values here are invented.

import { describe, expect, test } from "bun:test";
import { byName } from "../../src/providers/shapes/faces.ts";
import {
  findRatio,
  fromCutOut,
  referenceImagesOf,
  sizeOf,
  toCutOut,
  toImages,
} from "../../src/providers/shapes/images.ts";
import {
  fromAudio,
  hasProsody,
  type SpeechCall,
  signed,
  toDecibel,
  toSemitones,
  toSpeech,
  toSsml,
} from "../../src/providers/shapes/speech.ts";
import { toTranscript, vocabularyOf } from "../../src/providers/shapes/transcript.ts";
import { toLabels, toShots, toVideo, toVideoTexts, videoUnits } from "../../src/providers/shapes/video.ts";
import { bytesOf, callOf, fileOf } from "../engines/vendor-calls.ts";
import { problemsOf } from "../support/thrown.ts";

describe("speech", () => {
  const usual = { voice: null, speed: null, audio_format: null, speaking_pitch: null, speaking_volume: null };
  const speech = (input: Partial<SpeechCall["input"]> = {}): SpeechCall => {
    return { ...callOf(), input: { text: "Hi", ...usual, ...input } };
  };

  test.each([
    [undefined, "audio/mpeg"],
    ["MP3", "audio/mpeg"],
    ["opus", "audio/ogg"],
    ["ogg_vorbis", "audio/ogg"],
    ["ulaw", "audio/basic"],
    ["flac", "audio/flac"],
  ])("in the format %p has the type %s", (audio_format, mediaType) => {
    const { binaries } = fromAudio(Buffer.from("x"), speech(audio_format === undefined ? {} : { audio_format }));
    expect(binaries).toMatchObject([{ mediaType }]);
  });

  test("without a header is billed by its bytes where the vendor's rate is known", () => {
    const bytes = Buffer.alloc(48_000);
    const pcm = speech({ audio_format: "pcm" });
    expect(fromAudio(bytes, pcm, 24_000).units).toEqual({ char: 2, request: 1, second: 2 });
    expect(fromAudio(bytes, pcm).units).toEqual({ char: 2, request: 1 });
    expect(fromAudio(bytes, speech({ audio_format: "mp3" }), 24_000).units).not.toHaveProperty("second", 2);
  });

  test("is neither empty nor JSON", () => {
    expect(() => fromAudio(new Uint8Array(), speech())).toThrow("no audio");
    expect(() => toSpeech(bytesOf(Buffer.from("{}"), "application/json"), speech())).toThrow("not answer with audio");
    expect(toSpeech(bytesOf(Buffer.from("x"), "audio/mpeg"), speech()).binaries).toHaveLength(1);
  });

  test("has its speed, pitch and volume in SSML", () => {
    const forms = { rate: (speed: number) => `${speed}x`, volume: signed };
    expect(toSsml("a & b\u0000", {}, forms)).toBe("a &amp; b");
    expect(toSsml("a", { speed: 0, speaking_pitch: -5, speaking_volume: 0 }, forms)).toBe(
      '<prosody rate="0x" pitch="-5%" volume="+0">a</prosody>',
    );
    const each = [{}, { speed: 0 }, { speaking_pitch: 0 }, { speaking_volume: 0 }, { speed: null }];
    expect(each.map(hasProsody)).toEqual([false, true, true, true, false]);
  });

  test("is louder and higher by percentages", () => {
    expect([0, 100, -50, -100, -200, -99.9999].map(toDecibel)).toEqual([0, 6.02, -6.02, -96, -96, -96]);
    expect([0, 100, -50, -100, -99.999, 900].map(toSemitones)).toEqual([0, 12, -12, -20, -20, 20]);
  });
});

test("a transcript counts its speakers by their names, and leaves out pieces without one", () => {
  const piece = (text: string, speaker: string | number | null) => {
    return { text, start: "1.5", end: null, speaker, confidence: 2 };
  };
  const pieces = [piece("a", "spk_10"), piece("b", "spk_2"), piece("c", null), piece("d", "spk_10")];
  const { output, units } = toTranscript("a b c d", pieces, 3);
  expect(output.diarization).toMatchObject({
    total_speakers: 2,
    entries: [
      { segment: "a", speaker: 2, start_time: "1.5", end_time: null, confidence: 1 },
      { segment: "b", speaker: 1 },
      { segment: "d", speaker: 2 },
    ],
  });
  expect(units).toEqual({ request: 1, file: 1, second: 3 });
  expect(toTranscript("", [], null).units).toEqual({ request: 1, file: 1 });
  const vocabulary = (words: unknown) =>
    vocabularyOf(callOf({ input: { vocabulary: words } }) as Parameters<typeof vocabularyOf>[0]);
  expect([vocabulary(["a", "", "b"]), vocabulary(null)]).toEqual([["a", "b"], []]);
});

describe("images", () => {
  const png = { bytes: Buffer.from("x"), mediaType: "image/png" };

  test("are numbered, and billed one by one", () => {
    expect(toImages([png, png], { token: 5 })).toMatchObject({
      units: { image: 2, request: 1, token: 5 },
      binaries: [{ base64Path: ["items", 0, "image"] }, { urlPath: ["items", 1, "image_resource_url"] }],
    });
    expect(() => toImages([])).toThrow("no image");
    expect(() => toCutOut({ ...png, bytes: new Uint8Array() })).toThrow("no image");
    expect(fromCutOut({ ...png, mediaType: "" }).binaries).toMatchObject([{ mediaType: "image/png" }]);
    expect(fromCutOut({ ...png, mediaType: "image/webp" }).binaries).toMatchObject([{ mediaType: "image/webp" }]);
  });

  test("for reference are in the order of their numbers", () => {
    const named = (name: string) => fileOf(Buffer.from("x"), "image/png", name);
    const files = { "reference_images.10": named("ten"), file: named("no"), "reference_images.2": named("two") };
    expect(referenceImagesOf(callOf({ files })).map(({ name }) => name)).toEqual(["two", "ten"]);
  });

  test("have a size in pixels, or a ratio that the model knows", () => {
    const size = (resolution: unknown) => sizeOf(callOf({ input: { resolution } }));
    expect([size("1024x768"), size("auto"), size(null)]).toEqual([{ width: 1_024, height: 768 }, null, null]);
    const ratios = ["1:1", "16:9", "9:16"];
    expect(["1344x768", "768x1344", "1024x1024", "16:9"].map((one) => findRatio(one, ratios))).toEqual([
      "16:9",
      "9:16",
      "1:1",
      "16:9",
    ]);
    expect(problemsOf(() => findRatio("1000x100", ratios))).toMatchObject([{ loc: ["body", "input", "resolution"] }]);
    expect(problemsOf(() => findRatio("4:3", ratios))[0]?.msg).toContain("1:1, 16:9, 9:16");
  });
});

describe("a video", () => {
  test("has each label once, with its highest confidence and its times", () => {
    const seen = (name: string, confidence: number, start: number, end: number) => ({ name, confidence, start, end });
    const { labels } = toLabels([
      seen("cat", 0.5, 4, 5),
      { ...seen("dog", 0.9, 0, 1.000_4), categories: ["Animal"] },
      { ...seen("cat", 0.7, 0, 2), categories: ["Pet"] },
      { ...seen("cat", 0.6, 2, 3), categories: ["Pet"] },
      seen("cat", 0.6, 2.5, 2.6),
    ]);
    expect(labels).toEqual([
      { name: "dog", confidence: 0.9, timestamp: [{ start: 0, end: 1 }], category: ["Animal"], bounding_box: [] },
      {
        name: "cat",
        confidence: 0.7,
        timestamp: [
          { start: 0, end: 3 },
          { start: 4, end: 5 },
        ],
        category: ["Pet"],
        bounding_box: [],
      },
    ]);
  });

  test("has each text once, with its frames in the order of time", () => {
    const seen = (text: string, time: number) => ({ text, time, confidence: 1.5, box: null });
    const bounding_box = { left: null, top: null, width: null, height: null };
    expect(toVideoTexts([seen("a", 2), seen("b", 0), seen("a", 1.000_4)]).texts).toEqual([
      { text: "a", frames: [1, 2].map((timestamp) => ({ confidence: 1, timestamp, bounding_box })) },
      { text: "b", frames: [{ confidence: 1, timestamp: 0, bounding_box }] },
    ]);
    expect(toShots([{ start: 0.000_4, end: 1.234_5 }])).toEqual({
      shotAnnotations: [{ startTimeOffset: 0, endTimeOffset: 1.235 }],
    });
  });

  test("is billed by its length where that is known", () => {
    expect([videoUnits(90), videoUnits(null)]).toEqual([
      { request: 1, file: 1, second: 90, minute: 1.5 },
      { request: 1, file: 1 },
    ]);
    expect(toVideo(Buffer.from("x"), "video/mp4", 5).units).toEqual({ request: 1, second: 5 });
    expect(toVideo(Buffer.from("x"), "video/mp4", null).units).toEqual({ request: 1 });
    expect(() => toVideo(new Uint8Array(), "video/mp4", 5)).toThrow("no video");
  });
});

test("parts of a face without a name or a value are left out", () => {
  expect(
    byName({ EYE: "eye", NOSE: "nose" }, [
      ["EYE", 1],
      ["NOSE", null],
      ["EAR", 2],
    ]),
  ).toEqual({ eye: 1 });
});
