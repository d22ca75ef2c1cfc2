// docs/settings.md and the JSON Schema of switchyard.yaml, from the zod schema that checks the configuration.

import { z } from "zod";
import { overrideSchema } from "../src/catalogue/prices.ts";
import { writtenDefaults } from "../src/config/defaults.ts";
import { isSecret, settings, variableOf } from "../src/config/settings.ts";
import { configSchema } from "../src/config.ts";

export function settingsPage(): string {
  const lines = Object.entries(settings).map(
    ([name, schema]) => `| \`${variableOf(name)}\` | ${shownDefault(schema)} | ${schema.description} |`,
  );
  const secretVariables = Object.keys(settings)
    .filter(isSecret)
    .map((name) => `\`${variableOf(name)}\``);
  return `# Settings

Generated from \`src/config/settings.ts\`. A setting is a variable of the environment, or a member of \`switchyard.yaml\` in lower case and
without \`SWITCHYARD_\` (\`SWITCHYARD_LOG_LEVEL\` is \`log_level\`); the environment overrides the file. Times are in the unit that the
name states.

| setting | default | meaning |
|---|---|---|
| \`SWITCHYARD_CONFIG\` | \`./switchyard.yaml\` if it exists | File with settings, providers and aliases. |
${lines.join("\n")}
| \`<PROVIDER>_API_KEY\`, \`<PROVIDER>_BASE_URL\` | unset | Key and address of a provider, e.g. \`OPENAI_API_KEY\`; write \`-\` as \`_\`. |
| \`NODE_EXTRA_CA_CERTS\` | unset | File of additional trusted certificates. |

## Secrets from files

\`NAME_FILE\` names a file whose content is the value of \`NAME\`, as Docker and Kubernetes mount secrets: for ${secretVariables.join(", ")}, for every
key and setting of a provider (\`OPENAI_API_KEY_FILE\`, \`AWS_SECRET_ACCESS_KEY_FILE\`), and for every variable that \`switchyard.yaml\` names. White
space around the secret is ignored. It is an error to set both, and to name a file that is missing, unreadable, empty, or larger than 64 KB. The files
are read at the start and on reload, once for all processes.

## Check and show the configuration

\`\`\`sh
npx switchyard-gateway config check           # exit code 2 and one line per problem, with file, line, column and the nearest right name
npx switchyard-gateway config check --strict  # warnings are problems as well
npx switchyard-gateway config show            # every setting and provider in force, and where it comes from; secrets are hidden
\`\`\`

All of them take \`--config <file>\` and \`--json\`. A name that does not exist is refused wherever it is written: as a member of the file, as a variable
that starts with \`SWITCHYARD_\`, as a provider in \`providers\`, \`aliases\`, \`prices\` and \`defaults\`, and as a task. So is a \`\${VARIABLE}\` that is not set,
except as the whole key of a provider: the provider then counts as not configured, with a warning.

## The file

[switchyard.schema.json](switchyard.schema.json) is the JSON Schema of \`switchyard.yaml\`; \`npx switchyard-gateway config schema\` prints it. An editor with a YAML language server completes
and checks the file when its first line names the schema:

\`\`\`yaml
# yaml-language-server: $schema=node_modules/switchyard-gateway/docs/switchyard.schema.json
providers:
  openai: { api_key: "\${OPENAI_API_KEY}" }     # a known provider: any member may be overridden
  in-house:                                     # a new one
    dialect: openai
    base_url: http://127.0.0.1:9000/v1
    api_key: "\${IN_HOUSE_KEY}"
    models: [small, large]                      # for /v3/models; callers may use other models as well
    default_model: small                        # for tasks that name no model; by task: { text/moderation: small }
    stream_usage: ask                           # ask | always | never: how usage arrives in a stream
    stream_end: done                            # done | finish: what ends a complete stream
    responses: translated                       # native | stateless | translated: see responses.md
  sandbox: false                                # switches a known provider off
aliases:
  fast: groq/llama-3.3-70b-versatile            # callers may name "fast" as the model
  safe: [openai/gpt-5, azure/gpt-5]             # tried in this order
defaults:                                       # limits of new keys and teams (docs/keys-and-teams.md)
  key: { allowed_models: ["openai/*"] }
\`\`\`

## Import from LiteLLM

\`\`\`sh
npx switchyard-gateway config import examples/litellm.yaml
\`\`\`

converts the configuration of a LiteLLM proxy, prints the result (\`--output switchyard.yaml\` writes it to a new file), and lists with line numbers what it
could not convert. Models become aliases: those with several deployments are distributed by weight, and fallbacks follow them. Keys, addresses, headers
and prices become those of providers. If two names lead to the same model with different keys or addresses, the second one gets a provider of its own,
whose prices the catalogue does not have. \`os.environ/NAME\` becomes \`\${NAME}\`. Timeouts, retries and cooldowns become settings. Keys of callers, budgets and
stored data are not part of the file: create them with \`switchyard keys\` and \`switchyard teams\`.
`;
}

