import { describeAuditStore } from "../contracts/audit-store.ts";
import { describeCaptureStore } from "../contracts/capture-store.ts";
import { createEngines } from "../contracts/engines.ts";

for (const engine of createEngines()) describeAuditStore(engine);
for (const engine of createEngines()) describeCaptureStore(engine);
