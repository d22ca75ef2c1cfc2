import { defineTextModeration, type Kind } from "../shapes/moderation.ts";

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

export const moderateText = defineTextModeration({
  docs: "https://developers.openai.com/api/reference/resources/moderations/methods/create",
  models: ["omni-moderation-latest", "text-moderation-latest", "text-moderation-stable", "text-moderation-007"],
  kinds,
});
