// nginx with the sample configuration of deploy/nginx, on a port and in a folder of its own.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "./free-port.ts";
import { waitFor, within } from "./wait.ts";

export interface TestNginx {
  readonly url: string;
  /** Errors and warnings of nginx. */
  log(): string;
  /** As `nginx -s reload`: new worker processes take over, and the old ones finish their requests. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

const sample = join(import.meta.dir, "../../deploy/nginx/nginx.conf");
const program = Bun.which("nginx") ?? (existsSync("/usr/sbin/nginx") ? "/usr/sbin/nginx" : null);

export function whyNoNginx(): string | null {
  return program === null ? "nginx is not installed" : null;
}

/** `gateways`: ports on loopback. */
export async function startNginx(folder: string, gateways: readonly [number, number]): Promise<TestNginx> {
  const port = await findFreePort();
  const file = writeSample(folder, { port, gateways });
  const errorFile = join(folder, "nginx-errors.log");
  const child = Bun.spawn([...commandOf(file), "-g", globalDirectives()], {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(errorFile),
  });
  const readLog = () => (existsSync(errorFile) ? readFileSync(errorFile, "utf8") : "");
  const url = `http://127.0.0.1:${port}`;
  await waitFor("nginx to answer", async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${readLog()}`);
    return await fetch(`${url}/healthz`).then(
      (response) => response.ok,
      () => false,
    );
  });
  const workers = readWorkers(child.pid).length;
  return {
    url,
    log: readLog,
    async reload() {
      // Among them may be workers of earlier configurations that still drain.
      const before = readWorkers(child.pid);
      child.kill("SIGHUP");
      const isNew = (pid: number) => !before.includes(pid);
      await waitFor("new worker processes of nginx", () => readWorkers(child.pid).filter(isNew).length >= workers);
    },
    async stop() {
      child.kill("SIGTERM");
      await within(30_000, "nginx to stop", child.exited);
    },
  };
}

/** What `nginx -t` says about the sample; null when it accepts it. */
export function checkSample(folder: string): string | null {
  const file = writeSample(folder, { port: 1, gateways: [2, 3] });
  const { exitCode, stderr } = Bun.spawnSync([...commandOf(file), "-t", "-g", globalDirectives()]);
  const text = stderr.toString();
  return exitCode === 0 && !text.includes("[warn]") ? null : text;
}

function commandOf(file: string): string[] {
  return [program ?? "nginx", "-e", "stderr", "-p", join(file, ".."), "-c", file];
}

/** Started by root, nginx would change to a user who may not enter the folder of the test. */
function globalDirectives(): string {
  return process.getuid?.() === 0 ? "daemon off; user root;" : "daemon off;";
}

interface Places {
  readonly port: number;
  readonly gateways: readonly [number, number];
}

/** The sample with the addresses and folders of a test, and otherwise unchanged. */
function writeSample(folder: string, { port, gateways }: Places): string {
  const changes: readonly [string, string][] = [
    ["server gateway-1:8080 ", `server 127.0.0.1:${gateways[0]} `],
    ["server gateway-2:8080 ", `server 127.0.0.1:${gateways[1]} `],
    ["listen 8000;", `listen 127.0.0.1:${port};`],
    ["/dev/stdout", join(folder, "nginx-access.log")],
  ];
  let text = readFileSync(sample, "utf8").replaceAll("/tmp/nginx", join(folder, "nginx"));
  for (const [from, to] of changes) {
    if (text.split(from).length !== 2) throw new Error(`the sample should contain '${from}' once`);
    text = text.replace(from, to);
  }
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "nginx.conf");
  writeFileSync(file, text);
  return file;
}

function readWorkers(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}
