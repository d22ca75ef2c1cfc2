// Finds the route of a path. Fixed paths are looked up in a map; paths with parameters are tried in turn.

import { GatewayError } from "../errors.ts";
import { decodePercent } from "../lib/percent-decoding.ts";
import { pathOf } from "./request-head.ts";
import type { Method, ServedRoute } from "./route.ts";

export type Router = ReturnType<typeof createRouter>;

export interface Match {
  readonly route: ServedRoute;
  /** The path as the route table spells it. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly isForOperators: boolean;
}

/** The answer to an OPTIONS request on a known path. */
export interface AllowedMethods {
  readonly allow: string;
  readonly isForOperators: boolean;
}

/** A path of the table, with all routes that have it. */
interface Entry {
  readonly path: string;
  readonly methods: ReadonlyMap<string, ServedRoute>;
  readonly isForOperators: boolean;
}

interface Pattern extends Entry {
  readonly expression: RegExp;
  readonly names: readonly string[];
}

const noParams: Readonly<Record<string, string>> = {};
const methodOrder: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

export function createRouter(routes: readonly ServedRoute[]) {
  const spelled = routes.flatMap((route) => spellingsOf(route).map((path) => ({ path, route })));
  const byPath = Map.groupBy(spelled, ({ path }) => path);
  const fixed = new Map<string, Entry>();
  const patterns: Pattern[] = [];
  for (const [path, group] of byPath) {
    const methods = new Map<string, ServedRoute>(group.map(({ route }) => [route.method, route]));
    const get = methods.get("GET" satisfies Method);
    if (get !== undefined) methods.set("HEAD", get);
    // The root only leads browsers to the dashboard, so it needs no check of its host.
    const entry = { path, methods, isForOperators: path !== "/" && isOperatorPath(path) };
    if (path.includes("{")) patterns.push({ ...entry, ...toExpression(path) });
    else fixed.set(path, entry);
  }

  function choose({ path, methods, isForOperators }: Entry, method: string, params: Match["params"]) {
    const route = methods.get(method);
    if (route !== undefined) return { route, path, params, isForOperators };
    const allow = methodOrder.filter((name) => methods.has(name)).join(", ");
    if (method === "OPTIONS") return { allow, isForOperators };
    throw new GatewayError("method_not_allowed", `${method} is not allowed here; allowed: ${allow}.`, {
      headers: { allow },
    });
  }

  /** The route, or for an OPTIONS request on a known path the methods that it allows. Throws 404 and 405. */
  function find(method: string, path: string): Match | AllowedMethods {
    const entry = fixed.get(path);
    if (entry !== undefined) return choose(entry, method, noParams);
    for (const pattern of patterns) {
      const match = pattern.expression.exec(path);
      if (match !== null) return choose(pattern, method, readParams(pattern.names, match));
    }
    decodePath(path);
    throw new GatewayError("not_found", `There is no route for ${describePath(path)}. GET /docs lists all routes.`);
  }

  return {
    /** Every path that is served, as the route table spells it. */
    paths: [...byPath.keys()],
    find,

    /** The format of errors on a path of the table, also for methods that the path does not allow. */
    errorFormatOf(path: string): ServedRoute["errorFormat"] {
      return byPath.get(path)?.find(({ route }) => route.errorFormat !== undefined)?.route.errorFormat;
    },

    /**
     * `path`: the path of the table that Bun found for the request; null for none. Bun compares the request target as it was sent with the
     * table, but `request.url` has been normalised. Where the two lead to different routes (`/x/../v3/manage/keys`, backslashes), a proxy
     * in front may have checked another path than the one that would be served.
     */
    match({ method, url }: Request, path: string | null): Match | AllowedMethods {
      if (path !== null && !path.includes("{")) return find(method, path);
      const found = find(method, pathOf(url));
      if (path === null || ("route" in found && found.path !== path))
        throw new GatewayError("malformed_request", "Send the path without dot segments and backslashes.");
      return found;
    },
  };
}

const operatorPath = /^\/(?:$|v3\/manage\/|metrics$|dashboard(?:\/|$))/;

/** Whether the path is for operators: it is served on SWITCHYARD_ADMIN_PORT alone, if that is set. */
export function isOperatorPath(path: string): boolean {
  return operatorPath.test(path);
}

const bases = ["/v3", "/v3/v1", "/v1"];

/**
 * The paths of a route. Some clients append `/v1` to the base URL that they are given and some do not, so all three bases lead to the
 * same routes. Management routes have one path only, because operators protect them by path in proxies.
 */
export function spellingsOf({
  path,
  key,
  otherPaths = [],
}: Pick<ServedRoute, "path"> & Partial<ServedRoute>): string[] {
  const [, rest] = /^\/v3(?:\/v1)?(\/.+)$/.exec(path) ?? [];
  return rest === undefined || key === "management" ? [path, ...otherPaths] : bases.map((base) => base + rest);
}

/** `{name}` is one segment, `{name...}` the rest of the path. */
function toExpression(path: string): { expression: RegExp; names: string[] } {
  const names: string[] = [];
  const source = path.replace(/\{(\w+)(\.\.\.)?\}|[^{]+/g, (piece, name?: string, rest?: string) => {
    if (name === undefined) return RegExp.escape(piece);
    names.push(name);
    return rest === undefined ? "([^/]+)" : "(.+)";
  });
  return { expression: new RegExp(`^${source}$`), names };
}

/** The path in the syntax of Bun's router. */
export function toBunPath(path: string): string {
  return path.replace(/\{(\w+)(\.\.\.)?\}/g, (_whole, name: string, rest?: string) =>
    rest === undefined ? `:${name}` : "*",
  );
}

function readParams(names: readonly string[], match: RegExpExecArray): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    params[name] = decodePath(match[index + 1] ?? "");
  }
  return params;
}

function decodePath(text: string): string {
  const decoded = decodePercent(text);
  if (decoded === null)
    throw new GatewayError(
      "malformed_request",
      "The path contains a percent sign that begins no valid escape, or bytes that are not UTF-8.",
    );
  return decoded;
}

const maxShownPath = 120;

function describePath(path: string): string {
  const hint = path.startsWith("/v2/") ? "; paths start with /v3 or /v1" : "";
  return `${path.slice(0, maxShownPath)}${hint}`;
}
