// `npm pack` runs it: writes the bundle of the dashboard that the package carries.

import { buildInto } from "../src/http/endpoints/dashboard-bundle.ts";

await buildInto("dist/dashboard");
