// Builds the Dockerfile without a registry of images, and runs the result: node bin/bun.mjs run scripts/try-image.ts [--engines "speech"]
//
// The two base images are replaced by what they consist of: a small Debian, made by debootstrap, and Node and npm from the npm registry. Every
// other step is the Dockerfile's own, executed by buildah. The image is then started with a read-only root file system and without capabilities,
// asked for a completion, and stopped. Needs root, Linux and the package indexes; takes some minutes.

import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dir, "..");
const { values: options } = parseArgs({
  options: {
    engines: { type: "string", default: "" },
    "system-packages": { type: "string", default: "" },
  },
});
const stepTimeoutMs = 15 * 60_000;
const readyTimeoutMs = 60_000;

const missing = ["buildah", "debootstrap", "npm", "unshare", "chroot"].filter((name) => Bun.which(name) === null);
if (process.getuid?.() !== 0) missing.push("root");
if (missing.length > 0) {
  console.log(`skipped: it needs ${missing.join(", ")}`);
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), "switchyard-image-"));
const storage = ["--storage-driver", "vfs", "--root", join(folder, "storage"), "--runroot", join(folder, "run")];
try {
  await makeBases();
  const container = await build();
  await tryImage(container);
  console.log("the image was built and works");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Local images with the names that the Dockerfile states. */
async function makeBases(): Promise<void> {
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  const names = Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, name = ""]) => name);
  const [nodeImage = "", debianImage = ""] = names;
  const debian = join(folder, "debian");
  await run(`a base for ${debianImage}`, ["debootstrap", "--variant=minbase", "bookworm", debian]);
  await commit("scratch", debian, debianImage);
  rmSync(debian, { recursive: true });

  const version = /^node:(\d+\.\d+\.\d+)-/.exec(nodeImage)?.[1] ?? "";
  const node = join(folder, "node");
  const local = join(node, "usr/local");
  mkdirSync(join(local, "bin"), { recursive: true });
  const packages = [`node-${process.platform}-${process.arch}@${version}`, "npm@11"];
  await run(`Node ${version} and npm`, [
    "npm",
    "install",
    "--prefix",
    join(local, "lib"),
    "--ignore-scripts",
    ...packages,
  ]);
  const modules = "../lib/node_modules";
  symlinkSync(`${modules}/node-${process.platform}-${process.arch}/bin/node`, join(local, "bin/node"));
  symlinkSync(`${modules}/npm/bin/npm-cli.js`, join(local, "bin/npm"));
  symlinkSync(`${modules}/npm/bin/npx-cli.js`, join(local, "bin/npx"));
  await commit(fullName(debianImage), node, nodeImage);
}

async function commit(base: string, contents: string, image: string): Promise<void> {
  const container = (await buildah("a container", "from", "--pull-never", base)).trim();
  await buildah("its files", "add", "--quiet", container, contents, "/");
  await buildah(image, "commit", "--quiet", "--rm", container, fullName(image));
}

function fullName(image: string): string {
  return `docker.io/library/${image}`;
}

/** A container of the built image. */
async function build(): Promise<string> {
  // A certificate of the machine, for package indexes behind a proxy.
  const certificate = process.env["NODE_EXTRA_CA_CERTS"];
  const npmrc = join(folder, "npmrc");
  writeFileSync(npmrc, certificate === undefined ? "" : "cafile=/etc/build-certificate.pem\n");
  const pipConfig = join(folder, "pip.conf");
  writeFileSync(pipConfig, certificate === undefined ? "" : "[global]\ncert = /etc/build-certificate.pem\n");
  const mounts = [`${npmrc}:/root/.npmrc:ro`, `${pipConfig}:/etc/pip.conf:ro`];
  if (certificate !== undefined) mounts.push(`${certificate}:/etc/build-certificate.pem:ro`);
  await buildah(
    "every step of the Dockerfile",
    "build",
    "--pull-never",
    "--isolation=chroot",
    "--format=docker",
    "--tag=switchyard",
    `--build-arg=ENGINES=${options.engines}`,
    `--build-arg=SYSTEM_PACKAGES=${options["system-packages"]}`,
    ...mounts.map((mount) => `--volume=${mount}`),
    root,
  );
  return (await buildah("a container of the image", "from", "--pull-never", "switchyard")).trim();
}

