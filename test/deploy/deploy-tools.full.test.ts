// The files in deploy/ as the programs see them that will use them. A program that cannot be had here is named in the title of its tests.

import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import { findProgram, installGoTool, installPythonTool, type Tool } from "../support/deploy-tools.ts";
import { checkSample, whyNoNginx } from "../support/nginx.ts";

const root = join(import.meta.dir, "../..");
const chart = join(root, "deploy/helm/switchyard");
const alertRules = join(root, "deploy/prometheus/switchyard.rules.yml");
const folder = mkdtempSync(join(tmpdir(), "switchyard-deploy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hadolint = installPythonTool("hadolint");
const kubernetesValidate = installPythonTool("kubernetes-validate");
const helm = installPythonTool("helm");
const composeSpec = installGoTool("compose-spec");
const systemdAnalyze = findProgram("systemd-analyze");

function testWith(tools: readonly Tool[], title: string, body: () => void): void {
  const missing = tools.filter(({ path }) => path === null).map(({ why }) => why);
  const note = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")})`;
  test.skipIf(missing.length > 0)(`${title}${note}`, body, 120_000);
}

function run(tool: Tool, args: readonly string[], environment: Record<string, string> = {}) {
  const command = [tool.path ?? tool.name, ...args];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env: { ...process.env, ...environment }, cwd: folder });
  return { code: exitCode, output: stdout.toString(), errors: stderr.toString() };
}

testWith([hadolint], "hadolint has no complaint about the Dockerfile", () => {
  expect(run(hadolint, [join(root, "Dockerfile")])).toEqual({ code: 0, output: "", errors: "" });
});

test.skipIf(whyNoNginx() !== null)("nginx accepts the sample", () => {
  expect(checkSample(join(folder, "nginx"))).toBeNull();
});

for (const unit of ["switchyard.service", "switchyard-worker.service"])
  testWith([systemdAnalyze], `systemd accepts ${unit}, and has little to say about its exposure`, () => {
    // The program and the user exist only where the gateway is installed.
    const text = readFileSync(join(root, "deploy/systemd", unit), "utf8")
      .replace(/^ExecStart=\S+/m, "ExecStart=/bin/true")
      .replace(/^User=.*$/m, "User=daemon")
      .replace(/^Group=.*$/m, "Group=daemon");
    const file = join(folder, unit);
    writeFileSync(file, text);
    const verified = run(systemdAnalyze, ["verify", "--man=no", file]);
    expect({ ...verified, errors: verified.errors.split("\n").filter((line) => line.includes(unit)) }).toMatchObject({
      code: 0,
      errors: [],
    });
    const rated = run(systemdAnalyze, ["security", "--offline=true", "--threshold=20", file]);
    expect(rated.output).toMatch(/Overall exposure level/);
    expect([rated.code, rated.output.slice(-200)]).toEqual([0, rated.output.slice(-200)]);
  });

testWith([composeSpec], "compose.yaml conforms to the Compose Specification", () => {
  const copy = join(folder, "compose");
  cpSync(join(root, "deploy"), copy, { recursive: true });
  cpSync(join(copy, "example.gateway.env"), join(copy, "gateway.env"));
  // The program does not read variables of the environment: defaults, and a text for what has none.
  const text = readFileSync(join(copy, "compose.yaml"), "utf8");
  writeFileSync(
    join(copy, "compose.yaml"),
    text.replaceAll(/\$\{(\w+):[-?]([^}]*)\}/g, (variable, name, value) =>
      variable.includes(":?") ? `secret-${name}` : value,
    ),
  );
  const read = run(composeSpec, ["--format=json", join(copy, "compose.yaml")]);
  expect({ code: read.code, errors: read.errors }).toEqual({ code: 0, errors: "" });
  const { services } = JSON.parse(read.output) as { services: Record<string, object> };
  expect(Object.keys(services)).toHaveLength(7);
  expect(services["worker"]).toMatchObject({
    command: ["work"],
    environment: {
      DATABASE_URL: "postgres://switchyard:secret-POSTGRES_PASSWORD@postgres:5432/switchyard",
      SWITCHYARD_JOB_WORKERS: 1,
      SWITCHYARD_METRICS_PORT: "9464",
    },
  });
});

const own = {
  "secrets.databaseUrl": "postgres://u:p@db:5432/switchyard",
  "secrets.adminKey": "mgmt-0123456789abcdef",
  "secrets.encryptionKey": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
};
const variants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "the defaults": own,
  "an existing Secret and no workers": { "secrets.existing": "s", "workers.replicas": "0" },
  "volumes, a shared claim and no autoscaling": {
    ...own,
    "persistence.enabled": "true",
    "persistence.storageClass": "fast",
    sharedFilesClaim: "files",
    "autoscaling.enabled": "false",
  },
  "ingress with TLS and configuration": {
    ...own,
    "ingress.enabled": "true",
    "ingress.className": "nginx",
    "ingress.tlsSecret": "tls",
    "config.aliases.fast": "openai/gpt-5",
    "environment.SWITCHYARD_PUBLIC_URL": "https://ai.example.com",
    "secrets.extra.OPENAI_API_KEY": "k",
  },
};

