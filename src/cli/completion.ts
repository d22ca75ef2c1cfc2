// `switchyard completion bash|zsh|fish` prints a script that completes commands and options. The script contains the whole command tree,
// so that the shell does not have to start the gateway's program for each suggestion.

import { Argument, type Command } from "commander";
import { createCommand, type Output } from "./command-line.ts";
import { type CommandInfo, listCommands, type OptionInfo } from "./command-tree.ts";

export interface CompletionContext extends Output {
  /** Returns the program with all its commands. */
  loadProgram(): Promise<Command>;
}

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];
const programs = ["switchyard", "switchyard-gateway"];

export function createCompletionCommand(context: CompletionContext): Command {
  return createCommand("completion", "Print a script that completes commands and options in a shell.", context)
    .addArgument(new Argument("<shell>", "the shell that runs the script").choices(shells))
    .option("--json", "print JSON")
    .action(async (shell: Shell, { json }: { json?: true }) => {
      const script = scripts[shell](listLevels(listCommands(await context.loadProgram())));
      context.print(json ? JSON.stringify({ shell, script }, null, 2) : script.trimEnd());
    })
    .addHelpText(
      "after",
      `
Example: switchyard completion bash > ~/.local/share/bash-completion/completions/switchyard

zsh: switchyard completion zsh > "\${fpath[1]}/_switchyard"
fish: switchyard completion fish > ~/.config/fish/completions/switchyard.fish`,
    );
}

/** What can follow a command. */
interface Level {
  /** The command, such as `keys` or `keys create`; empty for the program itself. */
  readonly command: string;
  readonly subcommands: readonly { readonly word: string; readonly summary: string }[];
  readonly options: readonly Pick<OptionInfo, "name" | "takesValue" | "meaning">[];
}

const programOptions: Level["options"] = [
  { name: "--help", takesValue: false, meaning: "print help" },
  { name: "--version", takesValue: false, meaning: "print the version" },
];

function listLevels(commands: readonly CommandInfo[]): Level[] {
  return [{ name: "", options: programOptions }, ...commands].map(({ name: command, options }) => ({
    command,
    subcommands: commands
      .filter(({ name }) => parentOf(name) === command)
      .map(({ name, summary }) => ({ word: name.slice(name.lastIndexOf(" ") + 1), summary })),
    options,
  }));
}

/** `keys` for `keys create`; the empty string for `keys`. */
function parentOf(command: string): string {
  return command.slice(0, Math.max(0, command.lastIndexOf(" ")));
}

const scripts: Readonly<Record<Shell, (levels: readonly Level[]) => string>> = {
  bash: toBashScript,
  zsh: toZshScript,
  fish: toFishScript,
};

function toBashScript(levels: readonly Level[]): string {
  const cases = levels.map(({ command, subcommands, options }) => {
    const words = [...subcommands.map(({ word }) => word), ...options.map(({ name }) => name)];
    return `    ${quote(command)}) words=${quote(words.join(" "))} ;;`;
  });
  return `# Completion of switchyard in bash.
_switchyard() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" word words takes_value=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${toLoopBody(levels)}
  done
  COMPREPLY=()
  [ -z "$takes_value" ] || return
  case "$command" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _switchyard ${programs.join(" ")}
`;
}

function toZshScript(levels: readonly Level[]): string {
  const toChoice = (word: string, meaning: string) => quote(`${word}:${meaning.replaceAll(":", "\\:")}`);
  const cases = levels.map(({ command, subcommands, options }) => {
    const choices = [
      ...subcommands.map(({ word, summary }) => toChoice(word, summary)),
      ...options.map(({ name, meaning }) => toChoice(name, meaning)),
    ];
    return `    ${quote(command)}) choices=(${choices.join(" ")}) ;;`;
  });
  return `#compdef ${programs.join(" ")}
# Completion of switchyard in zsh.
_switchyard() {
  local command="" word takes_value=""
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
${toLoopBody(levels)}
  done
  if [ -n "$takes_value" ]; then
    _files
    return
  fi
  case "$command" in
${cases.join("\n")}
  esac
  _describe 'switchyard' choices || _files
}
if [ "$funcstack[1]" = "_switchyard" ]; then
  _switchyard "$@"
else
  compdef _switchyard ${programs.join(" ")}
fi
`;
}

/**
 * The body of a loop over the words before the cursor, for bash and zsh. It sets `command` to the longest known command among them, such as
 * `keys create`, and `takes_value` when the last word is an option whose value comes next. Such a value is skipped, even if it looks like a command.
 */
function toLoopBody(levels: readonly Level[]): string {
  return `    if [ -n "$takes_value" ]; then
      takes_value=""
      continue
    fi
    case "\${command:+$command }$word" in
      ${quoteCommands(levels).join("|")}) command="\${command:+$command }$word" ;;
      ${quoteValueOptions(levels).join("|")}) takes_value=1 ;;
    esac`;
}

function toFishScript(levels: readonly Level[]): string {
  const suggestions = programs.flatMap((program) =>
    levels.flatMap(({ command, subcommands, options }) => {
      const condition = `-n ${quote(`__switchyard_command_is "${command}"`)}`;
      return [
        ...subcommands.map(
          ({ word, summary }) => `complete -c ${program} -f ${condition} -a ${word} -d ${quote(summary)}`,
        ),
        ...options.map(
          ({ name, takesValue, meaning }) =>
            `complete -c ${program} ${takesValue ? "-r" : "-f"} ${condition} -l ${name.slice(2)} -d ${quote(meaning)}`,
        ),
      ];
    }),
  );
  return `# Completion of switchyard in fish.
function __switchyard_command_is
  set -l known ${quoteCommands(levels).join(" ")}
  set -l value_options ${quoteValueOptions(levels).join(" ")}
  set -l command ""
  set -l takes_value ""
  for word in (commandline -opc)[2..-1]
    if test -n "$takes_value"
      set takes_value ""
      continue
    end
    set -l next (string trim -- "$command $word")
    if contains -- "$next" $known
      set command "$next"
    else if contains -- "$next" $value_options
      set takes_value 1
    end
  end
  test "$command" = "$argv[1]"
end
${suggestions.join("\n")}
`;
}

function quoteCommands(levels: readonly Level[]): string[] {
  return levels.flatMap(({ command }) => (command === "" ? [] : quote(command)));
}

/** `<command> <option>` for each option that takes a value. */
function quoteValueOptions(levels: readonly Level[]): string[] {
  return levels.flatMap(({ command, options }) =>
    options.flatMap(({ name, takesValue }) => (takesValue ? quote(`${command} ${name}`) : [])),
  );
}

/** Puts the text in single quotes. A quote in it becomes '\'', which bash, zsh and fish all read as one quote. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
