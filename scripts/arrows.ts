// Checks which folder may import which, that no files import each other in a cycle, and a few rules for all of src.

import { dirname, join, normalize } from "node:path";
import { rows } from "../src/providers/index.ts";
import { modelNamesOf } from "../src/providers/provider.ts";

/**
 * A folder may import itself, the folders listed here, and `shared`. A file directly under src/ counts as a folder. The order is the order
 * of the layers, from the top: a folder may import only folders that stand below it.
 */
const arrows: Readonly<Record<string, readonly string[]>> = {
  main: ["cli"],
  cli: words(
    "access config contract engine-process engines files gateway inference jobs provider-setup providers services storage supervisor usage version worker-process",
  ),
  supervisor: ["access", "config", "contract", "storage"],
  gateway: words(
    "access catalogue config contract egress engines files http inference jobs providers services storage usage version",
  ),
  "worker-process": ["access", "config", "http", "jobs", "services"],
  "engine-process": ["config", "engines"],
  services: words(
    "access catalogue config contract egress engines files inference provider-setup providers storage usage version",
  ),
  "provider-setup": ["catalogue", "config", "contract", "inference", "providers"],
  "dashboard-build": ["http"],
  http: ["access", "catalogue", "contract", "docs-site", "files", "inference", "jobs", "providers", "usage"],
  jobs: ["access", "contract", "egress", "engines", "inference", "storage"],
  inference: ["access", "catalogue", "contract", "egress", "engines", "files", "providers", "usage"],
  engines: ["contract", "egress", "providers"],
  files: ["contract", "egress", "storage"],
  usage: ["access", "catalogue", "contract", "storage"],
  catalogue: ["contract", "providers"],
  "docs-site": ["version"],
  access: ["contract", "storage"],
  egress: [],
  providers: ["contract"],
  storage: ["contract"],
  config: ["contract"],
  dashboard: ["contract"],
  contract: [],
  version: [],
  tracing: [],
  metrics: [],
  log: [],
  errors: [],
  lib: [],
};
function words(text: string): readonly string[] {
  return text.split(" ");
}

const shared = ["errors", "lib", "log", "metrics", "tracing"];
const withoutOurs = new Set(["errors", "lib"]);

