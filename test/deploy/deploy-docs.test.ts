// What the pages tell operators to type fits the files in deploy/.

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../support/deploy-tools.ts";
import { runProgram } from "../support/run-program.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const folder = mkdtempSync(join(tmpdir(), "switchyard-deploy-docs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The part of docs/deployment.md about Helm. */
const [, helmSection = ""] = /^## Kubernetes with Helm\n([\s\S]*?)^## /m.exec(read("docs/deployment.md")) ?? [];
/** What the chart's own Secret cannot do without, and so an existing one must have. */
const needed = Array.from(
  read("deploy/helm/switchyard/templates/secret.yaml").matchAll(/^ {2}(\w+): \{\{ required /gm),
  ([, name = ""]) => name,
);

test("the page names every value that the Secret of the chart needs, and the template of gateway.env has a line for each", () => {
  expect(needed).toEqual(["DATABASE_URL", "SWITCHYARD_ADMIN_KEY", "SWITCHYARD_ENCRYPTION_KEY"]);
  const [beforeSecret = ""] = helmSection.split("kubectl create secret");
  for (const name of needed) {
    expect(beforeSecret).toContain(`\`${name}\``);
    expect(read("deploy/example.gateway.env")).toMatch(new RegExp(`^# ${name}=`, "m"));
  }
});

const kubectl = findProgram("kubectl");
const note = kubectl.path === null ? ` (skipped: ${kubectl.why})` : "";

test.skipIf(kubectl.path === null)(
  `kubectl makes the Secret of the chart with the command of the page${note}`,
  async () => {
    const command = /^kubectl create secret .*$/m.exec(helmSection)?.[0] ?? "";
    const filled = needed.reduce(
      (text, name) => text.replace(new RegExp(`^# ${name}=.*$`, "m"), `${name}=value-of-${name}`),
      read("deploy/example.gateway.env"),
    );
    mkdirSync(join(folder, "deploy"));
    writeFileSync(join(folder, "deploy/gateway.env"), filled);
    const ran = await runProgram(["sh", "-c", `${command} --dry-run=client --output=json`], {
      cwd: folder,
      // No cluster is asked.
      env: { ...process.env, KUBECONFIG: "/dev/null" },
    });
    expect(ran).toMatchObject({ code: 0, errors: "" });
    const secret = JSON.parse(ran.out) as { metadata: { name: string }; data: Record<string, string> };
    expect(helmSection).toContain(`--set secrets.existing=${secret.metadata.name}`);
    const values = Object.fromEntries(Object.entries(secret.data).map(([name, value]) => [name, atob(value)]));
    expect(values).toEqual(Object.fromEntries(needed.map((name) => [name, `value-of-${name}`])));
  },
);

test("every directive of nginx that a page states with its value is in the sample", () => {
  const sample = read("deploy/nginx/nginx.conf");
  const pages = ["README.md", ...new Bun.Glob("docs/*.md").scanSync(root)];
  const stated = pages.flatMap((page) =>
    Array.from(read(page).matchAll(/`((?:proxy|client|keepalive)_\w+ [^`]+)`/g), ([, directive = ""]) => directive),
  );
  expect(stated.filter((directive) => !sample.includes(` ${directive};\n`))).toEqual([]);
});
