// A model of the catalogue about which nothing but its name is known.

import type { Model } from "../../src/dashboard/api/types.ts";

export function makeBareModel(id: string, more: Partial<Model> = {}): Model {
  return {
    id,
    object: "model",
    created: 0,
    owned_by: id.slice(0, id.indexOf("/")),
    context_length: null,
    max_output_tokens: null,
    pricing: null,
    capabilities: {
      input_modalities: ["text"],
      output_modalities: ["text"],
      supports_function_calling: null,
      supports_response_schema: null,
      supports_reasoning: null,
      supports_vision: false,
      supports_audio_input: false,
    },
    endpoints: ["chat/completions"],
    responses_native: false,
    configured: true,
    ...more,
  };
}
