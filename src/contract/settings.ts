// `GET /v3/manage/settings`: the settings in force and where each of them comes from. `switchyard config show` prints the same.

import { z } from "zod";
import { component } from "./component.ts";
import { servedConfiguration } from "./health.ts";

const source = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("default") }),
  z.object({ kind: z.literal("environment"), variable: z.string() }),
  z.object({ kind: z.literal("file"), line: z.int(), file: z.string().nullable() }),
]);

const setting = component("Setting", {
  name: z.string().describe("The member of switchyard.yaml, such as `log_level` or `oidc.issuer`."),
  variable: z.string().nullable().describe("The variable of the environment. Null: only the file sets it."),
  value: z
    .unknown()
    .describe("`[hidden]` for a secret, also in a part of an address, and null where there is no value."),
  description: z.string(),
  source,
});

const engineGroup = component("EngineGroup", {
  name: z.string().describe("As `switchyard engines add` takes it."),
  state: z.enum(["added", "outdated", "absent"]),
  description: z.string(),
  tasks: z.array(z.string()).describe("The tasks that it adds."),
  improves: z.array(z.string()).describe("Tasks that work without it, but better with it."),
});

export const settingsInForce = component("SettingsInForce", {
  version: z.string().describe("The version of the gateway."),
  file: z.string().nullable().describe("The configuration file. Null: all settings come from the environment."),
  data_dir: z.string(),
  store: z.enum(["sqlite", "postgresql"]),
  configuration: servedConfiguration.nullable().describe("Null: the process has no supervisor, or it does not answer."),
  engines: z.array(engineGroup).describe("Groups of local engines, as they were when the process first listed them."),
  settings: z.array(setting),
});

export type SettingsInForce = z.infer<typeof settingsInForce>;
export type ShownSetting = z.infer<typeof setting>;
export type ShownEngineGroup = z.infer<typeof engineGroup>;
