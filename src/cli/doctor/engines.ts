// Checks of local engines and the programs that they use.

import { join } from "node:path";
import { findWrongFiles, listGroups, stateOf } from "../../engines/local/groups.ts";
import { findTool } from "../../engines/local/system-tools.ts";
import { type Finding, report } from "./finding.ts";

export function checkEngines(): Finding[] {
  const { ok, note, problem } = report("local engines");
  const groups = listGroups().map((group) => ({ group, name: group.name, state: stateOf(group) }));
  const namesOf = (wanted: string) => groups.flatMap(({ name, state }) => (state === wanted ? [name] : []));
  const broken = groups.flatMap(({ group, name, state }) =>
    state !== "absent" && findWrongFiles(group, join(group.folder, "node_modules")).length > 0 ? [name] : [],
  );
  const outdated = namesOf("outdated").filter((name) => !broken.includes(name));
  const installed = namesOf("added");
  return [
    ...broken.map((name) =>
      problem(
        `Files of the group ${name} are missing or do not match their checksums.`,
        `Run: npx switchyard-gateway engines remove ${name} && npx switchyard-gateway engines add ${name}`,
      ),
    ),
    ...outdated.map((name) =>
      problem(`The group ${name} belongs to another version.`, `Run: npx switchyard-gateway engines add ${name}`),
    ),
    installed.length > 0
      ? ok(`Installed besides the built-in ones: ${installed.join(", ")}.`)
      : note(
          "Only the built-in engines are installed.",
          "`npx switchyard-gateway engines list` shows what others add, and `engines add <group>` installs them.",
        ),
    ...["ffmpeg", "ffprobe"].flatMap((tool) => checkTool(tool)),
  ];
}

function checkTool(tool: string): Finding[] {
  const { ok, note } = report(tool);
  const path = findTool(tool);
  return [
    path === null
      ? note(
          `${tool} is not installed, so local tasks with videos are not offered.`,
          "Install it: `apt-get install ffmpeg`, `brew install ffmpeg`.",
        )
      : ok(path),
  ];
}
