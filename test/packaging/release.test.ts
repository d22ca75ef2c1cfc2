import { describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { compareVersions, planRelease, readReleaseFiles } from "../../scripts/release.ts";
import { runProgram } from "../support/run-program.ts";

const files = {
  "package.json": '{\n  "name": "x",\n  "version": "0.1.0",\n  "dependencies": { "y": "0.1.0" }\n}\n',
  "package-lock.json":
    '{\n  "version": "0.1.0",\n  "packages": {\n    "": { "version": "0.1.0" },\n    "node_modules/y": { "version": "0.1.0" }\n  }\n}\n',
  "CHANGELOG.md": "# Changelog\n\n## 0.2.0 (unreleased)\n\n- A line.\n\n## 0.1.0 (2026-01-01)\n\n- Another.\n",
  "deploy/helm/switchyard/Chart.yaml": "name: x\nversion: 0.1.0\nappVersion: 0.1.0\nkubeVersion: 0.1.0\n",
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
    expect(planned["deploy/helm/switchyard/Chart.yaml"]).toBe(
      "name: x\nversion: 0.2.0\nappVersion: 0.2.0\nkubeVersion: 0.1.0\n",
    );
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
    const own = readReleaseFiles();
    const [, next = ""] = /^## (\S+) \(unreleased\)$/m.exec(own["CHANGELOG.md"]) ?? [];
    const planned = planRelease(next, own, "2026-11-16");
    const lock = JSON.parse(planned["package-lock.json"]) as { version: string; packages: { "": { version: string } } };
    expect([JSON.parse(planned["package.json"]).version, lock.version, lock.packages[""].version]).toEqual([
      next,
      next,
      next,
    ]);
    // As test/deploy/deploy-files.test.ts requires it of every commit.
    const chart: unknown = parse(planned["deploy/helm/switchyard/Chart.yaml"]);
    expect(chart).toMatchObject({ version: next, appVersion: next });
  });

  test("of a chart with another version than the package is refused", () => {
    const chart = "name: x\nversion: 0.0.9\nappVersion: 0.1.0\n";
    expect(() => planRelease("0.2.0", { ...files, "deploy/helm/switchyard/Chart.yaml": chart }, "2026-11-16")).toThrow(
      "The version 0.1.0 is not stated where it is expected.",
    );
  });
});

// npm refuses a package with a provenance statement unless its repository is the one in which the workflow runs.
test("the workflow names its own repository in the package before it publishes", async () => {
  const workflow = parse(readFileSync(".github/workflows/release.yml", "utf8")) as {
    jobs: { publish: { steps: readonly { run?: string }[] } };
  };
  const lines = workflow.jobs.publish.steps.flatMap(({ run = "" }) => run.split("\n").map((line) => line.trim()));
  const naming = lines.findIndex((line) => line.startsWith("npm pkg set "));
  expect(naming).toBeGreaterThan(-1);
  expect(naming).toBeLessThan(lines.findIndex((line) => line.startsWith("npm publish --provenance")));

  const folder = mkdtempSync(join(tmpdir(), "switchyard-release-"));
  try {
    cpSync("package.json", join(folder, "package.json"));
    const own = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "someone/gateway" };
    const ran = await runProgram(["sh", "-c", lines[naming] ?? ""], { cwd: folder, env: { ...process.env, ...own } });
    expect(ran).toMatchObject({ code: 0 });
    const { repository, ...rest } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(repository).toEqual({ type: "git", url: "git+https://github.com/someone/gateway.git" });
    expect(rest).toEqual(JSON.parse(readFileSync("package.json", "utf8")));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("versions are ordered as semver says", () => {
  const ordered = ["0.9.9", "1.0.0-rc.1", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0", "1.0.1", "1.2.0", "1.10.0"];
  expect(ordered.toReversed().toSorted(compareVersions)).toEqual(ordered);
});
