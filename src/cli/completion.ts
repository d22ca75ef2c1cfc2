// `switchyard completion bash|zsh|fish`: scripts that complete commands and options. They contain the whole command tree, so that a shell does
// not have to start the gateway's program for each suggestion.

import { Argument, type Command } from "commander";
import { createCommand, type Output } from "./command-line.ts";
import { type CommandInfo, listCommands } from "./command-tree.ts";

export interface CompletionContext extends Output {
  /** The program with all its commands. */
  loadProgram(): Promise<Command>;
}

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];
const programNames = "switchyard switchyard-gateway";

export function createCompletionCommand(context: CompletionContext): Command {
  return createCommand("completion", "Print a script that completes commands and options in a shell.", context)
    .addArgument(new Argument("<shell>", "the shell that runs the script").choices(shells))
    .option("--json", "print JSON")
    .action(async (shell: Shell, { json }: { json?: true }) => {
      const script = scripts[shell](listCommands(await context.loadProgram()));
      context.print(json ? JSON.stringify({ shell, script }, null, 2) : script.trimEnd());
    })
    .addHelpText(
      "after",
      `
Example: switchyard completion bash > ~/.local/share/bash-completion/completions/switchyard

zsh: switchyard completion zsh > a file "_switchyard" in a folder of $fpath
fish: switchyard completion fish > ~/.config/fish/completions/switchyard.fish`,
    );
}

const scripts: Readonly<Record<Shell, (commands: readonly CommandInfo[]) => string>> = {
  bash: toBash,
  zsh: toZsh,
  fish: toFish,
};

/** The commands of the first level, as if the program were a command. */
function rootOf(commands: readonly CommandInfo[]): readonly CommandInfo[] {
  return commands.filter(({ name }) => !name.includes(" "));
}

function below(parent: CommandInfo, commands: readonly CommandInfo[]): readonly CommandInfo[] {
  return parent.commands.flatMap((word) => commands.filter(({ name }) => name === `${parent.name} ${word}`));
}

function toBash(commands: readonly CommandInfo[]): string {
  const cases = commands.map(
    ({ name, commands: words, options }) =>
      `    ${quote(name)}) words=${quote([...words, ...options.map((option) => option.name)].join(" "))} ;;`,
  );
  return `# Completion of switchyard in bash.
_switchyard() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${at:+$at }$word" in
      ${commands.map(({ name }) => quote(name)).join("|")}) at="\${at:+$at }$word" ;;
    esac
  done
  COMPREPLY=()
  case "$at $before" in
    ${valueOptions(commands).join("|")}) return ;;
  esac
  case "$at" in
    '') words=${quote([...rootOf(commands).map(({ name }) => name), "--help", "--version"].join(" "))} ;;
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _switchyard ${programNames}
`;
}

function toZsh(commands: readonly CommandInfo[]): string {
  const toChoices = (infos: readonly CommandInfo[], options: CommandInfo["options"]) =>
    [
      ...infos.map(({ name, summary }) => [name.slice(name.lastIndexOf(" ") + 1), summary]),
      ...options.map(({ name, meaning }) => [name, meaning]),
    ]
      .map(([word = "", meaning = ""]) => quote(`${word}:${meaning.replaceAll(":", "\\:")}`))
      .join(" ");
  const cases = commands.map((info) => {
    return `    ${quote(info.name)}) choices=(${toChoices(below(info, commands), info.options)}) ;;`;
  });
  return `#compdef ${programNames}
# Completion of switchyard in zsh.
_switchyard() {
  local at="" word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      ${commands.map(({ name }) => quote(name)).join("|")}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
    ${valueOptions(commands).join("|")}) _files; return ;;
  esac
  case "$at" in
    '') choices=(${toChoices(rootOf(commands), [])}) ;;
${cases.join("\n")}
  esac
  _describe 'switchyard' choices
}
if [ "$funcstack[1]" = "_switchyard" ]; then
  _switchyard "$@"
else
  compdef _switchyard ${programNames}
fi
`;
}

function toFish(commands: readonly CommandInfo[]): string {
  const lines = (program: string) => [
    ...rootOf(commands).map(
      ({ name, summary }) => `complete -c ${program} -f -n '__switchyard_at ""' -a ${name} -d ${quote(summary)}`,
    ),
    ...commands.flatMap((info) => [
      ...below(info, commands).map(
        ({ name, summary }) =>
          `complete -c ${program} -f -n ${quote(`__switchyard_at "${info.name}"`)} -a ${name.slice(info.name.length + 1)} -d ${quote(summary)}`,
      ),
      ...info.options.map(
        ({ name, takesValue, meaning }) =>
          `complete -c ${program} ${takesValue ? "-r" : "-f"} -n ${quote(`__switchyard_at "${info.name}"`)} -l ${name.slice(2)} -d ${quote(meaning)}`,
      ),
    ]),
  ];
  return `# Completion of switchyard in fish.
function __switchyard_at
  set -l known ${commands.map(({ name }) => quote(name)).join(" ")}
  set -l at ""
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    if contains -- "$next" $known
      set at "$next"
    end
  end
  test "$at" = "$argv[1]"
end
${programNames.split(" ").flatMap(lines).join("\n")}
`;
}

/** `<command> <option>` for all options with a value. */
function valueOptions(commands: readonly CommandInfo[]): string[] {
  return commands.flatMap(({ name, options }) =>
    options.flatMap((option) => (option.takesValue ? quote(`${name} ${option.name}`) : [])),
  );
}

/** For all three shells. In fish, a backslash before the quote is enough, and the other way of writing it works as well. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
