// All local engines. If several engines perform a task and no model is given, the first one is used, so the engines that come with the gateway
// are listed before those of the package groups.

import { audioEngines } from "./audio/index.ts";
import { documentEngines } from "./documents/index.ts";
import type { LocalEngine } from "./local-engine.ts";
import { semanticEngines } from "./semantic/index.ts";
import { speechEngines } from "./speech/index.ts";
import { engine as grammar } from "./text/grammar.ts";
import { textEngines } from "./text/index.ts";
import { visionEngines } from "./vision/index.ts";

export const localEngines: readonly LocalEngine[] = [
  ...textEngines,
  ...semanticEngines,
  grammar,
  ...audioEngines,
  ...documentEngines,
  ...speechEngines,
  ...visionEngines,
];
