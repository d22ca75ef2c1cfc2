import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { compareVersions, planRelease } from "../../scripts/release.ts";

const files = {
  "package.json": '{\n  "name": "x",\n  "version": "0.1.0",\n  "dependencies": { "y": "0.1.0" }\n}\n',
  "package-lock.json":
    '{\n  "version": "0.1.0",\n  "packages": {\n    "": { "version": "0.1.0" },\n    "node_modules/y": { "version": "0.1.0" }\n  }\n}\n',
  "CHANGELOG.md": "# Changelog\n\n## 0.2.0 (unreleased)\n\n- A line.\n\n## 0.1.0 (2026-01-01)\n\n- Another.\n",
};

describe("a release", () => {
  test("sets the version of the package and the date of its section, and nothing else", () => {
    const planned = planRelease("0.2.0", files, "2026-11-16");
    expect(JSON.parse(planned["package.json"])).toEqual({ name: "x", version: "0.2.0", dependencies: { y: "0.1.0" } });
    expect(JSON.parse(planned["package-lock.json"])).toEqual({
      version: "0.2.0",
      packages: { "": { version: "0.2.0" }, "node_modules/y": { version: "0.1.0" } },
    });
    expect(planned["CHANGELOG.md"]).toContain("## 0.2.0 (2026-11-16)\n\n- A line.\n\n## 0.1.0 (2026-01-01)");
  });

  test.each([
    ["0.1.0", "is not newer than 0.1.0"],
    ["0.0.9", "is not newer than 0.1.0"],
    ["0.1.0-rc.1", "is not newer than 0.1.0"],
    ["0.3.0", 'has no section "## 0.3.0 (unreleased)"'],
    ["v0.2.0", "has the form"],
    ["0.2", "has the form"],
  ])("of %s is refused: it %s", (version, message) => {
    expect(() => planRelease(version, files, "2026-11-16")).toThrow(message);
  });

  test("without a line in the changelog is refused", () => {
    const empty = { ...files, "CHANGELOG.md": files["CHANGELOG.md"].replace("- A line.\n", "") };
    expect(() => planRelease("0.2.0", empty, "2026-11-16")).toThrow("is empty");
  });

  test("fits the files of this repository", () => {
    const read = (path: string) => readFileSync(path, "utf8");
    const own = {
      "package.json": read("package.json"),
      "package-lock.json": read("package-lock.json"),
      "CHANGELOG.md": read("CHANGELOG.md"),
    };
    const [, next = ""] = /^## (\S+) \(unreleased\)$/m.exec(own["CHANGELOG.md"]) ?? [];
    const planned = planRelease(next, own, "2026-11-16");
    const lock = JSON.parse(planned["package-lock.json"]) as { version: string; packages: { "": { version: string } } };
    expect([JSON.parse(planned["package.json"]).version, lock.version, lock.packages[""].version]).toEqual([
      next,
      next,
      next,
    ]);
  });
});

test("versions are ordered as semver says", () => {
  const ordered = ["0.9.9", "1.0.0-rc.1", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0", "1.0.1", "1.2.0", "1.10.0"];
  expect(ordered.toReversed().toSorted(compareVersions)).toEqual(ordered);
});
