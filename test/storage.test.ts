import { createEngines } from "./contracts/engines.ts";
import { describeKeyStore } from "./contracts/key-store.ts";

for (const engine of createEngines()) describeKeyStore(engine);
