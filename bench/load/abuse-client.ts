// Runs one entry of the table of abuses, says "started" when it is under way, and ends when its standard input does.

import { type Abuse, type AbuseName, abuses, type Target } from "./abuses.ts";

const { name, target } = JSON.parse(process.argv[2] ?? "{}") as { name: AbuseName; target: Target };
const abuse: Abuse = abuses[name];
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
await abuse.start(target);
console.log("started");
