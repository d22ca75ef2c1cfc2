// docs/command-line.md, from the command tree.

import { exitCodes } from "../src/cli/command-line.ts";
import { type CommandInfo, listCommands } from "../src/cli/command-tree.ts";
import { createProgram } from "../src/cli/commands.ts";

export async function commandLinePage(): Promise<string> {
  const commands = listCommands(await createProgram(null, { print() {}, printError() {} }));
  const firsts = commands.filter(({ name }) => !name.includes(" "));
  return `# Command line

Generated from the commands themselves. \`npx switchyard-gateway\` without a command starts the gateway; installed with npm, the program is
also called \`switchyard\`. Every command has \`--help\`, and refuses options that it does not know.

| command | purpose |
|---|---|
${firsts.map(({ name, summary }) => `| [\`${name}\`](#${name}) | ${toCell(firstSentence(summary))} |`).join("\n")}

- **Output.** Results go to standard output: tables with a header for people, and with \`--json\` JSON for programs. Messages and the progress of
  long work go to standard error; progress is shown on a terminal only.
- **Exit codes.** ${Object.entries(exitCodes)
    .map(([code, meaning]) => `${code}: ${meaning}`)
    .join("; ")}.
- **Which gateway.** \`keys\`, \`teams\`, \`usage\`, \`requests\`, \`audit\`, \`jobs\`, \`storage\` and the keys of \`webhooks\` use the store of the gateway, beside a
  running gateway and without one: run them in the folder where the gateway runs, or name its data folder with \`--data-dir\`, its configuration
  with \`--config\`, or its database with \`DATABASE_URL\`. They never create a store. \`models\` and \`tasks\` ask a running gateway: the one on this
  machine, or the one that \`--from\` names.
- **Completion.** \`switchyard completion bash\`, \`zsh\` or \`fish\` prints a script for the shell.

${firsts.map((first) => describe(first, commands)).join("\n\n")}
`;
}

function describe(first: CommandInfo, commands: readonly CommandInfo[]): string {
  const all = commands.filter(({ name, isRunnable }) => isRunnable && name.split(" ")[0] === first.name);
  const parts = all.map((command) => {
    const title = command.name === first.name ? "" : `### ${command.name}\n\n${command.summary}\n\n`;
    return `${title}${describeUse(command)}`;
  });
  return [`## ${first.name}`, first.summary, ...parts].join("\n\n");
}

function describeUse({ usage, example, arguments: given, options }: CommandInfo): string {
  const rows = [
    ...given.map(({ name, meaning }) => `| \`<${name}>\` | ${toCell(meaning)} |`),
    ...options.map(({ flags, meaning }) => `| \`${toCell(flags)}\` | ${toCell(meaning)} |`),
  ];
  return `Usage: \`${usage}\`. Example: \`${example}\`

| argument or option | meaning |
|---|---|
${rows.join("\n")}`;
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

function toCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
