// The files in deploy/ agree with the gateway and with each other. deploy-tools.full.test.ts has the checks of other programs.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import packageJson from "../../package.json";
import { settings } from "../../src/config/settings.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const dockerfile = read("Dockerfile");
const nginx = read("deploy/nginx/nginx.conf");
const units = ["switchyard.service", "switchyard-worker.service"].map((name) => read(`deploy/systemd/${name}`));

interface Service {
  readonly image?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
}
const compose = parse(read("deploy/compose.yaml"), { merge: true }) as { services: Record<string, Service> };
const services = Object.entries(compose.services);
const values = parse(read("deploy/helm/switchyard/values.yaml")) as {
  serving: { drainDelaySeconds: number };
  metrics: { port: number };
};

/** A default of settings.ts, as a number. */
function usual(name: keyof typeof settings): number {
  return Number(settings[name].parse(undefined));
}

/** The value of a directive of nginx, in seconds or bytes. */
function directive(name: string, text = nginx): number {
  const [, digits = "", unit = ""] = new RegExp(`^\\s*${name} (\\d+)([smk]?);`, "m").exec(text) ?? [];
  const factors: Readonly<Record<string, number>> = { "": 1, s: 1, k: 1_024, m: 1_048_576 };
  return Number(digits) * (factors[unit] ?? Number.NaN);
}

test("the chart has the version of the package", () => {
  const chart = parse(read("deploy/helm/switchyard/Chart.yaml")) as { version: string; appVersion: string };
  expect(chart).toMatchObject({ version: packageJson.version, appVersion: packageJson.version });
});

test("every base image has an exact version", () => {
  const bases = Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, image = ""]) => image);
  const others = services.map(([, { image = "" }]) => image).filter((image) => !image.startsWith("switchyard:"));
  expect(bases).toHaveLength(2);
  expect(others).toHaveLength(4);
  for (const image of [...bases, ...others]) expect(image).toMatch(/:(v?\d+\.\d+(\.\d+)?|bookworm-\d{8})(-[a-z-]+)?$/);
});

test("the image runs as a user without rights, and checks its health", () => {
  const last = dockerfile.split(/^FROM /m).at(-1) ?? "";
  expect(last).toMatch(/^USER 10001:10001$/m);
  expect(last).toMatch(/^HEALTHCHECK .*check-health\.ts/m);
  expect(last).not.toContain("npm");
  for (const [, path = ""] of dockerfile.matchAll(/\/app\/(deploy\/[\w./-]+)/g))
    expect(existsSync(join(root, path))).toBe(true);
  expect(packageJson.files).toContain("deploy");
});

test("every container of compose.yaml has a read-only root file system and no capabilities but those it lists", () => {
  expect(services.map(([name]) => name).toSorted()).toEqual(
    ["gateway-1", "gateway-2", "grafana", "nginx", "postgres", "prometheus", "worker"].toSorted(),
  );
  for (const [name, { read_only, cap_drop }] of services)
    expect([name, read_only, cap_drop]).toEqual([name, true, ["ALL"]]);
});

test("every setting that a file in deploy names exists", () => {
  const known = new Set(Object.keys(settings).map((name) => `SWITCHYARD_${name.toUpperCase()}`));
  // Variables of compose.yaml itself, the path of the configuration file, and a setting of TLS.
  for (const own of ["VERSION", "ADDRESS", "CONFIG", "TLS_CERT"]) known.add(`SWITCHYARD_${own}`);
  const files = ["Dockerfile", ...new Bun.Glob("deploy/**/*").scanSync({ cwd: root, dot: true })];
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/SWITCHYARD_[A-Z0-9_]*[A-Z0-9]/g)].map(([name]) => name),
  );
  expect(named.length).toBeGreaterThan(20);
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
});

test("nginx closes idle connections before a gateway that shuts down does", () => {
  const keepAliveS = directive("keepalive_timeout", nginx.slice(nginx.indexOf("upstream"), nginx.indexOf("map ")));
  expect(keepAliveS).toBeGreaterThan(0);
  const drainDelays = ["gateway-1", "gateway-2"].map((name) =>
    Number(compose.services[name]?.environment?.["SWITCHYARD_DRAIN_DELAY_MS"]),
  );
  for (const delayMs of [...drainDelays, values.serving.drainDelaySeconds * 1_000])
    expect(delayMs).toBeGreaterThan(keepAliveS * 1_000);
});

test("nginx waits longer than the gateway, accepts what the gateway accepts, and repeats no request that was sent", () => {
  expect(directive("proxy_read_timeout")).toBeGreaterThan(usual("total_timeout_ms") / 1_000);
  expect(directive("client_max_body_size")).toBeGreaterThan(usual("max_file_bytes"));
  expect(nginx).toMatch(/^\s*proxy_next_upstream error timeout;$/m);
  expect(nginx).toMatch(/^\s*proxy_buffering off;$/m);
});

test("nobody kills a gateway before its drain has ended", () => {
  const { environment = {}, stop_grace_period = "" } = compose.services["gateway-1"] ?? {};
  const drainMs = Number(environment["SWITCHYARD_DRAIN_DELAY_MS"]) + Number(environment["SWITCHYARD_DRAIN_TIMEOUT_MS"]);
  expect(Number(stop_grace_period.replace(/s$/, "")) * 1_000).toBeGreaterThan(drainMs);
  for (const unit of units) {
    const timeoutS = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
    expect(timeoutS * 1_000).toBeGreaterThan(usual("drain_delay_ms") + usual("drain_timeout_ms"));
  }
});

test("Prometheus scrapes the port that the gateways of compose.yaml and of the chart open", () => {
  const port = compose.services["gateway-1"]?.environment?.["SWITCHYARD_METRICS_PORT"];
  expect(values.metrics.port).toBe(Number(port));
  const scraped = parse(read("deploy/docker/prometheus.yml")) as {
    scrape_configs: readonly { static_configs: readonly { targets: readonly string[] }[] }[];
  };
  const targets = scraped.scrape_configs[0]?.static_configs[0]?.targets;
  expect(targets).toEqual(["gateway-1", "gateway-2", "worker"].map((name) => `${name}:${port}`));
});

test("the alert rules name the job that every scrape configuration and the chart give the gateways", () => {
  const jobs = new Set(
    Array.from(read("deploy/prometheus/switchyard.rules.yml").matchAll(/job="([^"]*)"/g), ([, job]) => job),
  );
  const [job = ""] = jobs;
  expect(jobs.size).toBe(1);
  for (const file of ["deploy/prometheus/prometheus.yml", "deploy/docker/prometheus.yml"]) {
    const { scrape_configs } = parse(read(file)) as { scrape_configs: readonly { job_name: string }[] };
    expect([file, scrape_configs.map(({ job_name }) => job_name)]).toEqual([file, [job]]);
  }
  // deploy-tools.full.test.ts renders the chart, where Helm is installed.
  const templates = "deploy/helm/switchyard/templates";
  const [, jobLabel = ""] = /^ {2}jobLabel: (\S+)$/m.exec(read(`${templates}/service-monitor.yaml`)) ?? [];
  expect(jobLabel).not.toBe("");
  expect(read(`${templates}/_helpers.tpl`)).toContain(
    `\n${jobLabel}: {{ default .Chart.Name .Values.nameOverride }}\n`,
  );
  expect(parse(read("deploy/helm/switchyard/Chart.yaml"))).toMatchObject({ name: job });
});

test("what compose.yaml mounts exists", () => {
  const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(":")[0] ?? ""));
  const files = mounted.filter((path) => path.startsWith("./")).map((path) => join("deploy", path));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
