// What vendors find in videos, over real HTTP: uploaded, begun, asked for and mapped, each step by an engine of its own. The forms of the answers
// are documented by the vendors; their values are invented.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import { amazon } from "../../src/providers/amazon/index.ts";
import { google } from "../../src/providers/google/index.ts";
import { sightengine } from "../../src/providers/sightengine/index.ts";
import { cornersOf } from "../support/corners.ts";
import { failureOf, jobId, pathsOf, runJob } from "./vendors-jobs/job.ts";
import { type Answer, document, fileOf, key, type Seen } from "./vendors-others/ask.ts";

const clip = fileOf("clip.mp4", "video/mp4", Buffer.from("....ftypisom clip"));
const watched = (task: string, more: object = {}) => ({
  task: `video/${task}_async`,
  input: { file: "u", ...more },
  files: { file: clip },
});
const stored = { bytes: Buffer.alloc(0), mediaType: "application/xml" };
const targetOf = ({ headers }: Seen) => headers.get("x-amz-target");

describe("amazon", () => {
  const begun = { json: { JobId: "job-7" } };
  const running = { json: { JobStatus: "IN_PROGRESS" } };
  const done = (more: object) => ({
    json: { JobStatus: "SUCCEEDED", VideoMetadata: { DurationMillis: 90_000 }, ...more },
  });

  const watch = (task: string, answers: readonly Answer[], more: object = {}) =>
    runJob({ row: amazon, ...watched(task, more), answers: [stored, begun, ...answers, stored] });

  test("reads the video from the operator's bucket, page after page, and deletes it there", async () => {
    const seen = (Name: string, from: number, to: number, Confidence: number) => ({
      Label: { Name, Confidence, Categories: [{ Name: "Animals" }] },
      StartTimestampMillis: from,
      EndTimestampMillis: to,
    });
    const found = await watch("label_detection", [
      running,
      done({ Labels: [seen("Fox", 0, 1_500, 80), seen("Dog", 200, 900, 60)], NextToken: "more" }),
      done({ Labels: [seen("Fox", 1_000, 4_000, 95), seen("Fox", 8_000, 9_000, 70)] }),
    ]);
    expect(pathsOf(found.seen)).toEqual([
      `PUT /files/switchyard/${jobId}/input`,
      ...Array(4).fill("POST /"),
      `DELETE /files/switchyard/${jobId}/input`,
    ]);
    expect(found.seen.slice(1, 5).map(targetOf)).toEqual([
      "RekognitionService.StartLabelDetection",
      ...Array(3).fill("RekognitionService.GetLabelDetection"),
    ]);
    expect(found.seen[1]?.json).toEqual({
      Video: { S3Object: { Bucket: "files", Name: `switchyard/${jobId}/input` } },
      ClientRequestToken: jobId,
    });
    expect(found.seen[4]?.json).toMatchObject({ JobId: "job-7", NextToken: "more", AggregateBy: "SEGMENTS" });
    expect(found.seen[1]?.headers.get("authorization")).toContain("/eu-west-1/rekognition/aws4_request");
    expect(found.output).toEqual({
      labels: [
        {
          name: "Fox",
          confidence: 0.95,
          timestamp: [
            { start: 0, end: 4 },
            { start: 8, end: 9 },
          ],
          category: ["Animals"],
          bounding_box: [],
        },
        {
          ...{ name: "Dog", confidence: 0.6, timestamp: [{ start: 0.2, end: 0.9 }], category: ["Animals"] },
          bounding_box: [],
        },
      ],
    });
    expect(found.answer.units).toMatchObject({ second: 90, minute: 1.5 });
  });

  test("reports shots, texts and explicit content in seconds", async () => {
    const shots = await watch("shot_change_detection", [
      done({
        VideoMetadata: [{ DurationMillis: 3_000 }],
        Segments: [
          { Type: "SHOT", StartTimestampMillis: 0, EndTimestampMillis: 1_040, ShotSegment: { Index: 0 } },
          { Type: "TECHNICAL_CUE", StartTimestampMillis: 0, EndTimestampMillis: 5 },
          { Type: "SHOT", StartTimestampMillis: 1_080, EndTimestampMillis: 3_000, ShotSegment: { Index: 1 } },
        ],
      }),
    ]);
    expect(shots.seen[1]?.json).toMatchObject({ SegmentTypes: ["SHOT"] });
    expect(shots.answer.units).toMatchObject({ second: 3 });
    expect(shots.output).toEqual({
      shotAnnotations: [
        { startTimeOffset: 0, endTimeOffset: 1.04 },
        { startTimeOffset: 1.08, endTimeOffset: 3 },
      ],
    });
    const line = (Timestamp: unknown, DetectedText: string, Type = "LINE") => ({
      Timestamp,
      TextDetection: {
        ...{ DetectedText, Type, Confidence: 99 },
        Geometry: { BoundingBox: { Left: 0.1, Top: 0.2, Width: 0.3, Height: 0.4 } },
      },
    });
    const texts = await watch(
      "text_detection",
      [done({ TextDetections: [line(500, "EXIT"), line(0, "EXIT"), line(0, "EX", "WORD"), line(undefined, "LOST")] })],
      { language: "en" },
    );
    const box = { left: 0.1, top: 0.2, width: 0.3, height: 0.4 };
    expect(texts.output).toEqual({
      texts: [
        {
          text: "EXIT",
          frames: [
            { confidence: 0.99, timestamp: 0, bounding_box: box },
            { confidence: 0.99, timestamp: 0.5, bounding_box: box },
          ],
        },
      ],
    });
    const label = (Timestamp: number, more: object) => ({ Timestamp, ModerationLabel: { Confidence: 80, ...more } });
    const explicit = await watch("explicit_content_detection", [
      done({
        ModerationLabels: [
          label(1_500, { Name: "Blood", ParentName: "Violence" }),
          label(2_000, { Name: "Violence", ParentName: "" }),
        ],
      }),
    ]);
    expect(explicit.output).toEqual({
      moderation: [
        { timestamp: 1.5, confidence: 0.8, category: "Violence" },
        { timestamp: 2, confidence: 0.8, category: "Violence" },
      ],
    });
  });

  test("says why a video could not be analysed, and deletes it from the bucket all the same", async () => {
    const seen: string[] = [];
    const note = ({ method, url }: Seen) => {
      seen.push(`${method} ${url.pathname}`);
      return stored;
    };
    const failed = { json: { JobStatus: "FAILED", StatusMessage: "Unsupported codec" } };
    const job = { row: amazon, ...watched("label_detection"), answers: [stored, begun, failed, note] };
    const failure = await failureOf(job);
    expect(failure.code).toBe("provider_rejected_request");
    expect(failure.message).toEndWith("Unsupported codec");
    expect(seen).toEqual([`DELETE /files/switchyard/${jobId}/input`]);
    const throttled = { status: 400, json: { __type: "LimitExceededException", Message: "too many jobs" } };
    const limited = await failureOf({ ...job, answers: [stored, throttled, stored] });
    expect(limited.code).toBe("provider_rate_limited");
    const refused = runJob({ ...job, files: { file: document }, answers: [] });
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
  });
});

