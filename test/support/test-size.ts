// How much of the tests is run: scripts/test.ts says so in TEST_SIZE.

import { describe, test } from "bun:test";

/** `npm run test:full`: long matrices run, and counts are higher. */
export const isFullRun = process.env["TEST_SIZE"] === "full";

/** Only in `npm run test:full`. */
export const testFull = test.skipIf(!isFullRun);
export const describeFull = describe.skipIf(!isFullRun);
