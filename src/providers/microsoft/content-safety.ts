// Azure AI Content Safety, and the older look at pictures that knows blood and bare skin only.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asText, objectsIn } from "../lenient.ts";
import { countCharacters, fileOf, textOf } from "../shapes/inputs.ts";
import { type Kind, toModeration } from "../shapes/likelihood.ts";
import type { ProviderTask } from "../task.ts";
import { toVisionRequest } from "./vision.ts";

const version = { "api-version": "2024-09-01" };

const kinds: Readonly<Record<string, Kind>> = {
  Hate: ["HateAndExtremism", "Hate"],
  SelfHarm: ["Violence", "PhysicalViolence"],
  Sexual: ["Sexual", "Sexual"],
  Violence: ["Violence", "Violence"],
};

export const moderate: ProviderTask = {
  task: "text/moderation",
  docs: "https://learn.microsoft.com/en-us/rest/api/contentsafety/text-operations/analyze-text",
  unsupported: ["language"],
  toRequest: (call) => ({
    path: "/contentsafety/text:analyze",
    query: version,
    body: { kind: "json", value: { text: textOf(call), outputType: "EightSeverityLevels" } },
  }),
  fromResponse: ({ json }, call) => ({
    output: toOutput(asObject(json), 7),
    units: { char: countCharacters(textOf(call)), request: 1 },
  }),
};

const vision = "vision";

export const detectExplicitContent: ProviderTask = {
  task: "image/explicit_content",
  docs: "https://learn.microsoft.com/en-us/rest/api/contentsafety/image-operations/analyze-image",
  models: ["content-safety", vision],
  files: { maxBytes: 4 * 1_048_576, mediaTypes: ["image/"] },
  toRequest: async (call) => {
    if (call.model === vision) return toVisionRequest(call, { visualFeatures: "Adult" });
    const content = Buffer.from(await fileOf(call).read()).toString("base64");
    return {
      path: "/contentsafety/image:analyze",
      query: version,
      body: { kind: "json", value: { image: { content } } },
    };
  },
  fromResponse: ({ json }, call) => ({
    output: call.model === vision ? toAdultOutput(asObject(asObject(json)["adult"])) : toOutput(asObject(json), 6),
    units: { image: 1, file: 1, request: 1 },
  }),
};

/** Severities are steps up to the worst one. */
function toOutput(answer: JsonObject, worst: number): JsonObject {
  const findings = objectsIn(answer["categoriesAnalysis"]).map(({ category, severity }) => {
    const label = asText(category) ?? "";
    const step = asNumber(severity);
    return {
      label,
      score: step === null ? null : step / worst,
      kind: lookUp(kinds, label) ?? (["Other", "Other"] as const),
    };
  });
  return toModeration(findings);
}

function toAdultOutput(adult: JsonObject): JsonObject {
  return toModeration([
    { label: "Gore", score: adult["goreScore"], kind: ["Violence", "GraphicViolenceOrGore"] },
    { label: "Adult", score: adult["adultScore"], kind: ["Sexual", "Sexual"] },
    { label: "Racy", score: adult["racyScore"], kind: ["HateAndExtremism", "Racy"] },
  ]);
}
