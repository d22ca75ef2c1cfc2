// Lists the voices of providers that offer the same voices to every account. Other providers have hundreds, or each account has its own.

import type { VoiceList } from "../../contract/audio.ts";
import type { Engine } from "../../engines/engine.ts";
import { voices as fliteVoices } from "../../engines/local/audio/flite.ts";
import { rows } from "../../providers/index.ts";
import type { Voices } from "../../providers/task.ts";

const voiceLists: readonly (Voices & { readonly provider: string })[] = [
  { provider: "local", languages: ["en"], models: { "": Object.keys(fliteVoices) } },
  ...rows.flatMap(({ name, tasks = [] }) =>
    tasks.flatMap(({ voices }) => (voices ? [{ provider: name, ...voices }] : [])),
  ),
];

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
