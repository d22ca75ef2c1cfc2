// Checks which folder may import which, and the few rules that hold for all of src.

import { dirname, join, normalize } from "node:path";
import { allRows as rows } from "../src/engines/vendors/index.ts";
import { modelNamesOf } from "../src/providers/provider.ts";

/** A folder may import itself, the folders listed here, and `shared`. A file directly under src/ counts as a folder. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  main: ["cli"],
  cli: [
    "access",
    "config",
    "contract",
    "egress",
    "engines",
    "gateway",
    "jobs",
    "storage",
    "supervisor",
    "version",
    "worker-process",
  ],
  supervisor: ["config"],
  gateway: [
    "access",
    "catalogue",
    "config",
    "contract",
    "egress",
    "engines",
    "files",
    "services",
    "http",
    "inference",
    "jobs",
    "providers",
    "storage",
    "usage",
  ],
  services: ["catalogue", "config", "contract", "egress", "engines", "files", "inference", "providers", "storage"],
  "worker-process": ["config", "services", "jobs"],
  http: ["access", "catalogue", "contract", "files", "inference", "jobs", "providers"],
  jobs: ["access", "contract", "egress", "engines", "inference", "storage"],
  inference: ["access", "catalogue", "contract", "egress", "engines", "files", "providers", "usage"],
  catalogue: ["contract", "providers"],
  usage: ["catalogue"],
  engines: ["contract", "egress", "providers"],
  files: ["access", "contract", "egress", "storage"],
  egress: [],
  access: ["contract", "storage"],
  storage: ["contract"],
  providers: ["contract"],
  contract: [],
  config: ["contract"],
  version: [],
  errors: [],
  log: [],
  lib: [],
};
const shared = ["errors", "lib", "log"];
const withoutOurs = new Set(["errors", "lib"]);

const importLine = /^(?:import|export)\s[^;]*?from\s+"(\.[^"]+)"/gm;
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

const rules: readonly Rule[] = [
  {
    pattern: /process\.env|Bun\.env/,
    allowed: (path) => path === "src/config.ts",
    says: "the environment is read in src/config.ts only",
  },
  {
    pattern: /\bsql`|Bun\.SQL|bun:sqlite/,
    allowed: (path) => path.startsWith("src/storage/"),
    says: "SQL stands in src/storage/ only",
  },
  {
    pattern: /(?<![.\w])fetch\(|Bun\.connect[<(]/,
    allowed: (path) => openToProviders.has(path),
    says: "sockets to providers are opened in src/providers/http-client.ts and proxy-tunnel.ts only",
  },
  {
    pattern: /(?:net|tls)\.connect\(|createConnection\(|\{[^}]*\bconnect\b[^}]*\} from "node:(?:net|tls)"/,
    allowed: (path) => path === "src/egress/dial.ts",
    says: "addresses that a caller chose are dialled in src/egress/dial.ts only",
  },
  { pattern: /^(?:export )?let /m, allowed: () => false, says: "there is no module-level state" },
  {
    pattern: new RegExp(`"(?:${vendorNames.join("|")})"`),
    allowed: (path) => path.startsWith("src/providers/") || path.startsWith("src/engines/vendors/"),
    says: "a vendor's name stands in its own row only",
  },
];

export async function findBrokenArrows(): Promise<string[]> {
  const broken: string[] = [];
  for await (const path of new Bun.Glob("src/**/*.ts").scan(".")) {
    const text = await Bun.file(path).text();
    const folder = folderOf(path);
    for (const match of text.matchAll(importLine)) {
      const target = folderOf(normalize(join(dirname(path), match[1] ?? "")));
      if (!mayImport(folder, target, typeImport.test(match[0])))
        broken.push(`${path}: ${folder} may not import ${target}`);
    }
    for (const { pattern, allowed, says } of rules) {
      if (!allowed(path) && pattern.test(text)) broken.push(`${path}: ${says}`);
    }
  }
  return broken;
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
  return path.startsWith("src/") ? first.replace(/\.ts$/, "") : "package";
}