function template(values: Readonly<Record<string, string>>) {
  const sets = Object.entries(values).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  return run(helm, ["template", "prod", chart, ...sets]);
}

/** The manifests that `helm template` printed. */
function readManifests(output: string): Manifest[] {
  return parseAllDocuments(output).flatMap((one) => (one.toJS() as Manifest | null) ?? []);
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly template?: { readonly spec: PodSpec }; readonly jobLabel?: string };
}
interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly containers: readonly {
    readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
    readonly env: readonly { readonly name: string; readonly value: string }[];
  }[];
}

testWith([helm], "helm has no complaint about the chart", () => {
  const sets = Object.entries(own).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const linted = run(helm, ["lint", "--strict", chart, ...sets]);
  expect([linted.code, linted.output]).toEqual([0, expect.stringContaining("0 chart(s) failed")]);
});

for (const [name, values] of Object.entries(variants)) {
  testWith([helm, kubernetesValidate], `Kubernetes accepts what the chart makes of ${name}`, () => {
    const rendered = template(values);
    expect([rendered.code, rendered.errors]).toEqual([0, ""]);
    const file = join(folder, `${name.replaceAll(/\W+/g, "-")}.yaml`);
    writeFileSync(file, rendered.output);
    for (const version of ["1.27", "1.37"]) {
      const checked = run(kubernetesValidate, ["--strict", "--quiet", "--kubernetes-version", version, file]);
      expect([version, checked.code, checked.output]).toEqual([version, 0, ""]);
    }
  });

  testWith([helm], `pods are confined and have time to drain with ${name}`, () => {
    const manifests = readManifests(template(values).output);
    const pods = manifests.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template.spec]));
    expect(pods.length).toBe(values["workers.replicas"] === "0" ? 1 : 2);
    for (const pod of pods) {
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      const [container] = pod.containers;
      expect(container?.securityContext.readOnlyRootFilesystem).toBe(true);
      const setting = (wanted: string) => Number(container?.env.find(({ name }) => name === wanted)?.value ?? 0);
      const drainMs = setting("SWITCHYARD_DRAIN_DELAY_MS") + setting("SWITCHYARD_DRAIN_TIMEOUT_MS");
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(drainMs);
    }
  });
}

testWith([helm], "numbers and booleans of a values file reach the gateway as they are written", () => {
  const written = {
    SWITCHYARD_TOTAL_TIMEOUT_MS: 3_600_000,
    SWITCHYARD_MAX_FILE_BYTES: 2_147_483_647,
    SWITCHYARD_TRACE_CONTENT: false,
    SWITCHYARD_TRUSTED_PROXIES: "10.0.0.0/8",
    SWITCHYARD_FILES_S3_BUCKET: "1000000",
  };
  const file = join(folder, "numbers.yaml");
  writeFileSync(file, stringify({ environment: written, secrets: { existing: "s" } }));
  const rendered = run(helm, ["template", "prod", chart, "--values", file]);
  expect([rendered.code, rendered.errors]).toEqual([0, ""]);
  const expected = Object.entries(written).map(([name, value]) => ({ name, value: String(value) }));
  for (const { spec } of readManifests(rendered.output))
    if (spec?.template !== undefined)
      expect(spec.template.spec.containers[0]?.env).toEqual(expect.arrayContaining(expected));
});

testWith([helm], "a ServiceMonitor gives the metrics the job that the alert rules name", () => {
  const manifests = readManifests(template({ ...own, "metrics.serviceMonitor.enabled": "true" }).output);
  const monitor = manifests.find(({ kind }) => kind === "ServiceMonitor");
  const service = manifests.find(({ kind, metadata }) => kind === "Service" && metadata.name.endsWith("-metrics"));
  const [, job = ""] = /up\{job="([^"]+)"\}/.exec(readFileSync(alertRules, "utf8")) ?? [];
  expect(job).not.toBe("");
  expect(service?.metadata.labels?.[monitor?.spec?.jobLabel ?? ""]).toBe(job);
});

for (const [problem, values, message] of [
  ["no database", { ...own, "secrets.databaseUrl": "" }, "several pods need PostgreSQL"],
  ["a misspelt value", { ...own, "serving.replica": "3" }, "replica"],
  ["a short management key", { ...own, "secrets.adminKey": "short" }, "adminKey"],
  ["a database that is not PostgreSQL", { ...own, "secrets.databaseUrl": "mysql://db" }, "databaseUrl"],
] as const)
  testWith([helm], `the chart refuses ${problem}`, () => {
    const refused = template(values);
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining(message)]);
  });
