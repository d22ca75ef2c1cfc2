import { at } from "../lenient.ts";
import { postJson } from "../shapes/inputs.ts";
import { type Kind, toFindings, toModeration } from "../shapes/moderation.ts";
import { defineTask } from "../task.ts";

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

export const moderateText = defineTask({
  task: "text/moderation",
  docs: "https://developers.openai.com/api/reference/resources/moderations/methods/create",
  unsupported: ["language"],
  models: ["omni-moderation-latest", "text-moderation-latest", "text-moderation-stable", "text-moderation-007"],
  acceptsAnyModel: true,
  toRequest: ({ model, input }) =>
    postJson("/moderations", { model: model ?? "omni-moderation-latest", input: input.text }),
  fromResponse: ({ json }) => ({
    output: toModeration(toFindings(at(json, "results", 0, "category_scores"), kinds)),
    units: { request: 1 },
  }),
});
