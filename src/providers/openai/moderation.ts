import { lookUp } from "../../lib/look-up.ts";
import { asList, asObject } from "../lenient.ts";
import { textOf } from "../shapes/inputs.ts";
import { type Kind, other, toModeration } from "../shapes/moderation.ts";
import type { ProviderTask } from "../task.ts";

const kinds: Readonly<Record<string, Kind>> = {
  sexual: ["Sexual", "Sexual"],
  "sexual/minors": ["Sexual", "Sexual"],
  hate: ["HateAndExtremism", "Hate"],
  "hate/threatening": ["HateAndExtremism", "Threatening"],
  harassment: ["HateAndExtremism", "Harassment"],
  "harassment/threatening": ["HateAndExtremism", "Threatening"],
  "self-harm": ["Violence", "PhysicalViolence"],
  "self-harm/intent": ["Violence", "PhysicalViolence"],
  "self-harm/instructions": ["Violence", "PhysicalViolence"],
  violence: ["Violence", "Violence"],
  "violence/graphic": ["Violence", "GraphicViolenceOrGore"],
  "illicit/violent": ["Violence", "WeaponViolence"],
};

export const moderateText: ProviderTask = {
  task: "text/moderation",
  docs: "https://developers.openai.com/api/reference/resources/moderations/methods/create",
  unsupported: ["language"],
  models: ["omni-moderation-latest", "text-moderation-latest", "text-moderation-stable", "text-moderation-007"],
  acceptsAnyModel: true,
  toRequest: (call) => ({
    path: "/moderations",
    body: { kind: "json", value: { model: call.model ?? "omni-moderation-latest", input: textOf(call) } },
  }),
  fromResponse({ json }) {
    const scores = asObject(asObject(asList(asObject(json)["results"])[0])["category_scores"]);
    const findings = Object.entries(scores).map(([label, score]) => ({
      label,
      score,
      kind: lookUp(kinds, label) ?? other,
    }));
    return { output: toModeration(findings), units: { request: 1 } };
  },
};
