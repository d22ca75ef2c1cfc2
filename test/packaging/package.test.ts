// What is published: the manifest, the bill of materials, the workflows, and the name under which people find it.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import packageJson from "../../package.json";
import { listBundledPackages, listLockedPackages } from "../../scripts/locked-packages.ts";
import { sbom } from "../../scripts/sbom.ts";
import { runCommand } from "../../src/cli/commands.ts";
import { createDashboardLoader } from "../../src/http/endpoints/dashboard-bundle.ts";
import { Spec, Validation } from "../tools/sbom/node_modules/@cyclonedx/cyclonedx-library";

async function run(...args: string[]): Promise<string> {
  let printed = "";
  const print = (line: string) => {
    printed += `${line}\n`;
  };
  expect(await runCommand(args, { print, printError() {} })).toBe(0);
  return printed;
}

test("the package can be published, and both its names are commands", () => {
  expect(packageJson).not.toHaveProperty("private");
  expect(Object.keys(packageJson.bin)).toEqual(["switchyard", packageJson.name]);
  for (const path of Object.values(packageJson.bin)) expect(existsSync(path)).toBe(true);
});

// npx would fetch the package of that name, which belongs to others.
test("no page and no message tells anybody to run npx with another package's name", async () => {
  const patterns = [
    ...["*.md", "docs/**/*.md", "examples/**/*", "deploy/**/*", "src/**/*.ts", "scripts/**/*.ts", ".github/**/*"],
  ];
  const paths = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ dot: true })]);
  expect(paths).toContain("src/cli/keys.ts");
  expect(paths).toContain("docs/start.md");
  const texts = await Promise.all(paths.map(async (path) => [path, await Bun.file(path).text()] as const));
  const wrong = texts.filter(([, text]) => /\bnpx (?:--?\S+ )*switchyard(?!-gateway)/.test(text));
  expect(wrong.map(([path]) => path)).toEqual([]);
});

describe("the bill of materials", async () => {
  interface Sbom {
    readonly components: readonly {
      readonly "bom-ref": string;
      readonly name: string;
      readonly licenses?: unknown[];
      readonly scope?: string;
      readonly properties?: readonly { readonly value: string }[];
    }[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
    readonly metadata: { readonly component: { readonly "bom-ref": string } };
  }
  const written = await sbom();
  const { components, dependencies, metadata } = JSON.parse(written) as Sbom;
  const refs = new Set([metadata.component["bom-ref"], ...components.map((one) => one["bom-ref"])]);

  test("lists every package of the lockfile once, and the engines", () => {
    expect(refs.size).toBe(components.length + 1);
    const names = components.map(({ name }) => name);
    for (const { name } of listLockedPackages("package-lock.json")) expect(names).toContain(name);
    for (const name of ["onnxruntime-node", "rapidocr", "@tesseract.js-data/deu"]) expect(names).toContain(name);
    expect(names).not.toContain("typescript");
    for (const { name, licenses } of components)
      if (name !== "rapidocr") expect([name, licenses]).toEqual([name, [expect.anything()]]);
  });

  test("is valid by the published schema of CycloneDX", async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(written)).toBeNull();
    expect(await validator.validate(written.replace('"type": "library"', '"type": "book"'))).not.toBeNull();
  });

  test("lists the libraries that are bundled into the dashboard, and no others for development", async () => {
    const groupsOf = (wanted: string) =>
      components.find(({ name }) => name === wanted)?.properties?.map(({ value }) => value);
    expect(groupsOf("react")).toEqual(["dashboard"]);
    expect(groupsOf("@floating-ui/dom")).toEqual(["dashboard"]);
    expect(groupsOf("marked")).toEqual(["core", "dashboard"]);
    expect(groupsOf("dom-helpers")).toBeUndefined();
    expect(components.find(({ name }) => name === "react")?.scope).toBe("required");
  });

  test("the bundle of the dashboard has the licences of these libraries beside it", async () => {
    const { folder } = await createDashboardLoader()();
    const licences = await Bun.file(join(folder, "licences.txt")).text();
    for (const { name, version } of await listBundledPackages()) expect(licences).toContain(`## ${name} ${version} (`);
    expect(licences).toContain("Permission is hereby granted, free of charge");
  });

  test("has dependencies that are components", () => {
    for (const { ref, dependsOn } of dependencies)
      for (const one of [ref, ...dependsOn]) expect([one, refs.has(one)]).toEqual([one, true]);
    const root = dependencies.find(({ ref }) => ref === metadata.component["bom-ref"]);
    expect(root?.dependsOn).toContain(`pkg:npm/zod@${packageJson.dependencies.zod}`);
    expect(root?.dependsOn).toContain(`pkg:npm/react@${packageJson.devDependencies.react}`);
  });

  test("is what `switchyard licences --sbom` prints, and the report names the licences", async () => {
    expect(await run("licences", "--sbom")).toBe(written);
    const report = await run("licences");
    expect(report).toMatch(/^name +version +licence +group\n/);
    expect(report).toMatch(/^zod +\S+ +MIT +core$/m);
    expect(JSON.parse(await run("licences", "--json")).components).toHaveLength(components.length);
  });

  test("has only licences that permit use in closed products, apart from separate files under the LGPL", async () => {
    const permissive =
      /^(?:MIT|MIT-0|ISC|0BSD|Apache-2\.0|BSD-[234]-Clause|CC0-1\.0|Unlicense|CC-BY-4\.0|CC-BY-SA-3\.0)$/;
    const known = new Set(["codec-parser"]);
    const others = [...listLockedPackages("package-lock.json"), ...(await listBundledPackages())].filter(
      ({ name, licence }) =>
        !known.has(name) &&
        !(licence ?? "")
          .split(/[()\s]+|\b(?:AND|OR)\b/)
          .every((part) => part === "" || part === "BSD" || permissive.test(part)),
    );
    expect(others.map(({ name, licence }) => `${name}: ${licence}`)).toEqual([]);
  });
});

describe("workflows and templates", async () => {
  const paths = [...new Bun.Glob(".github/**/*.yml").scanSync({ dot: true })];

  test("are there, and are YAML", () => {
    for (const path of ["ci.yml", "release.yml"]) expect(paths).toContain(`.github/workflows/${path}`);
    for (const path of paths) expect(parse(readFileSync(path, "utf8"))).toBeObject();
    for (const path of ["SECURITY.md", ".editorconfig", ".github/pull_request_template.md"])
      expect(existsSync(path)).toBe(true);
  });

  test("run scripts that exist", () => {
    const scripts = Object.keys(packageJson.scripts);
    for (const path of [...paths, ".github/pull_request_template.md"])
      for (const [, script = ""] of readFileSync(path, "utf8").matchAll(/npm run ([\w:-]+)/g))
        expect(scripts).toContain(script);
  });

  test("give jobs no more permissions than they name, and a time limit", () => {
    for (const path of paths.filter((one) => one.includes("/workflows/"))) {
      const { permissions, jobs } = parse(readFileSync(path, "utf8")) as {
        permissions: unknown;
        jobs: Record<string, { "timeout-minutes"?: number }>;
      };
      expect(permissions).toEqual({ contents: "read" });
      for (const job of Object.values(jobs)) expect(job["timeout-minutes"]).toBeNumber();
    }
  });
});
