import { createEngines } from "../contracts/engines.ts";
import { describeLatencyStore } from "../contracts/latency-store.ts";

for (const engine of createEngines()) describeLatencyStore(engine);
