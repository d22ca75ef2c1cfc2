// The steps of the Dockerfile that build the gateway, executed without a container engine, on the files that `docker build .` would see.
// The paths of the image are folders below a temporary one. scripts/try-image.ts builds the whole image where buildah is installed.

import { afterAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import packageJson from "../../package.json";
import { copyDockerContext } from "../support/docker-context.ts";
import { runProgram } from "../support/run-program.ts";

const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-image-build-"));
const context = join(folder, "context");
const image = join(folder, "image");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [, buildStage = "", lastStage = ""] = readFileSync(join(root, "Dockerfile"), "utf8").split(/^FROM /m);

interface Step {
  readonly instruction: string;
  readonly text: string;
}

/** The first line of a stage names its base image. */
function readSteps(stage: string): Step[] {
  const lines = stage.split("\n").slice(1);
  const joined = lines
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll("\\\n", " ");
  return joined
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, instruction = "", text = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return { instruction, text };
    });
}

/** With the absolute paths of the image below the temporary folder. */
function inImage(text: string): string {
  return text.replaceAll(/(?<![\w.*}/-])\/(?=source\b|app\b|tmp\b|usr\b|var\b)/g, `${image}/`);
}

test("every step of the build stage succeeds with the files of the context, and the gateway of the image starts", async () => {
  copyDockerContext(root, context);
  for (const name of ["tmp", "usr/local/bin"]) mkdirSync(join(image, name), { recursive: true });
  // npm asks the registry only for what `npm ci` has not fetched before.
  const environment: Record<string, string | undefined> = { ...process.env, npm_config_prefer_offline: "true" };
  let workingFolder = image;

  for (const { instruction, text } of readSteps(buildStage)) {
    if (instruction === "ARG") {
      const [, name = "", value = ""] = /^(\w+)="(.*)"$/.exec(text) ?? [];
      environment[name] = value;
    } else if (instruction === "WORKDIR") {
      workingFolder = inImage(text);
      mkdirSync(workingFolder, { recursive: true });
    } else if (instruction === "COPY") {
      const paths = text.split(/\s+/);
      const target = join(workingFolder, paths.at(-1) ?? "");
      for (const path of paths.slice(0, -1))
        cpSync(join(context, path), path === "." ? target : join(target, path), { recursive: true });
    } else if (instruction === "RUN") {
      const ran = await runProgram(["sh", "-c", inImage(text)], { cwd: workingFolder, env: environment });
      expect({ step: text, code: ran.code, errors: ran.code === 0 ? "" : `${ran.out}${ran.errors}` }).toEqual({
        step: text,
        code: 0,
        errors: "",
      });
    } else throw new Error(`This test cannot execute ${instruction} ${text}`);
  }

  const copied = readSteps(lastStage).flatMap(({ instruction, text }) => {
    const [, path] = /^--from=build (\S+) /.exec(text) ?? [];
    return instruction === "COPY" && path !== undefined ? [path] : [];
  });
  expect(copied).toEqual(["/usr/local/bin/bun", "/app"]);
  for (const path of copied) expect([path, existsSync(inImage(path))]).toEqual([path, true]);
  for (const name of ["test", "bench", "scripts"]) expect(existsSync(join(image, "app", name))).toBe(false);

  const bun = join(image, "usr/local/bin/bun");
  const started = await runProgram([bun, join(image, "app/src/main.ts"), "version"], {
    cwd: folder,
    env: { PATH: dirname(bun), HOME: folder },
  });
  expect(started).toMatchObject({ code: 0, out: expect.stringContaining(packageJson.version) });
});
