// Voices of providers that have the same ones for everybody, by name. The others have hundreds, or each account its own.

import { voices as fliteVoices } from "./local/audio/flite.ts";
import { openaiVoices } from "./vendors/openai/members.ts";

export interface VoiceList {
  readonly provider: string;
  /** BCP-47; null: whatever the text is in. */
  readonly languages: readonly string[] | null;
  /** Model → voices; the empty name stands for the provider's usual one. */
  readonly models: Readonly<Record<string, readonly string[]>>;
}

export const voiceLists: readonly VoiceList[] = [
  { provider: "local", languages: ["en"], models: { "": Object.keys(fliteVoices) } },
  openaiVoices,
];
