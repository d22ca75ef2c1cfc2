// Secrets from files: `NAME_FILE` names a file whose content is the value of `NAME`, as container platforms mount secrets.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";

export interface SecretFiles {
  /** The contents, by the name of the variable that the file replaces. */
  readonly values: Readonly<Record<string, string>>;
  /**
   * What is wrong with the other files, by the same name. Other programs use variables that end in `_FILE` as well, so a problem is only
   * reported where the gateway reads `NAME`.
   */
  readonly problems: Readonly<Record<string, string>>;
}

const suffix = "_FILE";
// Larger than the key of any provider. A file that another program's variable names may be of any size.
const maxBytes = 64 * 1024;

export function fileVariableOf(name: string): string {
  return `${name}${suffix}`;
}

/** `isWanted`: whether the gateway may read a variable of this name. */
export function readSecretFiles(
  environment: Readonly<Record<string, string | undefined>>,
  isWanted: (name: string) => boolean,
): SecretFiles {
  const values: Record<string, string> = {};
  const problems: Record<string, string> = {};
  for (const [variable, path] of Object.entries(environment)) {
    const name = variable.slice(0, -suffix.length);
    if (!variable.endsWith(suffix) || name === "" || !path || !isWanted(name)) continue;
    const outcome = environment[name]
      ? { problem: `${name} is set as well; keep one of the two` }
      : readSecret(resolve(path), variable);
    if ("problem" in outcome) problems[name] = outcome.problem;
    else values[name] = outcome.value;
  }
  return { values, problems };
}

/** No message contains anything of the file's content. */
function readSecret(path: string, variable: string): { readonly value: string } | { readonly problem: string } {
  try {
    const stats = statSync(path);
    // Reading a pipe or a device could block for ever.
    if (!stats.isFile()) return { problem: `${path} is not a regular file; name the file that holds the secret` };
    if (stats.size > maxBytes)
      return { problem: `the file ${path} has ${stats.size} bytes, and a secret has at most ${maxBytes}` };
    const value = readFileSync(path, "utf8").trim();
    return value === ""
      ? { problem: `the file ${path} is empty; write the secret into it, or unset ${variable}` }
      : { value };
  } catch (error) {
    const { code } = error as { readonly code?: string };
    return {
      problem:
        code === "ENOENT"
          ? `there is no file ${path}; name an existing file, or unset ${variable}`
          : `the file ${path} cannot be read (${code}); let the user of the gateway read it`,
    };
  }
}
