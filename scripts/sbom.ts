// docs/sbom.cdx.json: a software bill of materials in the format CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). It lists the packages,
// models and data of the gateway, of its dashboard and of all groups of local engines. It has no time and no serial number, so that the same lockfiles always
// give the same file.

import { readFileSync } from "node:fs";
import { listModels } from "../src/engines/local/models.ts";
import {
  type LockedPackage,
  listAllGroups,
  listBundledPackages,
  listLockedPackages,
  listPackagesOf,
  listRootNeeds,
} from "./locked-packages.ts";

interface Component {
  readonly type: "application" | "library" | "machine-learning-model";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version?: string;
  readonly scope?: "required" | "optional";
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
  readonly licenses?: readonly unknown[];
  readonly purl?: string;
  readonly externalReferences?: readonly { readonly type: string; readonly url: string }[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

const lockfile = "package-lock.json";
const groupProperty = "switchyard:group";
// The package of the gateway installs the first, and carries the second in one file.
const shippedGroups = new Set(["core", "dashboard"]);

export async function sbom(): Promise<string> {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
    name: string;
    version: string;
    license: string;
  };
  const groups = listAllGroups();
  const packages = [
    ...listLockedPackages(lockfile).map((one) => ({ one, group: "core" })),
    ...(await listBundledPackages()).map((one) => ({ one, group: "dashboard" })),
    ...groups.flatMap((group) => listPackagesOf(group).map((one) => ({ one, group: group.name }))),
  ];
  const byPurl = Map.groupBy(packages, ({ one }) => toPurl("npm", one.name, one.version));
  const wheels = groups.flatMap(({ name, wheels }) =>
    Object.entries(wheels).map(([wheel, version]) => toWheel(wheel, version, name)),
  );
  const root = toPurl("npm", manifest.name, manifest.version);
  // A package may need others for development only, or for types; the bundle leaves out what no code of it uses.
  const toRefs = (needs: readonly string[]) =>
    [...new Set(needs)].toSorted().flatMap((need) => {
      const at = need.lastIndexOf("@");
      const ref = toPurl("npm", need.slice(0, at), need.slice(at + 1));
      return byPurl.has(ref) ? [ref] : [];
    });
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": root,
        name: manifest.name,
        version: manifest.version,
        licenses: toLicences(manifest.license),
        purl: root,
      } satisfies Component,
    },
    components: [
      ...Array.from(byPurl, ([purl, all]) => toComponent(purl, all)),
      ...wheels,
      ...listModels().map(toModelComponent),
    ],
    dependencies: [
      { ref: root, dependsOn: toRefs(listRootNeeds(lockfile)) },
      ...Array.from(byPurl, ([ref, all]) => ({ ref, dependsOn: toRefs(all.flatMap(({ one }) => one.needs)) })),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toComponent(purl: string, all: readonly { readonly one: LockedPackage; readonly group: string }[]): Component {
  const [{ one } = { one: null }] = all;
  if (one === null) throw new Error(`${purl} has no package`);
  const groups = [...new Set(all.map(({ group }) => group))];
  const isRequired = all.some(({ one: { isOptional }, group }) => shippedGroups.has(group) && !isOptional);
  return {
    type: "library",
    "bom-ref": purl,
    name: one.name,
    version: one.version,
    scope: isRequired ? "required" : "optional",
    ...(one.integrity === null ? {} : { hashes: [toHash(one.integrity)] }),
    ...(one.licence === null ? {} : { licenses: toLicences(one.licence) }),
    purl,
    properties: groups.map((value) => ({ name: groupProperty, value })),
  };
}

function toWheel(name: string, version: string, group: string): Component {
  const purl = toPurl("pypi", name, version);
  const properties = [{ name: groupProperty, value: group }];
  return { type: "library", "bom-ref": purl, name, version, scope: "optional", purl, properties };
}

function toModelComponent({ name, group, licence, source }: ReturnType<typeof listModels>[number]): Component {
  return {
    type: "machine-learning-model",
    "bom-ref": `model:${group}:${name}`,
    name,
    scope: group === "core" ? "required" : "optional",
    licenses: toLicences(licence),
    externalReferences: [{ type: "website", url: source }],
    properties: [{ name: groupProperty, value: group }],
  };
}

function toPurl(kind: "npm" | "pypi", name: string, version: string): string {
  return `pkg:${kind}/${name.replace("@", "%40")}@${version}`;
}

function toHash(integrity: string): { alg: "SHA-512"; content: string } {
  return { alg: "SHA-512", content: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") };
}

// The identifiers of https://spdx.org/licenses/ that occur here. Others are written as names.
const identifiers = new Set([
  ...["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-4-Clause", "CC-BY-4.0", "CC-BY-SA-3.0", "CC0-1.0"],
  ...["ISC", "LGPL-2.1-or-later", "LGPL-3.0-or-later", "MIT", "MPL-2.0", "Unlicense"],
]);

function toLicences(licence: string): unknown[] {
  if (identifiers.has(licence)) return [{ license: { id: licence } }];
  const parts = licence.match(/[\w.+-]+/g) ?? [];
  const isExpression =
    parts.length > 1 && parts.every((part) => identifiers.has(part) || part === "AND" || part === "OR");
  return [isExpression ? { expression: licence } : { license: { name: licence } }];
}
