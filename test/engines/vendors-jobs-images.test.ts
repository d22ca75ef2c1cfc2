// Images that one vendor makes in a while, and that another looks at, over real HTTP: begun, asked for, and mapped, each step by an engine of its own. Answers are small and say where
// they come from: `documented` follows an example of the vendor's reference, `invented` has its form with values of ours.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import { replicate } from "../../src/providers/replicate/index.ts";
import { sightengine } from "../../src/providers/sightengine/index.ts";
import { failureOf, pathsOf, runJob } from "./vendors-jobs/job.ts";
import { image, key } from "./vendors-others/ask.ts";

describe("replicate", () => {
  const painted = {
    row: replicate,
    task: "image/generation",
    input: { text: "A fox", num_images: 2, resolution: "512x768" },
  };

  test("makes images in a while, each fetched from where it is kept, and is paid by the second", async () => {
    const { output, seen, answer } = await runJob({
      ...painted,
      model: "someone/painter:abc",
      providerParams: { guidance: 7 },
      answers: [
        { status: 201, json: { id: "p1", status: "starting" } },
        { json: { id: "p1", status: "processing" } },
        ({ url }) => ({
          json: {
            id: "p1",
            status: "succeeded",
            output: [`${url.origin}/1.png`, `${url.origin}/2.png`],
            metrics: { predict_time: 1.5 },
          },
        }),
        { bytes: Buffer.from("one"), mediaType: "image/png" },
        { bytes: Buffer.from("two"), mediaType: "image/webp" },
      ],
    });
    expect(pathsOf(seen)).toEqual([
      "POST /predictions",
      "GET /predictions/p1",
      "GET /predictions/p1",
      "GET /1.png",
      "GET /2.png",
    ]);
    expect(seen[0]?.json).toEqual({
      version: "someone/painter:abc",
      input: { prompt: "A fox", num_outputs: 2, width: 512, height: 768, guidance: 7 },
    });
    expect(seen[3]?.headers.get("authorization")).toBeNull();
    expect(output["items"]).toMatchObject([
      { image: Buffer.from("one").toString("base64") },
      { image: Buffer.from("two").toString("base64") },
    ]);
    expect(answer.units).toEqual({ image: 2, request: 1, exec_time: 1.5 });
    expect(answer.binaries?.map(({ mediaType }) => mediaType)).toEqual(["image/png", "image/webp"]);
  });

  test("says why nothing was made", async () => {
    const answers = [
      { json: { id: "p1", status: "starting" } },
      { json: { id: "p1", status: "failed", error: "NSFW content detected" } },
    ];
    expect((await failureOf({ ...painted, answers })).message).toEndWith("NSFW content detected");
  });
});

describe("sightengine", () => {
  const looked = {
    row: sightengine,
    input: { file: "u" },
    files: { file: image },
    settings: { SIGHTENGINE_API_USER: "user-7" },
  };

  test("gets both of its credentials in the form, and nothing takes their place", async () => {
    const { output, seen } = await runJob({
      ...looked,
      task: "image/deepfake_detection",
      providerParams: { opt_extra: "1" },
      answers: [{ json: { status: "success", type: { deepfake: 0.9 } } }],
    });
    expect(seen[0]?.form).toEqual({
      models: "deepfake",
      media: "photo.png (image/png, 16 bytes)".replace("16", String(image.size)),
      opt_extra: "1",
      api_user: "user-7",
      api_secret: key,
    });
    expect(output).toMatchObject({ deepfake_score: 0.9, prediction: "deepfake" });
    for (const name of ["api_user", "url"]) {
      const refused = runJob({ ...looked, task: "image/ai_detection", providerParams: { [name]: "x" }, answers: [] });
      expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
    }
  });

  test("scores what an image shows, and what made it", async () => {
    const made = await runJob({
      ...looked,
      task: "image/ai_detection",
      answers: [{ json: { status: "success", type: { ai_generated: 0.2 } } }],
    });
    expect(made.output).toMatchObject({ ai_score: 0.2 });
    const shown = await runJob({
      ...looked,
      task: "image/explicit_content",
      // documented: the form; values invented
      answers: [
        {
          json: {
            status: "success",
            nudity: { sexual_activity: 0.01, suggestive: 0.4 },
            gore: { prob: 0.9 },
            weapon: { classes: { firearm: 0.2 } },
          },
        },
      ],
    });
    expect(JSON.stringify(shown.output)).toContain("gore");
    const refused = { json: { status: "failure", error: { message: "The media could not be read" } } };
    expect((await failureOf({ ...looked, task: "image/ai_detection", answers: [refused] })).message).toEndWith(
      "could not be read",
    );
  });
});
