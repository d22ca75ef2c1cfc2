// Every local engine, by folder. The gateway reads their members here, a worker loads the ones it is asked for. Of several for one
// task the first is meant when no model is named: what comes with the gateway stands before what groups add.

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
