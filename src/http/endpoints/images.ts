// POST /v3/images/generations: the OpenAI format over the engines of image/generation.

import { engineMemberNames } from "../../contract/engine-models.ts";
import { createImagesRequest, type ImagesRequest } from "../../contract/images.ts";
import { parse } from "../../contract/problems.ts";
import { runShapedTask } from "../../inference/universal-ai/shaped-task.ts";
import type { UniversalAi } from "../../inference/universal-ai/universal-ai.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { type Reply, replyJson } from "../reply.ts";
import type { Call, Route } from "../route.ts";
import { toShapedContext } from "../shaped-context.ts";

interface Dependencies {
  readonly universalAi: UniversalAi;
  /** Names that the operator declared. */
  readonly aliases: ReadonlySet<string>;
  readonly publicUrl: string | null;
}

interface MadeImage {
  readonly image: string;
  readonly image_resource_url: string;
}

const task = "image/generation";
const names = { text: "prompt", resolution: "size", num_images: "n" };
const members: ReadonlySet<string> = new Set([
  ...engineMemberNames,
  "prompt",
  "n",
  "size",
  "response_format",
  "stream",
]);

export function imagesRoutes({ universalAi, aliases, publicUrl }: Dependencies): Route[] {
  const requestSchema = createImagesRequest(aliases);

  async function generate(call: Call): Promise<Reply> {
    const request = parse(requestSchema, call.body?.value);
    const { model, fallbacks, provider_params, strict_parameters, response_format: format } = request;
    const answer = await runShapedTask(
      universalAi,
      {
        task,
        models: universalAi.aliases.resolveFor(task, [model, ...(fallbacks ?? [])]),
        input: toInput(request),
        names,
        others: Object.fromEntries(Object.entries(request).filter(([name]) => !members.has(name))),
        providerParams: provider_params,
        isStrict: strict_parameters === true,
        // Nothing has to be kept for a caller who gets the bytes and no address.
        ...(format === "b64_json" && { takeBinary: () => "" }),
      },
      toShapedContext(call, publicUrl),
    );
    const images = (answer.output["items"] ?? []) as readonly MadeImage[];
    return replyJson({
      created: Math.floor(Date.now() / 1_000),
      data: images.map(({ image, image_resource_url }) => ({
        ...(format !== "b64_json" && { url: image_resource_url }),
        ...(format !== "url" && { b64_json: image }),
      })),
      model: answer.model ?? answer.added.provider,
      ...answer.added,
    });
  }

  return [{ method: "POST", path: "/v3/images/generations", key: "inference", body: "json", run: generate }];
}

function toInput({ prompt, n, size }: ImagesRequest): JsonObject {
  return { text: prompt, num_images: n ?? 1, resolution: size === "auto" ? null : (size ?? null) };
}
