// Voices of providers that have the same ones for every account, by name. Other providers have hundreds, or each account its own.

import { rows } from "../providers/index.ts";
import type { Voices } from "../providers/task.ts";
import { voices as fliteVoices } from "./local/audio/flite.ts";

export interface VoiceList extends Voices {
  readonly provider: string;
}

export const voiceLists: readonly VoiceList[] = [
  { provider: "local", languages: ["en"], models: { "": Object.keys(fliteVoices) } },
  ...rows.flatMap(({ name, tasks = [] }) =>
    tasks.flatMap(({ voices }) => (voices ? [{ provider: name, ...voices }] : [])),
  ),
];
