// POST /v3/images/generations: the OpenAI format over the engines of image/generation.

import { createImagesRequest, type ImagesRequest, imagesAnswer } from "../../contract/images.ts";
import { runShapedTask } from "../../inference/universal-ai/shaped-task.ts";
import { contextOf, createTaskReader, taskRoute } from "../model-call.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const names = { text: "prompt", resolution: "size", num_images: "n" };
const members = ["prompt", "n", "size", "response_format", "stream"];

export function imagesRoutes({ universalAi, aliases }: RouteDependencies): Route[] {
  const readTask = createTaskReader(universalAi, "image/generation", members);
  return [
    defineRoute("createImages", "Generate images", {
      ...taskRoute,
      description:
        "The OpenAI format over the engines of `image/generation`. URLs are signed and served by the gateway.",
      path: "/v3/images/generations",
      body: { kind: "json", schema: createImagesRequest(aliases) },
      answers: [{ status: 200, description: "The images.", schema: imagesAnswer }],
      example: { body: { model: "sandbox", prompt: "A signal box at dusk", n: 1, size: "1024x1024" } },
      async run(call) {
        const { response_format: format } = call.body;
        const task = {
          ...readTask(call.body),
          input: toInput(call.body),
          names,
          // A caller that receives the bytes and no URL needs no stored file.
          ...(format === "b64_json" && { takeBinary: () => "" }),
        };
        const answer = await runShapedTask(universalAi, task, { ...contextOf(call), baseUrl: call.baseUrl });
        return replyJson({
          created: Math.floor(Date.now() / 1_000),
          data: (answer.output.items ?? []).map(({ image, image_resource_url }) => ({
            ...(format !== "b64_json" && { url: image_resource_url }),
            ...(format !== "url" && { b64_json: image }),
          })),
          model: answer.model ?? answer.added.provider,
          ...answer.added,
        });
      },
    }),
  ];
}

function toInput({ prompt, n, size }: ImagesRequest) {
  return { text: prompt, num_images: n ?? 1, resolution: size === "auto" ? null : (size ?? null) };
}
