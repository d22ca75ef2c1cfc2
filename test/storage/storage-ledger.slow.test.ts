import { createEngines } from "../contracts/engines.ts";
import { describeLedgerStore } from "../contracts/ledger-store.ts";

for (const engine of createEngines()) describeLedgerStore(engine);