const importPattern = /^(?:import|export)\s[^;]*?from\s+"(\.[^"]+)"|\b(?:import|require)\("(\.[^"]+)"\)/gm;
const typeImport = /^(?:import|export)\s+type\s/;

interface Rule {
  readonly pattern: RegExp;
  readonly allowed: (path: string) => boolean;
  readonly says: string;
}

// Names that are also words of ours: a dialect, the simulated vendor, and an encoding.
const ownWords = new Set(["openai", "sandbox", "base64"]);
const vendorNames = rows.flatMap(modelNamesOf).filter((name) => !ownWords.has(name));

const openToProviders: ReadonlySet<string> = new Set([
  "src/providers/http-client.ts",
  "src/providers/proxy-tunnel.ts",
  "src/providers/authorize/google.ts",
]);

// They call processes of the same gateway over Unix sockets.
const openToOurselves: ReadonlySet<string> = new Set(["src/http/handover.ts", "src/cli/control-socket.ts"]);

// The last one asks for something that costs nothing, when the operator tests a provider.
const issuesTickets: ReadonlySet<string> = new Set([
  "src/inference/attempt.ts",
  "src/inference/universal-ai/account-run.ts",
  "src/providers/probe.ts",
]);

const readsNearestName: ReadonlySet<string> = new Set([
  "src/lib/find-nearest.ts",
  "src/catalogue/model-listing.ts",
  "src/contract/problems.ts",
  "src/provider-setup.ts",
]);

const rules: readonly Rule[] = [
  {
    pattern: /process\.env|Bun\.env/,
    // The second one names the variable that the libraries of the dashboard read. The dashboard itself has no environment, but writes programs
    // that read the key from theirs.
    allowed: (path) =>
      path === "src/config.ts" || path === "src/dashboard-build.ts" || path.startsWith("src/dashboard/"),
    says: "the environment is read in src/config.ts only",
  },
  {
    pattern: /\bsql`|Bun\.SQL|bun:sqlite/,
    allowed: (path) => path.startsWith("src/storage/"),
    says: "SQL belongs in src/storage/ only",
  },
  {
    pattern: /(?<![.\w])fetch\(|Bun\.connect[<(]/,
    // Pages call the gateway that serves them, and the examples of the API reference contain calls.
    allowed: (path) =>
      openToProviders.has(path) ||
      openToOurselves.has(path) ||
      path.startsWith("src/dashboard/") ||
      path.startsWith("src/docs-site/client/") ||
      path === "src/http/openapi/samples.ts",
    says: "sockets to providers are opened in src/providers/http-client.ts and proxy-tunnel.ts only",
  },
  {
    pattern: /(?:net|tls)\.connect\(|createConnection\(|\{[^}]*\bconnect\b[^}]*\} from "node:(?:net|tls)"/,
    // The second one connects to the Unix socket of the engine process.
    allowed: (path) => path === "src/egress/dial.ts" || path === "src/engines/local/remote-pool.ts",
    says: "addresses that a caller chose are dialled in src/egress/dial.ts only",
  },
  {
    pattern: /\bnew (?:Call|Run)Ticket\(|\bextends (?:Call|Run)Ticket\b/,
    allowed: (path) => issuesTickets.has(path),
    says: "a ticket for calls of providers is created where limits admit the call and the ledger gets its line only",
  },
  {
    pattern: /\bfindNearest\b/,
    // They need the name itself. In a message, a name that may be null would be written as 'null'.
    allowed: (path) => readsNearestName.has(path),
    says: "suggestions are written with suggest() of src/lib/find-nearest.ts",
  },
  { pattern: /^(?:export )?let /m, allowed: () => false, says: "modules hold no state" },
  {
    pattern: new RegExp(`"(?:${vendorNames.join("|")})"`),
    allowed: (path) => path.startsWith("src/providers/"),
    says: "a vendor's name belongs in src/providers/ only",
  },
];

export async function findBrokenArrows(): Promise<string[]> {
  const broken = findUpwardArrows();
  const graph = new Map<string, readonly string[]>();
  for await (const path of new Bun.Glob("src/**/*.{ts,tsx}").scan(".")) {
    const text = await Bun.file(path).text();
    const folder = folderOf(path);
    const imported: string[] = [];
    for (const match of text.matchAll(importPattern)) {
      const file = normalize(join(dirname(path), match[1] ?? match[2] ?? ""));
      imported.push(file);
      if (!mayImport(folder, folderOf(file), typeImport.test(match[0])))
        broken.push(`${path}: ${folder} may not import ${folderOf(file)}`);
    }
    graph.set(path, imported);
    for (const { pattern, allowed, says } of rules) {
      if (!allowed(path) && pattern.test(text)) broken.push(`${path}: ${says}`);
    }
  }
  return [...broken, ...findCycles(graph).map((cycle) => `import cycle: ${cycle.join(" → ")}`)];
}

function findUpwardArrows(): string[] {
  const order = Object.keys(arrows);
  return Object.entries(arrows).flatMap(([folder, targets]) =>
    targets
      .filter((target) => order.indexOf(target) <= order.indexOf(folder))
      .map((target) => `scripts/arrows.ts: ${target} does not stand below ${folder}`),
  );
}

/** One cycle for each import that closes one. Imports of types count as well. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  function visit(file: string): void {
    const start = path.indexOf(file);
    if (start !== -1) cycles.push([...path.slice(start), file]);
    if (start !== -1 || done.has(file)) return;
    path.push(file);
    for (const imported of graph.get(file) ?? []) visit(imported);
    path.pop();
    done.add(file);
  }
  for (const file of graph.keys()) visit(file);
  return cycles;
}

/** The table of allowed imports for ARCHITECTURE.md. */
export function importsTable(): string {
  const lines = Object.entries(arrows)
    .filter(([, targets]) => targets.length > 0)
    .map(([folder, targets]) => `| \`${folder}\` | ${targets.toSorted().join(", ")} |`);
  return ["| from | may import |", "|---|---|", ...lines].join("\n");
}

/** Every folder may import types of `storage` and `access`. */
function mayImport(folder: string, target: string, isType: boolean): boolean {
  if (folder === target || target === "package") return true;
  if (withoutOurs.has(folder)) return false;
  if (shared.includes(target)) return true;
  return (arrows[folder] ?? []).includes(target) || (isType && (target === "access" || target === "storage"));
}

function folderOf(path: string): string {
  const [, first = ""] = path.split("/");
  return path.startsWith("src/") ? first.replace(/\.tsx?$/, "") : "package";
}
