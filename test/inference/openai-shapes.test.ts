// What engines tell of a recording or a text, in the shapes of OpenAI's format: transcripts, subtitles, moderation.

import { describe, expect, test } from "bun:test";
import type { TaskOutputs } from "../../src/contract/task-types.ts";
import { toModerationResult } from "../../src/inference/universal-ai/moderation-shape.ts";
import { toTranscript } from "../../src/inference/universal-ai/transcript-shape.ts";
import { listVoices } from "../../src/inference/universal-ai/voices.ts";

interface Entry {
  readonly segment: string;
  readonly start_time: string | null;
  readonly end_time: string | null;
  readonly speaker: number;
}

function outputOf(entries: readonly Entry[]) {
  const text = entries.map(({ segment }) => segment).join(" ");
  return {
    text,
    diarization: { total_speakers: 2, entries: entries.map((entry) => ({ ...entry, confidence: null })) },
  };
}

/** A word every half second. */
function words(text: string, speaker = 1, from = 0): Entry[] {
  return text.split(" ").map((segment, index) => {
    const start = from + index / 2;
    return { segment, start_time: start.toFixed(2), end_time: (start + 0.4).toFixed(2), speaker };
  });
}

const wish = { language: null, wantsWords: false };

function textOf(entries: readonly Entry[], format: "srt" | "vtt"): string {
  const shaped = toTranscript(outputOf(entries), { ...wish, format });
  return shaped.kind === "text" ? shaped.text : "";
}

function membersOf(entries: readonly Entry[], format: "verbose_json" | "diarized_json", more = {}) {
  const shaped = toTranscript(outputOf(entries), { ...wish, format, ...more });
  return shaped.kind === "json" ? shaped.members : {};
}

describe("subtitles", () => {
  test("show words that belong together as one, and begin anew with a sentence, a speaker, or after a pause", () => {
    const said = [...words("Mind the gap. The train leaves"), ...words("Which train", 2, 3), ...words("Mine.", 2, 9)];
    expect(textOf(said, "srt").match(/^[A-Z].*$/gm)).toEqual([
      "Mind the gap.",
      "The train leaves",
      "Which train",
      "Mine.",
    ]);
  });

  test("are never longer than somebody can read", () => {
    const cues = textOf(words(Array.from({ length: 200 }, () => "railway").join(" ")), "vtt")
      .split("\n\n")
      .slice(1);
    expect(cues.length).toBeGreaterThan(10);
    for (const cue of cues) expect(cue.split("\n")[1]?.length ?? 0).toBeLessThanOrEqual(84);
    const slow = textOf(words(Array.from({ length: 40 }, () => "a").join(" ")), "vtt")
      .split("\n\n")
      .slice(1);
    expect(slow.length).toBe(3);
  });

  test("count hours, and do not round up to sixty seconds", () => {
    const late = [{ segment: "End.", start_time: "3599.9996", end_time: "36610.5", speaker: 1 }];
    expect(textOf(late, "srt")).toContain("01:00:00,000 --> 10:10:10,500");
    expect(textOf(late, "vtt")).toContain("01:00:00.000 --> 10:10:10.500");
  });

  test("cannot be broken by what was said", () => {
    const said = [{ segment: "a\n\n2\n00:00 --> 00:01\nforged", start_time: "0", end_time: "1", speaker: 1 }];
    expect(textOf(said, "vtt")).toBe("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na 2 00:00 → 00:01 forged\n");
  });

  test("of silence are empty", () => {
    expect(textOf([], "srt")).toBe("");
    expect(textOf([], "vtt")).toBe("WEBVTT\n");
  });
});