interface ImageConfig {
  readonly Env: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

async function tryImage(container: string): Promise<void> {
  const { config } = (
    JSON.parse(await buildah("its configuration", "inspect", "--type=image", "switchyard")) as {
      Docker: { config: ImageConfig };
    }
  ).Docker;
  const imageRoot = (await buildah("its files", "mount", container)).trim();
  const data = join(folder, "data");
  mkdirSync(data);
  const [uid = 0, gid = 0] = config.User.split(":").map(Number);
  chownSync(data, uid, gid);
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const environment = [...config.Env, `SWITCHYARD_PORT=${port}`, "SWITCHYARD_WORKERS=2"];
  const inside = (command: readonly string[]) =>
    confine({ imageRoot, data, user: config.User, folder: config.WorkingDir, environment, command });

  const gateway = Bun.spawn(inside([...config.Entrypoint, ...config.Cmd]), { stdout: "pipe", stderr: "pipe" });
  const output = gateway.stdout.text();
  const errors = gateway.stderr.text();
  try {
    const check = config.Healthcheck.Test.slice(1);
    await waitForHealth(() => Bun.spawnSync(inside(check)).exitCode === 0);
    const key = readFileSync(join(data, "first-keys/inference.key"), "utf8").trim();
    const response = await fetch(`http://127.0.0.1:${port}/v3/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] }),
    });
    if (response.status !== 200) throw new Error(`a completion was answered with ${response.status}`);
    const listed = Bun.spawnSync(inside(["switchyard", "keys", "list"]));
    if (listed.exitCode !== 0) throw new Error(`switchyard keys list: ${listed.stderr}`);
    const written = Bun.spawnSync(inside(["sh", "-c", "touch /app/x || touch /etc/switchyard/x"]));
    if (written.exitCode === 0) throw new Error("the root file system is writable");
  } finally {
    gateway.kill("SIGTERM");
  }
  const code = await gateway.exited;
  const log = `${await output}${await errors}`;
  if (code !== 0) throw new Error(`the gateway ended with ${code}: ${log.slice(-3_000)}`);
  if (!log.includes("shutting down")) throw new Error(`the signal did not reach the gateway: ${log.slice(-3_000)}`);
}

interface Confined {
  readonly imageRoot: string;
  readonly data: string;
  readonly user: string;
  readonly folder: string;
  readonly environment: readonly string[];
  readonly command: readonly string[];
}

/** As a container runtime does it: the files of the image read-only, /tmp and /data writable, the user of the image, no capabilities. */
function confine({ imageRoot, data, user, folder, environment, command }: Confined): string[] {
  const script = `set -e; root=$1; data=$2; user=$3; shift 3
    mount --bind "$root" "$root"; mount -t tmpfs tmpfs "$root/tmp" -o mode=1777; mount --bind "$data" "$root/data"
    mount -t proc proc "$root/proc"; mount --bind /dev "$root/dev"; mount -o remount,ro,bind "$root"
    exec setpriv --no-new-privs chroot --userspec="$user" "$root" "$@"`;
  const inside = ["/usr/bin/env", "-i", "-C", folder, ...environment, ...command];
  return ["unshare", "--mount", "sh", "-c", script, "sh", imageRoot, data, user, ...inside];
}

async function waitForHealth(isHealthy: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + readyTimeoutMs;
  while (!isHealthy()) {
    if (performance.now() > giveUpAt) throw new Error("the health check of the image did not succeed");
    await Bun.sleep(500);
  }
}

async function buildah(what: string, ...args: string[]): Promise<string> {
  return await run(what, ["buildah", ...storage, ...args]);
}

async function run(what: string, command: string[]): Promise<string> {
  const startedAt = performance.now();
  const child = Bun.spawn(command, {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: stepTimeoutMs,
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  if (code !== 0)
    throw new Error(`${what}: ${command.join(" ")} ended with ${code}: ${`${output}${errors}`.slice(-3_000)}`);
  console.log(`${what}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return output;
}
