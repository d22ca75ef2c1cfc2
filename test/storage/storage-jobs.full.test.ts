import { describeDeliveryStore } from "../contracts/delivery-store.ts";
import { createEngines } from "../contracts/engines.ts";
import { describeJobStore } from "../contracts/job-store.ts";
import { describeManagedJobStore } from "../contracts/managed-job-store.ts";

for (const engine of createEngines()) describeJobStore(engine);
for (const engine of createEngines()) describeDeliveryStore(engine);
for (const engine of createEngines()) describeManagedJobStore(engine);
