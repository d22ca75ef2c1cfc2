import type { VendorRow } from "../vendor-engine.ts";
import { generateImages } from "./images.ts";
import { moderateText } from "./moderation.ts";
import { speak } from "./speech.ts";
import { transcribe } from "./transcribe.ts";

export const openai: VendorRow = {
  name: "openai",
  title: "OpenAI",
  docs: "https://developers.openai.com/api/reference",
  baseUrl: "https://api.openai.com/v1",
  auth: { kind: "bearer" },
  tasks: [moderateText, generateImages, speak, transcribe],
};
