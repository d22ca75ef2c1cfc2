// docs/third-party.md: every package, model and data file that the gateway and its local engines use, from the lockfiles and
// engines/models.json.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Group, listGroups, withNeeds } from "../src/engines/local/groups.ts";
import { isInGroup, listModels } from "../src/engines/local/models.ts";

interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly name?: string;
}

export function thirdPartyPage(): string {
  const groups = [
    ...new Map(
      listGroups()
        .flatMap(({ name }) => withNeeds(name))
        .map((group) => [group.name, group]),
    ).values(),
  ];
  const models = listModels();
  const withTerms = models.filter(({ terms }) => terms !== null);
  return `# Third-party software and models

Made from the lockfiles and from \`engines/models.json\`. \`core\` comes with the gateway; the other groups are installed by
\`npx switchyard engines add <group>\`, which prints the terms of the group before it installs anything. Every model file is compared with its
SHA-256 checksum before it is used. Each package carries the text of its licence.

## Terms to know

${withTerms.map(({ name, group, terms }) => `- **${name}** (\`${group}\`): ${terms}`).join("\n")}
- **LAME** in \`wasm-media-encoders\` (\`core\`), **mpg123** and **codec-parser** in the decoders of the group \`speech\`: LGPL. They are separate
  files, which you may replace.

## Models and data

| model | group | licence | source |
|---|---|---|---|
${models.map(({ name, group, licence, source }) => `| ${name} | \`${group}\` | ${licence} | ${source} |`).join("\n")}

## Packages

| package | version | licence | group |
|---|---|---|---|
${[...lockedPackages("package-lock.json", "core"), ...groups.flatMap(packagesOfGroup)].join("\n")}
`;
}

function packagesOfGroup(group: Group): string[] {
  const lockfile = join("engines", group.name, "package-lock.json");
  if (Object.keys(group.dependencies).length > 0) return lockedPackages(lockfile, group.name);
  // A wheel has no lockfile: its exact version is in the manifest, and its files have checksums.
  const licences = new Set(listModels().flatMap((model) => (isInGroup(model, group.name) ? [model.licence] : [])));
  return Object.entries(group.wheels).map(
    ([name, version]) => `| ${name} | ${version} | ${[...licences].join(", ")} | \`${group.name}\` |`,
  );
}

function lockedPackages(path: string, group: string): string[] {
  const { packages } = JSON.parse(readFileSync(path, "utf8")) as Lockfile;
  const rows = Object.entries(packages).flatMap(([folder, { version, license, dev, optional, name }]) => {
    // Optional ones are builds of the same package for other machines. An empty package stands in for one that is not needed.
    if (folder === "" || dev === true || optional === true || name === "empty-npm-package") return [];
    const packageName = name ?? folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
    return [`| ${packageName} | ${version} | ${license ?? "see the package"} | \`${group}\` |`];
  });
  return [...new Set(rows)];
}