describe("google", () => {
  const name = "projects/1/locations/europe-west1/operations/9";
  const done = (results: object) => ({
    json: {
      name,
      done: true,
      response: { annotationResults: [{ segment: { startTimeOffset: "0s", endTimeOffset: "12.5s" }, ...results }] },
    },
  });
  const running = { json: { name, metadata: { annotationProgress: [{ progressPercent: 40 }] } } };

  test("reads the video from the operator's bucket and reports its progress", async () => {
    const segments = (start: string | undefined, end: string) => [
      { segment: { startTimeOffset: start, endTimeOffset: end }, confidence: 0.7 },
    ];
    const found = await runJob({
      row: google,
      ...watched("label_detection"),
      answers: [
        { json: { name: `switchyard/${jobId}/input` } },
        { json: { name } },
        running,
        done({
          segmentLabelAnnotations: [
            { entity: { description: "fox" }, segments: segments("0s", "12.5s") },
            { entity: { description: "forest" }, segments: segments(undefined, "12.5s") },
          ],
          shotLabelAnnotations: [
            {
              entity: { description: "fox" },
              categoryEntities: [{ description: "animal" }],
              segments: segments("1.040s", "3.4s"),
            },
          ],
        }),
        stored,
      ],
    });
    expect(pathsOf(found.seen)).toEqual([
      `POST /upload/storage/v1/b/files/o?uploadType=media&name=${encodeURIComponent(`switchyard/${jobId}/input`)}`,
      "POST /v1/videos:annotate",
      `GET /v1/${name}`,
      `GET /v1/${name}`,
      `DELETE /storage/v1/b/files/o/${encodeURIComponent(`switchyard/${jobId}/input`)}`,
    ]);
    expect(found.seen[1]?.json).toEqual({
      inputUri: `gs://files/switchyard/${jobId}/input`,
      features: ["LABEL_DETECTION"],
    });
    expect(found.waits[1]?.progress).toBe(0.4);
    expect(found.output["labels"]).toEqual([
      {
        ...{ name: "fox", confidence: 0.7, timestamp: [{ start: 1.04, end: 3.4 }], category: ["animal"] },
        bounding_box: [],
      },
      { name: "forest", confidence: 0.7, timestamp: [{ start: 0, end: 12.5 }], category: [], bounding_box: [] },
    ]);
    expect(found.answer.units).toMatchObject({ second: 12.5 });
  });

  test("reports shots, texts and explicit content in seconds", async () => {
    const watch = (task: string, answers: readonly Answer[], more: object = {}) =>
      runJob({ row: google, ...watched(task, more), answers: [{ json: {} }, { json: { name } }, ...answers, stored] });
    const shots = await watch("shot_change_detection", [
      done({ shotAnnotations: [{ endTimeOffset: "1s" }, { startTimeOffset: "1.040s", endTimeOffset: "3.4s" }] }),
    ]);
    expect(shots.output).toEqual({
      shotAnnotations: [
        { startTimeOffset: 0, endTimeOffset: 1 },
        { startTimeOffset: 1.04, endTimeOffset: 3.4 },
      ],
    });
    const vertices = cornersOf({ left: 0.1, top: 0.2, right: 0.4, bottom: 0.5 });
    const frames = [{ timeOffset: "0.5s", rotatedBoundingBox: { vertices } }, { rotatedBoundingBox: {} }];
    const texts = await watch(
      "text_detection",
      [done({ textAnnotations: [{ text: "HALT", segments: [{ confidence: 0.9, frames }] }] })],
      { language: "de" },
    );
    expect(texts.seen[1]?.json).toMatchObject({
      features: ["TEXT_DETECTION"],
      videoContext: { textDetectionConfig: { languageHints: ["de"] } },
    });
    expect(texts.output).toEqual({
      texts: [
        {
          text: "HALT",
          frames: [
            { confidence: 0.9, timestamp: 0, bounding_box: { left: null, top: null, width: null, height: null } },
            { confidence: 0.9, timestamp: 0.5, bounding_box: { left: 0.1, top: 0.2, width: 0.3, height: 0.3 } },
          ],
        },
      ],
    });
    const explicit = await watch("explicit_content_detection", [
      done({
        explicitAnnotation: {
          frames: [
            { timeOffset: "0.42s", pornographyLikelihood: "POSSIBLE" },
            { timeOffset: "1.26s", pornographyLikelihood: "LIKELIHOOD_UNSPECIFIED" },
          ],
        },
      }),
    ]);
    expect(explicit.output).toEqual({
      moderation: [{ timestamp: 0.42, confidence: 0.6, category: "Explicit Nudity" }],
    });
  });

  test("says why a video could not be analysed", async () => {
    const failed = { json: { name, done: true, error: { code: 3, message: "Calling GetVideoMetadata failed." } } };
    const job = { row: google, ...watched("label_detection") };
    const failure = await failureOf({ ...job, answers: [{ json: {} }, { json: { name } }, failed, stored] });
    expect(failure.code).toBe("provider_rejected_request");
    expect(failure.message).toEndWith("Calling GetVideoMetadata failed.");
    const inside = done({ error: { code: 8, message: "Quota exceeded" } });
    const limited = await failureOf({ ...job, answers: [{ json: {} }, { json: { name } }, inside, stored] });
    expect(limited.code).toBe("provider_rate_limited");
  });

  test("answers questions about a video that Gemini receives with the request", async () => {
    const asked = { row: google, ...watched("question_answer", { text: "Who runs?", temperature: 0, max_tokens: 50 }) };
    const answered = {
      json: {
        candidates: [
          {
            finishReason: "STOP",
            content: { parts: [{ thought: true, text: "Hm." }, { text: "A fox " }, { text: "runs." }] },
          },
        ],
        usageMetadata: { totalTokenCount: 321 },
      },
    };
    const { output, seen, answer } = await runJob({ ...asked, answers: [answered] });
    expect(output).toEqual({ answer: "A fox runs.", finish_reason: "STOP" });
    expect(answer.units).toMatchObject({ token: 321 });
    expect(seen[0]?.url.pathname).toBe("/v1beta/models/gemini-3.8-flash:generateContent");
    expect(seen[0]?.json).toEqual({
      contents: [
        {
          role: "user",
          parts: [
            { inlineData: { mimeType: "video/mp4", data: Buffer.from(await clip.read()).toString("base64") } },
            { text: "Who runs?" },
          ],
        },
      ],
      generationConfig: { temperature: 0, maxOutputTokens: 50 },
    });
    const blocked = { json: { promptFeedback: { blockReason: "SAFETY" } } };
    expect((await failureOf({ ...asked, answers: [blocked] })).message).toEndWith("SAFETY");
  });
});

