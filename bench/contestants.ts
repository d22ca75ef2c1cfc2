// Switchyard, nginx as the lower bound, and the vendor itself for what is added to it. peers.ts starts other gateways.

import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, type Children, findFreePort, readLogTail, waitForAnswer } from "./children.ts";
import { type Call, chatCompletionAnswer, plainRequest, streamRequest } from "./requests.ts";

/** `translated`: a stream of another format than the caller's, which only a gateway can be asked for. */
export type AnswerKind = "plain" | "stream" | "translated" | "flood";

export type Contestant = {
  name: "Switchyard" | "nginx" | "Portkey" | "Bifrost" | "LiteLLM" | "vendor";
  pid: number;
  /** The request that makes the vendor behind this contestant answer in that way. */
  prepare: (kind: AnswerKind) => Call;
  stop: () => Promise<void>;
};

/** A gateway in which more keys can be created. */
export type GatewayContestant = Contestant & { createKey: () => Promise<string> };

export type Vendors = { plainPort: number; streamPort: number; chunks: number; stop: () => Promise<void> };

const nginx = Bun.which("nginx") ?? (existsSync("/usr/sbin/nginx") ? "/usr/sbin/nginx" : null);
const node = Bun.which("node");
const json = { "content-type": "application/json" };
/** Limits that no load reaches: what is measured is the counting. */
const wideLimits = {
  rate_limit: {
    requests_per_minute: 1_000_000_000,
    tokens_per_minute: 1_000_000_000,
    concurrent_requests: 100_000,
  },
  budget: { amount: 1_000_000, period: "monthly" },
};

export const isNginxInstalled = nginx !== null;

/** The vendor of plain answers is nginx where it is installed: the cheapest there is, so that it is never the bottleneck. */
export async function startVendors(children: Children, chunks: number): Promise<Vendors> {
  const tool = children.startTool("vendor.ts", { chunks, intervalMs: 8, floodLimitBytes: 64 * 1024 * 1024 });
  const { value } = await tool.stdout.getReader().read();
  const streamPort = Number(new TextDecoder().decode(value).trim());
  if (!streamPort) throw new Error("the pretend vendor did not start");
  if (!nginx) return { plainPort: streamPort, streamPort, chunks, stop: () => tool.stop() };

  const plainPort = await findFreePort();
  const child = startNginx(
    children,
    nginx,
    `location / { default_type application/json; return 200 '${chatCompletionAnswer}'; }`,
    plainPort,
  );
  await waitForAnswer(child, `http://127.0.0.1:${plainPort}/`, 5_000);
  const stop = async () => {
    await Promise.all([tool.stop(), children.stop(child)]);
  };
  return { plainPort, streamPort, chunks, stop };
}

export function nameVendor(vendors: Vendors): Contestant {
  return {
    name: "vendor",
    pid: 0,
    prepare: (kind) => ({
      url: `${vendorBase(vendors, kind)}/chat/completions`,
      headers: json,
      body: requestBody(kind, kind),
    }),
    stop: async () => {},
  };
}

export async function startNginxProxy(children: Children, vendors: Vendors): Promise<Contestant> {
  if (!nginx) throw new Error("nginx is not installed");
  const port = await findFreePort();
  // A folder of its own for each kind of vendor; unbuffered as a stream needs it, for the plain answer as is the default.
  const proxy = `proxy_http_version 1.1; proxy_set_header Connection ""; client_body_buffer_size 64k;`;
  const locations = `
    location /plain/ { proxy_pass http://plain/; ${proxy} }
    location /stream/ { proxy_pass http://stream/; proxy_buffering off; ${proxy} }`;
  const upstreams = `
    upstream plain { server 127.0.0.1:${vendors.plainPort}; keepalive 128; keepalive_requests 100000000; }
    upstream stream { server 127.0.0.1:${vendors.streamPort}; keepalive 128; keepalive_requests 100000000; }`;
  const child = startNginx(children, nginx, locations, port, upstreams);
  await waitForAnswer(child, `http://127.0.0.1:${port}/`, 5_000);
  return {
    name: "nginx",
    pid: child.pid,
    prepare: (kind) => ({
      url: `http://127.0.0.1:${port}/${kind === "plain" ? "plain" : "stream"}/v1/chat/completions`,
      headers: json,
      body: requestBody(kind, kind),
    }),
    stop: () => children.stop(child),
  };
}

function startNginx(children: Children, nginxPath: string, locations: string, port: number, upstreams = ""): Child {
  const folder = mkdtempSync(join(children.folder, "nginx-"));
  // Started by root, nginx would drop to a user who may not enter our temporary folder.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr warn; ${user}
    events { worker_connections 4096; }
    http {
      access_log off; keepalive_requests 100000000; ${temporary.join(" ")}
      ${upstreams}
      server { listen 127.0.0.1:${port}; ${locations} }
    }`,
  );
  return children.start([nginxPath, "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {}, folder);
}

/** The checkout that is measured, the vendors that it calls, and the processes that end with the measurement. */
export type Ground = { children: Children; vendors: Vendors; projectFolder: string };

export type GatewayOptions = {
  /** Default: 1. */
  workers?: number;
  /** More settings, by their environment names. */
  settings?: Record<string, string>;
  /** Whether the keys have limits of requests and tokens and a budget, and belong to a team with the same. */
  isLimited?: boolean;
};

/** `more`: settings in addition, by their environment names. The process may not be ready yet. */
export async function startServing(
  { children, projectFolder }: Ground,
  { environment, folder }: GatewaySettings,
  more: Record<string, string>,
) {
  const port = await findFreePort();
  const child = children.start(
    [node ?? process.execPath, join(projectFolder, "bin/switchyard.mjs"), "serve"],
    { ...environment, SWITCHYARD_PORT: String(port), ...more },
    folder,
  );
  return { child, base: `http://127.0.0.1:${port}` };
}

