#!/usr/bin/env node
// The command `switchyard`: finds Bun and runs the gateway's sources with it.

import { fileURLToPath } from "node:url";
import { runBun } from "./bun.mjs";

runBun([fileURLToPath(new URL("../src/main.ts", import.meta.url)), ...process.argv.slice(2)]);
