// A spoken sentence, by the speech engine that comes with the gateway.

import { fetchWithKey } from "../../../playground/key.ts";
import { toOwnAddress } from "../results/resource.ts";

const sentence = "Good morning. The train to the harbour leaves at nine from platform four.";

export async function recordSpeech(): Promise<File> {
  const body = { model: "audio/tts/local", input: { text: sentence, audio_format: "wav" } };
  const answer = await fetchWithKey("/v3/universal-ai", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { output } = (await answer.json()) as { readonly output: { readonly audio_resource_url: string } };
  const audio = await fetch(toOwnAddress(output.audio_resource_url) ?? "");
  if (!audio.ok) throw new Error("The gateway made no sample recording. Choose a file of your own.");
  return new File([await audio.blob()], "recording.wav", { type: "audio/wav" });
}
