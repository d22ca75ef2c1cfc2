import type { LocalEngine } from "../local-engine.ts";
import { engine as speechToText } from "./speech-to-text.ts";

export const speechEngines: readonly LocalEngine[] = [speechToText];
