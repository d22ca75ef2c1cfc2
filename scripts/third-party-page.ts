// docs/third-party.md: every package, model and data file that the gateway and its local engines use, from the lockfiles and
// engines/models.json.

import type { Group } from "../src/engines/local/groups.ts";
import { isInGroup, listModels } from "../src/engines/local/models.ts";
import {
  type LockedPackage,
  listAllGroups,
  listBundledPackages,
  listLockedPackages,
  listPackagesOf,
} from "./locked-packages.ts";

export async function thirdPartyPage(): Promise<string> {
  const groups = listAllGroups();
  const models = listModels();
  const withTerms = models.filter(({ terms }) => terms !== null);
  return `# Third-party software and models

Made from the lockfiles, the bundle of the dashboard and \`engines/models.json\`. \`core\` and \`dashboard\` come with the gateway; the other groups are
installed by \`npx switchyard-gateway engines add <group>\`, which prints the terms of the group before it installs anything. Every model file is compared
with its SHA-256 checksum before it is used. Each package carries the text of its licence; \`dist/dashboard/licences.txt\` has those of the libraries that
the dashboard is built from.

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
${[
  ...toRows(listLockedPackages("package-lock.json"), "core"),
  ...toRows(await listBundledPackages(), "dashboard"),
  ...groups.flatMap(packagesOfGroup),
].join("\n")}
`;
}

function packagesOfGroup(group: Group): string[] {
  const packages = listPackagesOf(group);
  if (packages.length > 0) return toRows(packages, group.name);
  // A wheel has no lockfile: its exact version is in the manifest, and its files have checksums.
  const licences = new Set(listModels().flatMap((model) => (isInGroup(model, group.name) ? [model.licence] : [])));
  return Object.entries(group.wheels).map(
    ([name, version]) => `| ${name} | ${version} | ${[...licences].join(", ")} | \`${group.name}\` |`,
  );
}

/** Without the builds of a package for other machines. */
function toRows(packages: readonly LockedPackage[], group: string): string[] {
  const rows = packages
    .filter(({ isOptional }) => !isOptional)
    .map(({ name, version, licence }) => `| ${name} | ${version} | ${licence ?? "see the package"} | \`${group}\` |`);
  return [...new Set(rows)];
}
