import { describeCollectionStore } from "../contracts/collection-store.ts";
import { createEngines } from "../contracts/engines.ts";

for (const engine of createEngines()) describeCollectionStore(engine);
