// Every local engine, by folder. The gateway reads their members here, a worker loads the ones it is asked for.

import { audioEngines } from "./audio/index.ts";
import { documentEngines } from "./documents/index.ts";
import type { LocalEngine } from "./local-engine.ts";
import { textEngines } from "./text/index.ts";

export const localEngines: readonly LocalEngine[] = [...textEngines, ...audioEngines, ...documentEngines];
