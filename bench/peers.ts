// Other gateways that are measured in the same run. Portkey is installed on first use; Bifrost and LiteLLM are measured where they are installed.

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, type Children, findFreePort, waitForAnswer } from "./children.ts";
import { type AnswerKind, type Contestant, requestBody, type Vendors, vendorBase } from "./contestants.ts";

export interface Peer {
  readonly name: "Portkey" | "Bifrost" | "LiteLLM";
  /** Null: it is not installed. */
  readonly version: string | null;
  /** Why it cannot be started, or undefined. */
  readonly prepare: (children: Children) => Promise<string | undefined>;
  readonly start: (children: Children, vendors: Vendors) => Promise<Contestant>;
}

const folder = join(import.meta.dir, "peers");
const portkeyEntry = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
const node = Bun.which("node");
const bifrost = Bun.which("bifrost-http");
const litellm = Bun.which("litellm");
const startTimeoutMs = 60_000;
const vendorKey = "bench-vendor-key";
const peerKey = "sk-bench-peer-key";

export const peers: readonly Peer[] = [
  { name: "Portkey", version: readPortkeyVersion(), prepare: installPortkey, start: startPortkey },
  {
    name: "Bifrost",
    version: bifrost === null ? null : readBifrostVersion(bifrost),
    prepare: async () => (bifrost === null ? "there is no bifrost-http in PATH" : undefined),
    start: startBifrost,
  },
  {
    name: "LiteLLM",
    version: litellm === null ? null : readLiteLlmVersion(litellm),
    prepare: async () => (litellm === null ? "there is no litellm in PATH" : undefined),
    start: startLiteLlm,
  },
];

/** From the lock file, so that every run measures the same version. */
async function installPortkey(children: Children): Promise<string | undefined> {
  if (!node) return "node is not installed";
  if (existsSync(portkeyEntry)) return undefined;
  const npm = Bun.which("npm");
  if (!npm) return "npm is not installed";
  const command = [npm, "ci", "--prefix", folder, "--ignore-scripts", "--loglevel=error"];
  return children.run(command, {}, 60_000).then(
    () => undefined,
    () => "npm could not install it; is there a network?",
  );
}

async function startPortkey(children: Children, vendors: Vendors): Promise<Contestant> {
  const port = await findFreePort();
  const child = children.start(
    [node ?? "node", "--import", join(folder, "loopback.mjs"), portkeyEntry, `--port=${port}`, "--headless"],
    { NODE_ENV: "production" },
    children.folder,
  );
  await waitForAnswer(child, `http://127.0.0.1:${port}/`, startTimeoutMs);
  return describePeer(children, child, "Portkey", port, (kind) => ({
    model: kind,
    headers: {
      authorization: `Bearer ${vendorKey}`,
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": vendorBase(vendors, kind),
    },
  }));
}

/** With a configuration file only: no store of requests and no governance, which is its cheapest form. */
async function startBifrost(children: Children, vendors: Vendors): Promise<Contestant> {
  const port = await findFreePort();
  const appFolder = mkdtempSync(join(children.folder, "bifrost-"));
  const provider = (kind: AnswerKind) => ({
    keys: [{ name: "bench", value: vendorKey, models: ["*"], weight: 1 }],
    network_config: { base_url: vendorBase(vendors, kind).replace(/\/v1$/, ""), max_retries: 0 },
    concurrency_and_buffer_size: { concurrency: 1_000, buffer_size: 5_000 },
    custom_provider_config: { base_provider_type: "openai" },
  });
  const config = {
    client: { enable_logging: false, drop_excess_requests: false, initial_pool_size: 1_000 },
    config_store: { enabled: false },
    logs_store: { enabled: false },
    providers: { "bench-plain": provider("plain"), "bench-stream": provider("stream") },
  };
  writeFileSync(join(appFolder, "config.json"), JSON.stringify(config));
  const command = [bifrost ?? "bifrost-http", "-app-dir", appFolder, "-host", "127.0.0.1", "-port", String(port)];
  const child = children.start([...command, "-log-level", "error"], {}, appFolder);
  await waitForAnswer(child, `http://127.0.0.1:${port}/health`, startTimeoutMs);
  return describePeer(children, child, "Bifrost", port, (kind) => ({
    model: `bench-${kind === "plain" ? "plain" : "stream"}/${kind}`,
    headers: {},
  }));
}

/** One worker with one key and without a database, as its documentation starts it. */
async function startLiteLlm(children: Children, vendors: Vendors): Promise<Contestant> {
  const port = await findFreePort();
  const folderOfConfig = mkdtempSync(join(children.folder, "litellm-"));
  const configPath = join(folderOfConfig, "config.yaml");
  const models = (["plain", "stream", "flood"] as const).map((kind) => ({
    model_name: kind,
    litellm_params: { model: `openai/${kind}`, api_base: vendorBase(vendors, kind), api_key: vendorKey },
  }));
  // YAML includes JSON.
  const config = {
    model_list: models,
    litellm_settings: { telemetry: false, num_retries: 0 },
    general_settings: { master_key: peerKey },
  };
  writeFileSync(configPath, JSON.stringify(config));
  const command = [litellm ?? "litellm", "--config", configPath, "--host", "127.0.0.1", "--port", String(port)];
  const environment = { LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_LOG: "ERROR" };
  const child = children.start([...command, "--num_workers", "1"], environment, folderOfConfig);
  await waitForAnswer(child, `http://127.0.0.1:${port}/health/liveliness`, startTimeoutMs);
  return describePeer(children, child, "LiteLLM", port, (kind) => ({
    model: kind,
    headers: { authorization: `Bearer ${peerKey}` },
  }));
}

function describePeer(
  children: Children,
  child: Child,
  name: Peer["name"],
  port: number,
  call: (kind: AnswerKind) => { model: string; headers: Record<string, string> },
): Contestant {
  return {
    name,
    pid: child.pid,
    prepare: (kind) => {
      const { model, headers } = call(kind);
      return {
        url: `http://127.0.0.1:${port}/v1/chat/completions`,
        headers: { "content-type": "application/json", ...headers },
        body: requestBody(kind, model),
      };
    },
    stop: () => children.stop(child),
  };
}

function readPortkeyVersion(): string {
  const lock = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return lock.dependencies["@portkey-ai/gateway"] ?? "unknown";
}

/** The program itself names no version where it was built from a module. */
function readBifrostVersion(program: string): string {
  const printed = Bun.which("go") ? Bun.spawnSync(["go", "version", "-m", program]).stdout.toString() : "";
  return /^\s*mod\s+\S+\s+v?(\S+)/m.exec(printed)?.[1] ?? "of unknown version";
}

function readLiteLlmVersion(program: string): string {
  const python = readFileSync(program, "utf8").match(/^#!(\S+)/)?.[1] ?? "python3";
  const script = "from importlib.metadata import version; print(version('litellm'))";
  return Bun.spawnSync([python, "-c", script]).stdout.toString().trim() || "of unknown version";
}
