// Images that one vendor makes in a while, and that another looks at, over real HTTP: begun, asked for, and mapped, each step by an engine of its own. Answers are small and say where
// they come from: `documented` follows an example of the vendor's reference, `invented` has its form with values of ours.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import { replicate } from "../../src/providers/replicate/index.ts";
import { sightengine } from "../../src/providers/sightengine/index.ts";
import { failureOf, type Job, pathsOf, runJob } from "./vendors-jobs/job.ts";
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

  const schnell = "black-forest-labs/flux-schnell";
  const dev = "black-forest-labs/flux-dev";
  const fill = "black-forest-labs/flux-fill-dev";
  const diffusion = "stability-ai/stable-diffusion-3.5-large";
  const photo = { "reference_images.0": image };

  /** What the vendor is sent for one image, if it is sent anything. */
  async function requestFor(input: object, more: Pick<Job, "model" | "files"> = {}) {
    const { seen } = await runJob({
      ...{ row: replicate, task: "image/generation", input: { text: "A fox", ...input }, ...more },
      answers: [
        ({ url }) => ({ json: { id: "p1", status: "succeeded", output: `${url.origin}/1.png` } }),
        { bytes: Buffer.from("one"), mediaType: "image/png" },
      ],
    });
    return seen[0]?.json;
  }

  const refusalOf = (input: object, more: Pick<Job, "model" | "files"> = {}) =>
    requestFor(input, more).then(
      () => null,
      (error: unknown) => (error instanceof ValidationError ? error.problems[0].loc.at(-1) : error),
    );

  test.each([
    [schnell, "16:9", "16:9"],
    [schnell, "1344x768", "16:9"],
    [dev, "1024x1024", "1:1"],
    ["black-forest-labs/flux-1.1-pro", "9:16", "9:16"],
    [diffusion, "2:3", "2:3"],
  ])("sends %s the ratio of the resolution %s, because it has no width and height", async (model, resolution, ratio) => {
    expect(await requestFor({ resolution }, { model })).toEqual({
      version: model,
      input: { prompt: "A fox", aspect_ratio: ratio },
    });
  });

  test("sends other models a size or a ratio, as it is stated", async () => {
    const model = "someone/painter";
    expect(await requestFor({ resolution: "512x768" }, { model })).toMatchObject({
      input: { width: 512, height: 768 },
    });
    expect(await requestFor({ resolution: "16:9" }, { model })).toMatchObject({ input: { aspect_ratio: "16:9" } });
  });

  test("runs a reference image and a mask at models that take them", async () => {
    const dataUrl = expect.stringMatching(/^data:image\/png;base64,/);
    const reference = { reference_images: ["u"], resolution: "16:9" };
    expect(await requestFor(reference, { files: photo })).toEqual({
      version: dev,
      input: { prompt: "A fox", image: dataUrl },
    });
    expect(await requestFor({ ...reference, mask: "m" }, { files: { ...photo, mask: image } })).toEqual({
      version: fill,
      input: { prompt: "A fox", image: dataUrl, mask: dataUrl },
    });
  });

  test("refuses what a model would ignore", async () => {
    const masked = { ...photo, mask: image };
    expect(await refusalOf({ resolution: "auto" })).toBe("resolution");
    expect(await refusalOf({ resolution: "1000x300" })).toBe("resolution");
    expect(await refusalOf({}, { model: schnell, files: photo })).toBe("reference_images");
    expect(await refusalOf({}, { model: dev, files: masked })).toBe("mask");
    expect(await refusalOf({}, { model: diffusion, files: masked })).toBe("mask");
    expect(await refusalOf({ mask: "m" }, { files: { mask: image } })).toBe("reference_images");
    expect(await refusalOf({ num_images: 5 })).toBe("num_images");
    expect(await refusalOf({ num_images: 2 }, { model: diffusion })).toBe("num_images");
    expect(await refusalOf({ num_images: 4 })).toBeNull();
  });

  test("says why nothing was made", async () => {
    const answers = [
      { json: { id: "p1", status: "starting" } },
      { json: { id: "p1", status: "failed", error: "NSFW content detected" } },
    ];
    expect((await failureOf({ ...painted, input: { text: "A fox" }, answers })).message).toEndWith(
      "NSFW content detected",
    );
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