describe("sightengine", () => {
  const settings = { SIGHTENGINE_API_USER: "user-7" };
  const begun = { json: { status: "success", request: { id: "req_1" }, media: { id: "med_1", uri: "clip.mp4" } } };
  const result = (data: object) => ({ json: { status: "success", output: { media: { id: "med_1" }, data } } });

  test("scores every frame of a video of any length", async () => {
    const found = await runJob({
      row: sightengine,
      settings,
      ...watched("deepfake_detection"),
      answers: [
        begun,
        result({ status: "ongoing", progress: 0.5 }),
        result({
          status: "finished",
          progress: 1,
          frames: [
            { info: { id: "med_1_0", position: 0 }, type: { deepfake: 0.9 } },
            { info: { id: "med_1_1", position: 1_500 }, type: { deepfake: 0.4 } },
            { info: { id: "med_1_2", position: 2_000 }, type: {} },
          ],
        }),
      ],
    });
    expect(found.seen[0]?.url.pathname).toBe("/1.0/video/check.json");
    expect(found.seen[0]?.form).toMatchObject({ models: "deepfake", api_user: "user-7", api_secret: key });
    // The credentials of a request without a body are in its query, as the vendor documents it.
    expect(found.seen[1]?.method).toBe("GET");
    expect(Object.fromEntries(found.seen[1]?.url.searchParams ?? [])).toEqual({
      ...{ id: "med_1", api_user: "user-7", api_secret: key },
    });
    expect(JSON.stringify(found.waits)).not.toContain(key);
    expect(found.waits[1]?.progress).toBe(0.5);
    expect(found.output).toEqual({
      average_score: 0.65,
      prediction: "deepfake",
      details_per_frame: [
        { position: 0, score: 0.9, prediction: "deepfake" },
        { position: 1.5, score: 0.4, prediction: "original" },
      ],
    });
    expect(found.answer.units).toMatchObject({ second: 2 });
  });

  test("lists what is explicit in each frame", async () => {
    const frames = [
      { info: { position: 500 }, nudity: { sexual_activity: 0.8, suggestive: 0.01 }, gore: { prob: 0.05 } },
      { info: { position: 1_000 }, weapon: { classes: { firearm: 0.9 } } },
    ];
    const answers = [begun, result({ status: "finished", frames })];
    const { output } = await runJob({ row: sightengine, settings, ...watched("explicit_content_detection"), answers });
    expect(output).toEqual({
      moderation: [
        { timestamp: 0.5, confidence: 0.8, category: "SexualActivity" },
        { timestamp: 1, confidence: 0.9, category: "WeaponViolence" },
      ],
    });
  });

  test("says why a video could not be scored", async () => {
    const job = { row: sightengine, settings, ...watched("deepfake_detection") };
    const unread = { json: { status: "failure", error: { type: "media_error", message: "Unable to read the video" } } };
    expect((await failureOf({ ...job, answers: [unread] })).message).toEndWith("Unable to read the video");
    const stopped = await failureOf({ ...job, answers: [begun, result({ status: "failure" })] });
    expect(stopped.code).toBe("provider_rejected_request");
    const empty = await failureOf({ ...job, answers: [begun, result({ status: "finished", frames: [] })] });
    expect(empty.code).toBe("provider_bad_response");
  });
});
