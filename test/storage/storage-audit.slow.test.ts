import { describeAuditStore } from "../contracts/audit-store.ts";
import { createEngines } from "../contracts/engines.ts";

for (const engine of createEngines()) describeAuditStore(engine);
