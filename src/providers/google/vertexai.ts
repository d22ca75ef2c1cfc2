import { type SharedFacts, withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";
import { embeddings, limits } from "./gemini.ts";

const current: SharedFacts = { ...limits, input: ["text", "image", "audio", "video"] };

export const vertexai = defineProvider("vertexai", "Google Vertex AI", {
  openTelemetryName: "gcp.vertex_ai",
  aliases: ["vertex", "google"],
  docs: "https://docs.cloud.google.com/gemini-enterprise-agent-platform/models",
  dialect: "vertexai",
  baseUrl: "https://{host}/v1beta1/projects/{project}/locations/{location}/publishers/google",
  placeholders: { project: "GOOGLE_CLOUD_PROJECT", location: "GOOGLE_CLOUD_LOCATION" },
  derivedPlaceholders: { host: (filled: Readonly<Record<string, string>>) => hostOf(filled["location"] ?? "") },
  auth: { kind: "google-service-account" },
  keyNames: ["VERTEXAI_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"],
  chat: {
    streamUsage: "always",
    streamEnd: "finish",
    defaultModel: "gemini-3.8-flash",
    models: [
      { id: "gemini-4-argon", ...current, input: ["text", "image", "file"], tools: true, jsonSchema: true },
      ...withFacts(current, ["gemini-3.8-flash", "gemini-3.7-flash", "gemini-3.6-flash", "gemini-3.5-flash"]),
      ...withFacts(current, ["gemini-3.5-flash-lite", "gemini-3.1-pro-preview", "gemini-3.1-flash-lite"]),
      { id: "gemini-3-flash-preview", ...current },
    ],
  },
  embeddings,
});

/** The whole world, a continent and a region have hosts of three forms. */
function hostOf(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `aiplatform.${location}.rep.googleapis.com`;
  return `${location}-aiplatform.googleapis.com`;
}
