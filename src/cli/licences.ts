// `switchyard licences`: the packages, models and data of this version with their licences, from the software bill of materials.

import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { alignColumns } from "../usage/report-formats.ts";
import { createCommand, type Output } from "./command-line.ts";

/** The members of docs/sbom.cdx.json that are read here. It belongs to this version, so it is not validated. */
interface Sbom {
  readonly components: readonly {
    readonly type: string;
    readonly name: string;
    readonly version?: string;
    readonly licenses?: readonly {
      readonly expression?: string;
      readonly license?: { readonly id?: string; readonly name?: string };
    }[];
    readonly properties?: readonly { readonly name: string; readonly value: string }[];
  }[];
}

interface LicencesOptions {
  readonly sbom?: true;
  readonly json?: true;
}

export function createLicencesCommand({ print, ...output }: Output): Command {
  return createCommand("licences", "List the packages and models of this version with their licences.", {
    print,
    ...output,
  })
    .option("--sbom", "print the software bill of materials as CycloneDX JSON")
    .option("--json", "print JSON")
    .action(({ sbom, json }: LicencesOptions) => {
      const written = readFileSync(new URL("../../docs/sbom.cdx.json", import.meta.url), "utf8");
      if (sbom) {
        print(written.trimEnd());
        return;
      }
      const components = listComponents(JSON.parse(written) as Sbom);
      if (json) {
        print(JSON.stringify({ components }, null, 2));
        return;
      }
      const rows = components.map(({ name, version, licence, groups }) => [name, version, licence, groups.join(", ")]);
      for (const line of alignColumns([["name", "version", "licence", "group"], ...rows], 4)) print(line);
      print("");
      print(
        "`core` and `dashboard` come with the gateway; `engines add` installs the other groups. docs/third-party.md has their terms.",
      );
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway licences --sbom > sbom.cdx.json");
}

function listComponents({ components }: Sbom) {
  return components.map(({ type, name, version = null, licenses = [], properties = [] }) => ({
    type,
    name,
    version,
    licence: licenses.map(({ expression, license }) => expression ?? license?.id ?? license?.name).join(", ") || null,
    groups: properties.map(({ value }) => value),
  }));
}