export function configJsonSchema(): string {
  const { responses_store_for_all: storeForAll, responses_lifetime_days: lifetimeDays } = settings;
  const { shape } = configSchema;
  const file = z.strictObject({
    ...shape,
    defaults: writtenDefaults.nullish().describe(writtenDefaults.description ?? ""),
    prices: z
      .record(z.string(), overrideSchema)
      .nullable()
      .optional()
      .describe(shape.prices.description ?? ""),
    responses: z
      .strictObject({ store_for_all: storeForAll, lifetime_days: lifetimeDays })
      .optional()
      .describe("Another way to write `responses_store_for_all` and `responses_lifetime_days`."),
  });
  const schema = z.toJSONSchema(file, {
    io: "input",
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod;
      // A setting that is no text is read from a text as well.
      if (def.type === "pipe" && (jsonSchema.type === "integer" || jsonSchema.type === "boolean"))
        acceptAlso(jsonSchema, variable);
      if (def.type === "pipe" && jsonSchema.type === "array") acceptAlso(jsonSchema, { type: "string" });
      if (def.type !== "default") return;
      // Without a value where it depends on the machine.
      if (jsonSchema["shownDefault"] === undefined) jsonSchema.default = def.defaultValue as JsonSchema["default"];
      delete jsonSchema["shownDefault"];
    },
  });
  acceptVariables(schema);
  return `${JSON.stringify({ title: "switchyard.yaml", ...schema, $defs: { ...schema.$defs, ...variableDefinition } }, null, 2)}\n`;
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

const variable = { $ref: "#/$defs/variable" };
const variableDefinition = {
  variable: {
    description: "A variable of the environment.",
    type: "string",
    pattern: "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}",
  },
};

/** A text may hold a variable, `base_url: "${ADDRESS}"`, whatever the rule for its value. */
function acceptVariables(schema: JsonSchema): void {
  const { properties = {}, additionalProperties, items, anyOf = [], $defs = {} } = schema;
  for (const inner of [...Object.values(properties), additionalProperties, items, ...anyOf, ...Object.values($defs)])
    if (typeof inner === "object" && !Array.isArray(inner)) acceptVariables(inner);
  const hasRule = ["pattern", "minLength", "enum"].some((name) => Object.hasOwn(schema, name));
  if (schema.type === "string" && hasRule) acceptAlso(schema, variable);
}

function acceptAlso(schema: JsonSchema, alternative: JsonSchema): void {
  const { description, default: fallback, ...rules } = structuredClone(schema);
  for (const name of Object.keys(rules)) delete schema[name];
  schema.anyOf = [rules, alternative];
}

function shownDefault(schema: (typeof settings)[keyof typeof settings]): string {
  const shown = schema.meta()?.["shownDefault"];
  if (typeof shown === "string") return shown;
  const value: unknown = schema.def.defaultValue;
  if (value === null) return "unset";
  // A list is written with commas, as the variable takes it.
  return String(value) || "empty";
}
