// The voices of providers that offer the same voices to every account.

import type { VoiceList } from "../../contract/audio.ts";
import type { Engine } from "../../engines/engine.ts";
import { voiceLists } from "../../engines/voices.ts";

export function listVoices(engines: readonly Engine[]): VoiceList {
  const speaking = new Set(
    engines.flatMap(({ task, provider, unavailableReason }) =>
      task === "audio/tts" && unavailableReason === null ? [provider] : [],
    ),
  );
  const items = voiceLists
    .filter(({ provider }) => speaking.has(provider))
    .flatMap(({ provider, languages, models }) =>
      Object.entries(models).flatMap(([model, voices]) =>
        voices.map((voice) => ({
          model: model === "" ? provider : `${provider}/${model}`,
          provider,
          voice,
          languages: languages === null ? null : [...languages],
        })),
      ),
    );
  return { items };
}
