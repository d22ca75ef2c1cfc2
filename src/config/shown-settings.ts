// The settings in force as operators see them: each with its source, and no secret.

import type { Config, SettingSource } from "../config.ts";
import { limitDefaults } from "../contract/limits.ts";
import type { ShownSetting } from "../contract/settings.ts";
import { lookUp } from "../lib/look-up.ts";
import { writtenDefaults } from "./defaults.ts";
import { oidcSchema, oidcShape } from "./oidc.ts";
import { camelCaseOf, hasSecretPath, isSecret, type SettingName, settings, variableOf } from "./settings.ts";

const hidden = "[hidden]";
const secretMember = "client_secret";

export function listSettings(config: Config): ShownSetting[] {
  // Every setting is a member of the configuration, under its name in camel case.
  const values = config as unknown as Readonly<Record<string, unknown>>;
  const own = (Object.keys(settings) as SettingName[]).map((name): ShownSetting => {
    const value = values[camelCaseOf(name)] ?? null;
    return {
      name,
      variable: variableOf(name),
      value: isSecret(name) ? hideSecret(value) : hidePassword(value),
      description: settings[name].description ?? "",
      source: toShownSource(config.sources[name], config),
    };
  });
  return [...own, ...listOidc(config), ...listDefaults(config)];
}

function listOidc(config: Config): ShownSetting[] {
  if (config.oidc === null) return [notWritten("oidc", oidcSchema.description)];
  return Object.entries(config.oidc).map(([member, value]) =>
    toFileSetting(`oidc.${member}`, member === secretMember && value !== null ? hidden : value, oidcShape, config),
  );
}

function listDefaults(config: Config): ShownSetting[] {
  const rows = (["key", "team"] as const).flatMap((holder) =>
    Object.entries(config.defaults[holder]).map(([member, value]) =>
      toFileSetting(`defaults.${holder}.${member}`, value, limitDefaults.shape, config),
    ),
  );
  return rows.length > 0 ? rows : [notWritten("defaults", writtenDefaults.description)];
}

type Shape = Readonly<Record<string, { readonly description?: string | undefined }>>;

/** A member that only the file sets. */
function toFileSetting(path: string, value: unknown, shape: Shape, config: Config): ShownSetting {
  const line = config.positions[path]?.line;
  return {
    ...{ name: path, variable: null, value },
    description: lookUp(shape, path.slice(path.lastIndexOf(".") + 1))?.description ?? "",
    source: line === undefined ? { kind: "default" } : { kind: "file", line, file: config.file },
  };
}

function notWritten(name: string, description = ""): ShownSetting {
  return { name, variable: null, value: null, description, source: { kind: "default" } };
}

function toShownSource(source: SettingSource, { file }: Config): ShownSetting["source"] {
  return source.kind === "file" ? { ...source, file } : source;
}

/** Of an address, the server and the user are shown, and of a database its name and options. */
function hideSecret(value: unknown): unknown {
  if (value === null) return null;
  const url = URL.parse(String(value));
  if (url === null || url.host === "") return hidden;
  if (hasSecretPath(url)) {
    url.pathname = hidden;
    url.search = "";
  }
  return withoutPassword(url);
}

/** Operators may write a password into any address. */
function hidePassword(value: unknown): unknown {
  const url = typeof value === "string" ? URL.parse(value) : null;
  return url === null || url.password === "" ? value : withoutPassword(url);
}

function withoutPassword(url: URL): string {
  if (url.password !== "") url.password = "hidden";
  for (const name of [...url.searchParams.keys()]) if (/password/i.test(name)) url.searchParams.set(name, "hidden");
  return url.href;
}
