// The providers: every vendor in the order of their names, and the sandbox.

import type { ProviderRow } from "./provider.ts";
import { sandbox } from "./sandbox/index.ts";
import * as vendors from "./vendors.ts";

export const rows: readonly ProviderRow[] = [...Object.values(vendors), sandbox];
