// How much of the tests is run: scripts/test.ts says so in TEST_SIZE.

/** `npm run test:full`: long matrices run, and counts are higher. */
export const isFullRun = process.env["TEST_SIZE"] === "full";
