import type { LocalEngine } from "../local-engine.ts";
import { engine as textToSpeech } from "./text-to-speech.ts";

export const audioEngines: readonly LocalEngine[] = [textToSpeech];
