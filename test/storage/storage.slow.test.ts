import { createEngines } from "../contracts/engines.ts";
import { describeKeyStore } from "../contracts/key-store.ts";
import { describeResponseStore } from "../contracts/response-store.ts";
import { describeSecretStore } from "../contracts/secret-store.ts";
import { describeTeamStore } from "../contracts/team-store.ts";

for (const engine of createEngines()) describeKeyStore(engine);
for (const engine of createEngines()) describeResponseStore(engine);
for (const engine of createEngines()) describeSecretStore(engine);
for (const engine of createEngines()) describeTeamStore(engine);
