// Writes many lines to standard output, as a process of the gateway writes its log: `<name> <rounds>`.

import { openStandardOutput } from "../../src/cli/standard-output.ts";

const [name = "", rounds = "0"] = process.argv.slice(2);
const write = openStandardOutput(() => {});
const line = `${JSON.stringify({ name, text: name.repeat(300) })}\n`;
for (let round = 0; round < Number(rounds); round += 1) {
  write(line.repeat(100));
  await Bun.sleep(1);
}