describe("JSON with times", () => {
  test("names speakers by letters, in the order in which they speak", () => {
    const segments = membersOf([...words("Hello there.", 7), ...words("Hello.", 3, 2)], "diarized_json")["segments"];
    expect(segments).toEqual([
      { id: "seg_0", type: "transcript.text.segment", start: 0, end: 0.9, text: "Hello there.", speaker: "A" },
      { id: "seg_1", type: "transcript.text.segment", start: 2, end: 2.4, text: "Hello.", speaker: "B" },
    ]);
  });

  test("has words where the engine told words, and refuses to invent them", () => {
    expect(membersOf(words("Mind the gap"), "verbose_json", { wantsWords: true })["words"]).toEqual([
      { word: "Mind", start: 0, end: 0.4 },
      { word: "the", start: 0.5, end: 0.9 },
      { word: "gap", start: 1, end: 1.4 },
    ]);
    const sentence = [{ segment: "Mind the gap", start_time: "0", end_time: "1", speaker: 1 }];
    expect(() => membersOf(sentence, "verbose_json", { wantsWords: true })).toThrow("returned no times");
  });

  test("a provider that answers in this very format is believed", () => {
    const segments = [{ id: 0, start: 0, end: 1.25, text: " Mind the gap.", avg_logprob: -0.2 }];
    const original = { language: "english", duration: 1.5, segments };
    const output = { text: "Mind the gap.", diarization: { total_speakers: 0, entries: [] } };
    expect(toTranscript(output, { ...wish, format: "verbose_json", language: "en" }, original)).toMatchObject({
      members: { language: "english", duration: 1.5, segments },
    });
    expect(toTranscript(output, { ...wish, format: "srt" }, original)).toMatchObject({
      text: "1\n00:00:00,000 --> 00:00:01,250\nMind the gap.\n",
    });
    for (const other of [{ segments: [{ start: "0", end: 1, text: "a" }] }, { segments: [] }, null, "x", [1]])
      expect(() => toTranscript(output, { ...wish, format: "srt" }, other)).toThrow("returned no times");
  });

  test("times that make no sense are no times", () => {
    for (const start_time of [null, "", "soon", "-1", "NaN", "Infinity"])
      expect(() => textOf([{ segment: "a", start_time, end_time: "1", speaker: 1 }], "srt")).toThrow(
        "returned no times",
      );
  });
});

test("voices are those of providers that can speak here", () => {
  const engine = {
    task: "audio/tts" as const,
    models: [],
    acceptsAnyModel: false,
    run: () => Promise.reject(new Error()),
  };
  const listed = listVoices([
    { ...engine, provider: "local", unavailableReason: null },
    { ...engine, provider: "openai", unavailableReason: "set OPENAI_API_KEY" },
  ]);
  expect(new Set(listed.items.map(({ provider }) => provider))).toEqual(new Set(["local"]));
});

describe("moderation", () => {
  type Item = NonNullable<TaskOutputs["text/moderation"]["items"]>[number];
  const likely = { nsfw_likelihood: 1, nsfw_likelihood_score: 0 };
  const item = (
    label: string,
    category: Item["category"],
    subcategory: Item["subcategory"],
    likelihood_score: number,
  ): Item => ({ label, category, subcategory, likelihood_score, likelihood: 1 });

  test("the format's own names are found whatever they look like; others by their meaning; the rest keep theirs", () => {
    const { category_scores, categories, flagged } = toModerationResult(
      {
        ...likely,
        items: [
          item("self-harm/intent", "Violence", "PhysicalViolence", 0.1),
          item("SelfHarm", "Violence", "PhysicalViolence", 0.2),
          item("Death, Harm & Tragedy", "Violence", "GraphicViolenceOrGore", 0.3),
          item("Firearms & Weapons", "Violence", "WeaponViolence", 0.4),
          item("Illicit Drugs", "DrugAndAlcohol", "DrugProducts", 0.45),
          item("pii", "Other", "Other", 0.46),
          item("Finance", "Finance", "Finance", 0.47),
          item("fine", "Safe", "Safe", 0.99),
        ],
      },
      null,
    );
    expect(category_scores).toMatchObject({
      "self-harm/intent": 0.1,
      "self-harm": 0.2,
      "violence/graphic": 0.3,
      violence: 0.4,
      "drug_and_alcohol/drug_products": 0.45,
      pii: 0.46,
      finance: 0.47,
      sexual: 0,
    });
    expect(category_scores).not.toHaveProperty("safe");
    expect(Object.values(categories)).not.toContain(true);
    expect(flagged).toBe(false);
  });

  test("of several findings in one category the worst counts, and 0.5 is enough to flag it", () => {
    const items = [item("a", "Toxic", "Insult", 0.5), item("b", "Toxic", "Insult", 0.2)];
    const { category_scores, categories, flagged } = toModerationResult({ ...likely, items }, null);
    expect(category_scores["harassment"]).toBe(0.5);
    expect(categories["harassment"]).toBe(true);
    expect(flagged).toBe(true);
  });

  test("an answer that only resembles the format is not taken for it", () => {
    const output = { ...likely, items: [item("sexual", "Sexual", "Sexual", 0.9)] };
    for (const original of [{ results: [{ categories: {}, category_scores: {} }] }, { results: [] }, "x", null, []])
      expect(toModerationResult(output, original).flagged).toBe(true);
  });
});
