// Clips that vendors make, over real HTTP: begun, asked for, and mapped, each step by an engine of its own. Answers are small and say where
// they come from: `documented` follows an example of the vendor's reference, `invented` has its form with values of ours.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import { amazon } from "../../src/providers/amazon/index.ts";
import { google } from "../../src/providers/google/index.ts";
import { minimax } from "../../src/providers/minimax/index.ts";
import { failureOf, type Job, jobId, pathsOf, runJob } from "./vendors-jobs/job.ts";
import { image, key } from "./vendors-others/ask.ts";

const clip = { bytes: Buffer.from("....ftypisom"), mediaType: "video/mp4" };
const made = clip.bytes.toString("base64");
const filmed = (more: object = {}) => ({ task: "video/generation_async", input: { text: "A fox", ...more } });

describe("videos", () => {
  test("google's clip is fetched with the key from the operator's address, and without it from anywhere else", async () => {
    const { output, seen, answer } = await runJob({
      row: google,
      ...filmed({ duration: 6, dimension: "720x1280" }),
      files: { file: image },
      answers: [
        { json: { name: "models/veo-3.1-generate-preview/operations/7" } },
        { json: { name: "models/veo-3.1-generate-preview/operations/7" } },
        // documented: the form; values invented
        {
          json: {
            done: true,
            response: {
              generateVideoResponse: {
                generatedSamples: [{ video: { uri: "https://elsewhere.example/v1beta/files/f1:download?alt=media" } }],
              },
            },
          },
        },
        ({ url }) => ({ status: 302, json: {}, headers: { location: `${url.origin}/stored/clip` } }),
        clip,
      ],
    });
    expect(pathsOf(seen)).toEqual([
      "POST /v1beta/models/veo-3.1-generate-preview:predictLongRunning",
      "GET /v1beta/models/veo-3.1-generate-preview/operations/7",
      "GET /v1beta/models/veo-3.1-generate-preview/operations/7",
      "GET /v1beta/files/f1:download?alt=media",
      "GET /stored/clip",
    ]);
    expect(seen[0]?.json).toMatchObject({
      instances: [{ prompt: "A fox", image: { mimeType: "image/png" } }],
      parameters: { aspectRatio: "9:16", resolution: "720p", durationSeconds: 6 },
    });
    expect(JSON.stringify([...(seen[4]?.headers ?? [])])).not.toContain(key);
    expect(output["video"]).toBe(made);
    expect(answer.units).toMatchObject({ second: 6 });
  });

  test("google's refusal to return its result is reported", async () => {
    const response = {
      generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["It shows a child."] },
    };
    const answers = [{ json: { name: "models/veo/operations/7" } }, { json: { done: true, response } }];
    expect((await failureOf({ row: google, ...filmed(), answers })).message).toEndWith("It shows a child.");
  });

  test("minimax's clip is requested, looked up and fetched from its address", async () => {
    const fine = { base_resp: { status_code: 0, status_msg: "success" } };
    const { output, seen } = await runJob({
      row: minimax,
      ...filmed({ duration: 6, dimension: "1920x1080" }),
      files: { file: image },
      answers: [
        { json: { task_id: "t1", ...fine } },
        { json: { task_id: "t1", status: "Processing", ...fine } },
        { json: { task_id: "t1", status: "Success", file_id: "f1", ...fine } },
        ({ url }) => ({ json: { file: { file_id: "f1", download_url: `${url.origin}/kept.mp4` }, ...fine } }),
        clip,
      ],
    });
    expect(pathsOf(seen)).toEqual([
      "POST /video_generation",
      "GET /query/video_generation?task_id=t1",
      "GET /query/video_generation?task_id=t1",
      "GET /files/retrieve?file_id=f1",
      "GET /kept.mp4",
    ]);
    expect(seen[0]?.json).toMatchObject({
      model: "MiniMax-Hailuo-02",
      prompt: "A fox",
      duration: 6,
      resolution: "1080P",
    });
    expect(String(seen[0]?.json["first_frame_image"])).toStartWith("data:image/png;base64,");
    expect(seen[4]?.headers.get("authorization")).toBeNull();
    expect(output["video"]).toBe(made);
  });

  /** What minimax is sent for a clip, or the member of the input that is refused. */
  async function minimaxRequest(model: string, input: object, files: Job["files"] = {}) {
    const fine = { base_resp: { status_code: 0, status_msg: "success" } };
    const answers: Job["answers"] = [
      { json: { task_id: "t1", status: "Success", file_id: "f1", ...fine } },
      ({ url }) => ({ json: { file: { file_id: "f1", download_url: `${url.origin}/kept.mp4` }, ...fine } }),
      clip,
    ];
    try {
      return (await runJob({ row: minimax, ...filmed(input), model, files, answers })).seen[0]?.json;
    } catch (error) {
      return error instanceof ValidationError ? error.problems[0].loc.at(-1) : error;
    }
  }

  test("minimax's S2V-01 shows the person of the image, which is no frame of the clip", async () => {
    const files = { file: image };
    expect(await minimaxRequest("S2V-01", { duration: 6, dimension: "1280x720" }, files)).toEqual({
      model: "S2V-01",
      prompt: "A fox",
      subject_reference: [{ type: "character", image: [expect.stringMatching(/^data:image\/png;base64,/)] }],
    });
    expect(await minimaxRequest("S2V-01", {})).toBe("file");
    expect(await minimaxRequest("S2V-01", { duration: 10 }, files)).toBe("duration");
    expect(await minimaxRequest("S2V-01", { dimension: "1920x1080" }, files)).toBe("dimension");
  });

  test.each([
    ["MiniMax-Hailuo-02", "1366x768", "768P"],
    ["MiniMax-Hailuo-02", "1920x1080", "1080P"],
    ["MiniMax-Hailuo-2.3", "1920x1080", "1080P"],
    ["T2V-01-Director", "1280x720", "720P"],
    ["MiniMax-of-tomorrow", "1280x720", "720P"],
  ])("minimax's %s creates %s as %s", async (model, dimension, resolution) => {
    expect(await minimaxRequest(model, { dimension })).toEqual({ model, prompt: "A fox", resolution });
  });

  test.each([
    ["MiniMax-Hailuo-02", "1280x720"],
    ["MiniMax-Hailuo-2.3", "1280x720"],
    ["T2V-01-Director", "1920x1080"],
  ])("minimax's %s does not create %s", async (model, dimension) => {
    expect(await minimaxRequest(model, { dimension })).toBe("dimension");
  });

  test("minimax's failures stand inside of good answers", async () => {
    const limited = { json: { base_resp: { status_code: 1002, status_msg: "rate limit" } } };
    expect((await failureOf({ row: minimax, ...filmed(), answers: [limited] })).code).toBe("provider_rate_limited");
    const failed = { json: { status: "Fail", base_resp: { status_code: 0 } } };
    const answers = [{ json: { task_id: "t1" } }, failed];
    expect((await failureOf({ row: minimax, ...filmed(), answers })).code).toBe("provider_rejected_request");
  });

  test("amazon's clip is fetched from the operator's bucket, and the same job begins one invocation", async () => {
    const arn = "arn:aws:bedrock:eu-west-1:1:async-invoke/abc";
    const answers = [
      { json: { invocationArn: arn } },
      { json: { invocationArn: arn, status: "InProgress" } },
      { json: { invocationArn: arn, status: "Completed" } },
      clip,
    ];
    const { output, seen } = await runJob({ row: amazon, ...filmed({ seed: 3 }), answers });
    expect(pathsOf(seen)).toEqual([
      "POST /async-invoke",
      `GET /async-invoke/${encodeURIComponent(arn)}`,
      `GET /async-invoke/${encodeURIComponent(arn)}`,
      `GET /files/switchyard/${jobId}/abc/output.mp4`,
    ]);
    expect(seen[0]?.json).toMatchObject({
      clientRequestToken: jobId,
      modelInput: {
        taskType: "TEXT_VIDEO",
        videoGenerationConfig: { durationSeconds: 6, dimension: "1280x720", seed: 3 },
      },
      outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://files/switchyard/${jobId}` } },
    });
    expect(seen[0]?.headers.get("authorization")).toContain("/eu-west-1/bedrock/aws4_request");
    expect(output["video"]).toBe(made);
    const failed = { json: { status: "Failed", failureMessage: "no way" } };
    const failure = await failureOf({ row: amazon, ...filmed(), answers: [{ json: { invocationArn: arn } }, failed] });
    expect(failure.message).toEndWith("no way");
    const refused = runJob({ row: amazon, ...filmed({ duration: 7 }), answers: [] });
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
  });

  test("a clip that is said to lie inside of the operator's network is not fetched", async () => {
    const answers = [
      { json: { task_id: "t1" } },
      { json: { status: "Success", file_id: "f1" } },
      { json: { file: { download_url: "http://169.254.169.254/latest/meta-data" } } },
    ];
    expect((await failureOf({ row: minimax, ...filmed(), answers })).code).toBe("provider_bad_response");
  });
});
