// Prepares a release: version, date in the changelog, generated pages, commit and tag. Without --apply it only shows what it would do.
//
//   node bin/bun.mjs run scripts/release.ts 0.2.0 --apply
//
// It pushes nothing: the workflow in .github/workflows/release.yml publishes a tag that is pushed.

import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

export interface ReleaseFiles {
  readonly "package.json": string;
  readonly "package-lock.json": string;
  readonly "CHANGELOG.md": string;
  readonly "deploy/helm/switchyard/Chart.yaml": string;
}

const paths = ["package.json", "package-lock.json", "CHANGELOG.md", "deploy/helm/switchyard/Chart.yaml"] as const;
const versionForm = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/;

/** The files as the release has them. Throws if they do not allow it. */
export function planRelease(version: string, files: ReleaseFiles, today: string): ReleaseFiles {
  if (!versionForm.test(version)) throw new Error(`A version has the form 1.2.3 or 1.2.3-rc.1, not "${version}".`);
  const current = (JSON.parse(files["package.json"]) as { version: string }).version;
  if (compareVersions(version, current) <= 0) throw new Error(`${version} is not newer than ${current}.`);
  const heading = `## ${version} (unreleased)`;
  const lines = files["CHANGELOG.md"].split("\n");
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`CHANGELOG.md has no section "${heading}".`);
  const next = lines.findIndex((line, index) => index > start && line.startsWith("## "));
  const section = lines.slice(start + 1, next === -1 ? undefined : next);
  if (!section.some((line) => line.startsWith("- ")))
    throw new Error(`The section of ${version} in CHANGELOG.md is empty.`);
  const member = `"version": "${current}"`;
  const raise = (text: string, stated: readonly string[]) => replaceEach(text, stated, { from: current, to: version });
  return {
    "package.json": raise(files["package.json"], [member]),
    // Its root is named twice.
    "package-lock.json": raise(files["package-lock.json"], [member, member]),
    "CHANGELOG.md": lines.with(start, `## ${version} (${today})`).join("\n"),
    "deploy/helm/switchyard/Chart.yaml": raise(files["deploy/helm/switchyard/Chart.yaml"], [
      `\nversion: ${current}\n`,
      `\nappVersion: ${current}\n`,
    ]),
  };
}

/** Replaces the version where it is first stated: the package's own comes before those of its dependencies. */
function replaceEach(text: string, stated: readonly string[], { from, to }: { from: string; to: string }): string {
  let result = text;
  for (const place of stated) {
    if (!result.includes(place)) throw new Error(`The version ${from} is not stated where it is expected.`);
    result = result.replace(place, place.replace(from, to));
  }
  return result;
}

/** As https://semver.org orders them; a pre-release comes before its release. */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [one, other].map((text) => versionForm.exec(text) ?? []);
  for (const part of [1, 2, 3]) {
    const difference = Number(first?.[part]) - Number(second?.[part]);
    if (difference !== 0) return difference;
  }
  const [firstLabel, secondLabel] = [first?.[4], second?.[4]];
  if (firstLabel === undefined || secondLabel === undefined)
    return Number(firstLabel === undefined) - Number(secondLabel === undefined);
  return firstLabel.localeCompare(secondLabel, "en", { numeric: true });
}

function git(...args: string[]): string {
  return run(["git", ...args]).trim();
}

function run(command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed:\n${stdout}${stderr}`);
  return String(stdout);
}

/** The files of this repository. */
export function readReleaseFiles(): ReleaseFiles {
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "utf8")])) as unknown as ReleaseFiles;
}

function release(version: string, isApplied: boolean): void {
  const planned = planRelease(version, readReleaseFiles(), new Date().toISOString().slice(0, 10));
  if (git("status", "--porcelain") !== "") throw new Error("There are changes that are not committed.");
  const tag = `v${version}`;
  if (git("tag", "--list", tag) !== "") throw new Error(`The tag ${tag} exists already.`);
  if (!isApplied) {
    console.log(`Would set the version in ${paths.join(", ")}, write the generated pages, run npm run check,`);
    console.log(`commit "Release ${version}" and add the tag ${tag}. Add --apply to do so.`);
    return;
  }
  for (const path of paths) writeFileSync(path, planned[path]);
  run([process.execPath, "run", "scripts/pages.ts"]);
  run(["npm", "run", "check"]);
  git("commit", "--all", "--message", `Release ${version}`);
  git("tag", "--annotate", tag, "--message", `Switchyard ${version}`);
  console.log(`Release ${version} is committed and tagged. Publish it with: git push --follow-tags`);
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { apply: { type: "boolean" } } });
  const [version] = positionals;
  if (version === undefined || positionals.length > 1) throw new Error("Name one version: scripts/release.ts 0.2.0");
  release(version, values.apply === true);
}