/** The whole product as an operator starts it: keys, limits, ledger, metrics and logs as they are by default. */
export async function startSwitchyard(ground: Ground, options: GatewayOptions = {}): Promise<GatewayContestant> {
  const { children, vendors } = ground;
  const processes = { SWITCHYARD_WORKERS: String(options.workers ?? 1) };
  const settings = prepareSettings(children, vendors);
  const { child, base } = await startServing(ground, settings, { ...processes, ...options.settings });
  await waitForAnswer(child, `${base}/readyz`, 15_000);
  const manage = (path: string, body: object) => create(`${base}/v3/manage${path}`, settings.adminKey, body, child);
  // A checkout may be measured that does not enforce budgets, and refuses them.
  const { budget, ...withoutBudget } = wideLimits;
  const createTeam = (limits: object) => manage("/teams", { name: "bench", ...limits }).then(() => limits);
  const limits =
    options.isLimited === true
      ? await createTeam({ ...withoutBudget, budget }).catch(() => createTeam(withoutBudget))
      : null;
  const members = limits === null ? {} : { team: "bench", ...limits };
  const newKey = async () => (await manage("/keys", { name: "bench", kind: "inference", ...members })).key;
  const key = await newKey();
  return {
    name: "Switchyard",
    pid: child.pid,
    createKey: newKey,
    prepare: (kind) => ({
      url: `${base}/v3/chat/completions`,
      headers: { ...json, authorization: `Bearer ${key}` },
      body: requestBody(kind, `bench-${kind === "flood" ? "stream" : kind}/${kind}`),
    }),
    stop: () => children.stop(child),
  };
}

export type GatewaySettings = { folder: string; adminKey: string; environment: Record<string, string> };

/** A folder for one gateway with its configuration in it; the data folder is still empty. */
export function prepareSettings(children: Children, vendors: Vendors): GatewaySettings {
  const folder = mkdtempSync(join(children.folder, "gateway-"));
  const adminKey = "mgmt-bench-0123456789abcdef";
  const configPath = join(folder, "switchyard.yaml");
  const dataFolder = join(folder, "data");
  mkdirSync(dataFolder);
  const providers = (["plain", "stream"] as const).map(
    (kind) =>
      `  bench-${kind}: { dialect: openai, base_url: "${vendorBase(vendors, kind)}", api_key: "bench-vendor-key" }\n`,
  );
  const translated = `http://127.0.0.1:${vendors.streamPort}`;
  providers.push(
    `  bench-translated: { dialect: anthropic, base_url: "${translated}", api_key: "bench-vendor-key" }\n`,
  );
  // Calls without a price are refused for a key with a budget.
  const prices = `prices:\n${["plain", "stream", "translated"].map((kind) => `  bench-${kind}/*: { input: 0.5, output: 1.5 }\n`).join("")}`;
  writeFileSync(configPath, `providers:\n${providers.join("")}${prices}`);
  const environment = {
    SWITCHYARD_HOST: "127.0.0.1",
    SWITCHYARD_DATA_DIR: dataFolder,
    SWITCHYARD_ADMIN_KEY: adminKey,
    SWITCHYARD_CONFIG: configPath,
  };
  return { folder, adminKey, environment };
}

async function create(url: string, adminKey: string, body: object, child: Child): Promise<{ key: string }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...json, authorization: `Bearer ${adminKey}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 300)} ${readLogTail(child)}`);
  return JSON.parse(text) as { key: string };
}

/** A gateway, and the call that its load repeats. */
export async function startChecked(ground: Ground, kind: AnswerKind) {
  const gateway = await startSwitchyard(ground);
  await checkContestant(gateway, kind);
  return { gateway, call: gateway.prepare(kind) };
}

/** One request of each contestant is looked at before any is counted: a fast refusal must not win. */
export async function checkContestant(contestant: Contestant, kind: AnswerKind): Promise<void> {
  const call = contestant.prepare(kind);
  const response = await fetch(call.url, {
    method: "POST",
    headers: call.headers,
    body: call.body,
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  const isRight = response.ok && (kind === "plain" ? text.includes('"chat.completion"') : text.includes("[DONE]"));
  if (!isRight) throw new Error(`${contestant.name} answered ${response.status}: ${text.slice(0, 300)}`);
}

export function requestBody(kind: AnswerKind, model: string): string {
  return kind === "plain" ? plainRequest(model) : streamRequest(model);
}

export function vendorBase(vendors: Vendors, kind: AnswerKind): string {
  return `http://127.0.0.1:${kind === "plain" ? vendors.plainPort : vendors.streamPort}/v1`;
}
