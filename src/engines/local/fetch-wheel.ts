// Fetches a wheel, the package format of Python, which is a zip file. Only its files are used: none of its code is run.

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GroupError } from "./group-error.ts";
import type { Group } from "./groups.ts";
import { runInstaller } from "./run-installer.ts";

export interface WheelRequest {
  readonly name: string;
  readonly version: string;
  readonly group: Group;
  /** The files of the wheel go here. */
  readonly folder: string;
  /** The downloaded file goes here. */
  readonly staging: string;
  readonly python?: readonly string[];
  readonly timeoutMs: number;
}

const offlineMessages =
  /NewConnectionError|ConnectTimeoutError|ReadTimeoutError|NameResolutionError|Failed to establish a new connection|Connection refused|getaddrinfo failed|Network is unreachable/;

export async function fetchWheel({ name, version, group, folder, staging, timeoutMs, ...found }: WheelRequest) {
  const python = found.python ?? (await findPython(group.name));
  const download = join(staging, `wheel-${name}`);
  await mkdir(download);
  await mkdir(folder, { recursive: true });
  const run = { folder: download, timeoutMs, groupName: group.name, toolName: "pip", offline: offlineMessages };
  // A source package would be built, which runs its code, so only wheels are accepted.
  const options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet"];
  await runInstaller({
    ...run,
    command: [...python, "-m", "pip", "download", ...options, "--dest", download, `${name}==${version}`],
  });
  const [wheel] = (await readdir(download)).filter((file) => file.endsWith(".whl"));
  if (wheel === undefined) throw new GroupError(`${group.name} could not be fetched: pip saved no wheel of ${name}.`);
  await runInstaller({ ...run, command: [...python, "-m", "zipfile", "-e", join(download, wheel), folder] });
  // Packages are found by this file.
  await writeFile(join(folder, "package.json"), JSON.stringify({ name, version, private: true }));
}

/** The command that runs a Python with pip. */
async function findPython(groupName: string): Promise<string[]> {
  const installed = [["python3"], ["python"], ["py", "-3"]].filter(([program = ""]) => Bun.which(program) !== null);
  for (const command of installed) {
    const child = Bun.spawn([...command, "-m", "pip", "--version"], { stdio: ["ignore", "ignore", "ignore"] });
    if ((await child.exited) === 0) return command;
  }
  const [found] = installed;
  const missing =
    found === undefined
      ? "Python 3 was not found"
      : `${found.join(" ")} has no pip (on Debian and Ubuntu: apt install python3-pip)`;
  throw new GroupError(
    `${groupName} is downloaded with pip, the package manager of Python, and ${missing}. Install Python 3 with pip and try again; it is needed only for this command.`,
  );
}
