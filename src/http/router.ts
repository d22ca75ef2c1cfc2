// Finds the route of a path. A fixed path is one look into a map; paths with parameters are tried in turn.

import { GatewayError } from "../errors.ts";
import type { Method, Route } from "./route.ts";

export interface Match {
  readonly route: Route;
  /** One of the paths of the table. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly path: string;
  readonly expression: RegExp;
  readonly names: readonly string[];
  readonly methods: ReadonlyMap<string, Route>;
}

export interface Router {
  /** Every path of the table, as it is written there. */
  readonly paths: readonly string[];
  /** The route, or for an OPTIONS request on a known path the methods that it allows. Throws 404 and 405. */
  find(method: string, path: string): Match | { readonly allow: string };
}

const none: Readonly<Record<string, string>> = {};
const order: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

export function createRouter(routes: readonly Route[]): Router {
  const spelled = routes.flatMap((route) => spellingsOf(route).map((path) => ({ path, route })));
  const byPath = Map.groupBy(spelled, ({ path }) => path);
  const fixed = new Map<string, ReadonlyMap<string, Route>>();
  const patterns: Pattern[] = [];
  for (const [path, group] of byPath) {
    const methods = new Map<string, Route>(group.map(({ route }) => [route.method, route]));
    const get = methods.get("GET" satisfies Method);
    if (get !== undefined) methods.set("HEAD", get);
    if (path.includes("{")) patterns.push({ path, ...toExpression(path), methods });
    else fixed.set(path, methods);
  }

  function choose(methods: ReadonlyMap<string, Route>, method: string, path: string, params: Match["params"]) {
    const route = methods.get(method);
    if (route !== undefined) return { route, path, params };
    const allow = order.filter((name) => methods.has(name)).join(", ");
    if (method === "OPTIONS") return { allow };
    throw new GatewayError("method_not_allowed", `${method} is not allowed here; allowed: ${allow}.`, {
      headers: { allow },
    });
  }

  return {
    paths: [...byPath.keys()],
    find(method, path) {
      const methods = fixed.get(path);
      if (methods !== undefined) return choose(methods, method, path, none);
      for (const pattern of patterns) {
        const match = pattern.expression.exec(path);
        if (match !== null) return choose(pattern.methods, method, pattern.path, readParams(pattern.names, match));
      }
      throw new GatewayError("not_found", `There is nothing at ${describePath(path)}. /docs lists what there is.`);
    },
  };
}

const bases = ["/v3", "/v3/v1", "/v1"];

/**
 * The paths of a route. Clients append paths with and without `/v1` to the base address that they are given, so all three bases
 * lead to the same routes. Management routes have one path only: operators protect them by path, in proxies.
 */
export function spellingsOf({ path, key }: { readonly path: string; readonly key?: Route["key"] }): string[] {
  const [, rest] = /^\/v3(?:\/v1)?(\/.+)$/.exec(path) ?? [];
  return rest === undefined || key === "management" ? [path] : bases.map((base) => base + rest);
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

function readParams(names: readonly string[], match: RegExpExecArray): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    try {
      params[name] = decodeURIComponent(match[index + 1] ?? "");
    } catch (cause) {
      throw new GatewayError("malformed_request", "The path holds bytes that are not UTF-8.", { cause });
    }
  }
  return params;
}

const shownPath = 120;

function describePath(path: string): string {
  const hint = path.startsWith("/v2/") ? "; every path starts with /v3" : "";
  return `${path.slice(0, shownPath)}${hint}`;
}
