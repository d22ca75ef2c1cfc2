// Every setting once: its name in switchyard.yaml, type, default and meaning. docs/settings.md and the JSON Schema of switchyard.yaml are
// generated from it.

import { availableParallelism } from "node:os";
import { z } from "zod";
import { createAddressRanges, readServerAddress } from "../lib/addresses.ts";
import { lookUp } from "../lib/look-up.ts";
import { readProxy } from "../lib/outgoing-proxy.ts";
import { readPairs } from "../lib/pairs.ts";
import { parsePostgresUrl, postgresForm } from "../lib/postgres-url.ts";
import { parseSealingKeys } from "../lib/seal.ts";
import type { Environment } from "./config-file.ts";
import { expected, list, oneOf, optional, readableBy, text, whole, yesOrNo } from "./schema-parts.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const kilobyte = 1_024;
const megabyte = 1_024 * kilobyte;
const gigabyte = 1_024 * megabyte;

const addressRanges = list().superRefine(readableBy(createAddressRanges)).default([]);
const usdForm = /^\d{1,9}(?:\.\d{1,6})?$/;
const webOrigin = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#*@]+$/;
const webAddress = /^https?:\/\/[^/?#\s]+[^?#\s]*$/;

export const settings = {
  host: text()
    .refine(
      isHost,
      expected("an address or a name, such as 127.0.0.1, 0.0.0.0 or ::, without the port (SWITCHYARD_PORT)"),
    )
    .default("127.0.0.1")
    .describe("Address on which the gateway listens."),
  port: whole(0, 65_535)
    .default(8080)
    .describe("Port on which the gateway listens; 0 lets the system choose one, which the log names and reloads keep."),
  admin_port: optional(whole(1, 65_535)).describe(
    "Serves `/v3/manage/*`, `/metrics` and `/dashboard` on this port only; unset: on the public port.",
  ),
  metrics_port: optional(whole(1, 65_535)).describe(
    "Serves `/metrics` on this port as well, without a key; unset: only on the port of `/v3/manage/*`, with a management key. `switchyard work` also serves `/healthz` and `/readyz` there.",
  ),
  data_dir: text().default("./data").describe("Folder of the SQLite database and of all other stored data."),
  database_url: optional(
    // The address holds a password, so the message does not repeat it.
    text(
      z
        .string()
        .regex(/^postgres(ql)?:\/\/[^/?#\s]+/, { error: postgresForm, abort: true })
        .superRefine(readableBy(parsePostgresUrl)),
    ),
  ).describe("`postgres://…` stores all data in PostgreSQL; unset: in SQLite."),
  admin_key: optional(
    text(z.string().min(16, { error: ({ input }) => `needs at least 16 characters, and has ${String(input).length}` })),
  ).describe("Management key, at least 16 characters; unset: the first start creates one."),
  workers: whole(1, 256)
    .default(() => availableParallelism())
    .meta({ description: "Number of serving processes.", shownDefault: "number of cores" }),
  egress_allow: addressRanges.describe(
    "Address ranges (CIDR), separated by commas, that file, image and webhook addresses may use although they are private.",
  ),
  egress_dns: list()
    .superRefine(readableBy((servers: string[]) => servers.map(readServerAddress)))
    .default([])
    .describe(
      "DNS servers, `address` or `address:port`, for the hosts of file, image and webhook addresses; unset: those of the system.",
    ),
  egress_proxy: optional(text().superRefine(readableBy(readProxy))).describe(
    "HTTP proxy, `http://[user:password@]host:port`, for file, image and webhook addresses. The gateway still checks each address.",
  ),
  https_proxy: optional(text().superRefine(readableBy(readProxy))).describe(
    "HTTP proxy, `http://[user:password@]host:port`, for calls to providers over https. Calls over http and to this machine are direct. The lower-case name works as well.",
  ),
  no_proxy: list()
    .default([])
    .describe(
      "Hosts, separated by commas, that are called without HTTPS_PROXY: names (which include their subdomains), addresses, CIDRs or `*`. Names and addresses may have a port. The lower-case name works as well.",
    ),
  max_body_bytes: whole(kilobyte, gigabyte)
    .default(20 * megabyte)
    .describe("Largest JSON body, in bytes."),
  max_websockets_per_key: whole(1, 100_000)
    .default(64)
    .describe("WebSockets that one key may have open in one serving process."),
  max_websocket_message_bytes: whole(kilobyte, gigabyte)
    .default(4 * megabyte)
    .describe(
      "Largest WebSocket message, in bytes, and never more than SWITCHYARD_MAX_BODY_BYTES. Incomplete messages of a key use at most this size times its WebSockets.",
    ),
  trusted_proxies: addressRanges.describe(
    "Address ranges (CIDR) of proxies, separated by commas, whose `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host` count: for the client's address in the log, and for the addresses of results; unset: the headers are ignored.",
  ),
  cors_origins: list()
    .refine(
      (origins) => origins.every((origin) => origin === "*" || webOrigin.test(origin)),
      expected("origins such as https://app.example, without a path, or '*'"),
    )
    .default([])
    .describe(
      "Origins of web pages, separated by commas, that may call the gateway from a browser; `*`: all, except for routes of operators; unset: none.",
    ),
  tls_cert: optional(text()).describe(
    "File with the certificate of the gateway and the intermediate certificates, in PEM form: the gateway then serves HTTPS on all ports. A reload reads it again.",
  ),
  tls_key: optional(text()).describe("File with the private key of that certificate, in PEM form."),
  max_concurrent_requests_per_key: whole(1, 1_000_000)
    .default(12_000)
    .describe("Concurrent requests of one key in all processes of a gateway, streams included; above this, 429."),
  max_concurrent_streams_per_key: whole(1, 1_000_000)
    .default(10_000)
    .describe("Concurrent streams of one key in all processes of a gateway; above this, 429."),
  overload_delay_ms: whole(10, hour)
    .default(50)
    .describe(
      "Event-loop delay of a serving process that, when it lasts for 0.1 s, is an overload: 503 `overloaded` for requests of keys that use more than their share.",
    ),
  max_running_requests: whole(1, 1_000_000)
    .default(10_000)
    .describe(
      "Requests of all keys that wait for the beginning of their answer, in one serving process; above this, 503 `overloaded` for keys that have more than their share of them.",
    ),
  store_timeout_ms: whole(100, hour)
    .default(second)
    .describe(
      "Timeout for an operation of SQLite or PostgreSQL; after it, 503 for requests that need the store. Longer ones, such as reports, have timeouts of their own.",
    ),
  body_timeout_ms: whole(100, hour).default(minute).describe("Timeout for the arrival of a request body."),
  connect_timeout_ms: whole(100, hour)
    .default(10 * second)
    .describe("Connect timeout for providers."),
  first_byte_timeout_ms: whole(100, hour)
    .default(5 * minute)
    .describe("Timeout until the first event of a provider's stream, or the headers of another answer."),
  idle_timeout_ms: whole(100, hour)
    .default(minute)
    .describe(
      "Timeout between two events of a provider's stream, or between two pieces of another answer or of a result that a provider stores elsewhere.",
    ),
  total_timeout_ms: whole(100, day)
    .default(30 * minute)
    .describe("Timeout for a provider's whole answer."),
  retries: whole(0, 10).default(2).describe("Retries of a failed call when no other provider offers the model."),
  breaker_failures: whole(0, 100_000)
    .default(20)
    .describe(
      "Failures of an offer within the window, and at least half of its calls, that open its circuit breaker; 0 turns the breaker off.",
    ),
  breaker_window_ms: whole(100, hour)
    .default(30 * second)
    .describe("Window in which the circuit breaker counts failures."),
  breaker_open_ms: whole(100, hour)
    .default(10 * second)
    .describe(
      "Time after which an open circuit lets one call through as a probe. It doubles with each failed probe, up to eight times this value.",
    ),
  budget_output_tokens: whole(1, 10_000_000)
    .default(4_096)
    .describe("Output tokens that a budget and a limit of tokens reserve for a call that sets no limit itself."),
  budget_unknown_price: text(
    z.string().regex(/^(?:refuse|\d{1,9}(?:\.\d{1,6})?)$/, expected("'refuse' or USD per million tokens, such as 20")),
  )
    .default("refuse")
    .describe(
      "What a call to a model without a known price counts against a budget, in USD per million tokens; `refuse`: such a call is 402.",
    ),
  budget_unknown_call_price: text(z.string().regex(usdForm, expected("an amount in USD, such as 0.05")))
    .default("0.01")
    .describe(
      "USD that a call without a known price counts in addition, unless SWITCHYARD_BUDGET_UNKNOWN_PRICE refuses it.",
    ),
  budget_wait_ms: whole(0, minute)
    .default(2 * second)
    .describe("Time for which a call waits while running calls have reserved the rest of its budget; after that, 402."),
  budget_alert_thresholds: list()
    .refine(
      (values) => values.every((value) => /^[1-9]\d{0,3}$/.test(value)),
      expected("percentages, separated by commas, such as 50,80,100"),
    )
    .default(["50", "80", "100"])
    .describe("Percentages of a budget, separated by commas, that are announced once per period when they are spent."),
  budget_alert_webhook: optional(
    text(
      z.string().regex(/^https:\/\/[^/?#\s]+[^#\s]*$/, "should be an address such as https://alerts.example/budgets"),
    ),
  ).describe("Receives a signed webhook for each of these thresholds; unset: they are only logged."),
  prices_file: optional(text()).describe(
    "A newer file of prices. An invalid file is logged, and the built-in prices stay in use.",
  ),
  responses_store_for_all: yesOrNo()
    .default(false)
    .describe(
      "`true`: the gateway stores the conversations of `/v3/responses`, encrypted, for every provider; in the file also `responses: { store_for_all: true }`.",
    ),
  responses_lifetime_days: whole(1, 3_650)
    .default(30)
    .describe("Days for which a response can be retrieved and continued."),
  encryption_key: optional(text().superRefine(readableBy(parseSealingKeys))).describe(
    "Encrypts stored conversations, the private keys of webhooks and the gateway's other secrets: 32 bytes as base64 or hex. Of several keys, separated by commas, the first encrypts and all decrypt.",
  ),
  max_file_bytes: whole(kilobyte, 2 ** 31 - 1)
    .default(100 * megabyte)
    .describe("Largest file, uploaded or downloaded, in bytes."),
  max_download_bytes: whole(megabyte, 2 ** 40)
    .default(512 * megabyte)
    .describe(
      "Memory in bytes of one process for files that requests name by their address. One key may use half of it, and less while other keys use it; above this, 429 or 503.",
    ),
  files_max_owner_bytes: whole(kilobyte, 2 ** 50)
    .default(10 * gigabyte)
    .describe(
      "Storage quota in bytes of one key, or of all keys of one owner, for uploads and binary results of tasks.",
    ),
  upload_timeout_ms: whole(second, day)
    .default(15 * minute)
    .describe("Timeout for a whole upload. SWITCHYARD_BODY_TIMEOUT_MS limits the time between two of its chunks."),
  resource_lifetime_hours: whole(1, 720)
    .default(24)
    .describe(
      "Hours for which the addresses of binary results work; those of jobs work for SWITCHYARD_JOB_LIFETIME_DAYS.",
    ),
  files_s3_bucket: optional(text()).describe("Stores files in this S3 bucket; unset: in the data folder."),
  files_s3_endpoint: optional(text()).describe("Address of an S3 service other than AWS."),
  files_s3_region: optional(text()).describe("Region of the bucket."),
  files_s3_access_key_id: optional(text()).describe("Required with a bucket."),
  files_s3_secret_access_key: optional(text()).describe("Required with a bucket."),
  files_s3_session_token: optional(text()).describe("For temporary credentials."),
  files_s3_prefix: text().default("files/").describe("Prefix of the names of files in the bucket."),
  local_workers: optional(whole(1, 256)).describe(
    "Processes for heavy local tasks of requests, and as many for those of jobs; unset: all cores but one.",
  ),
  local_max_waiting: whole(1, 100_000).default(64).describe("Local tasks that may wait for a process."),
  local_max_waiting_per_owner: whole(1, 100_000)
    .default(16)
    .describe("Local tasks of one owner that may wait for a process; above this, 429."),
  local_text_timeout_ms: whole(100, day)
    .default(30 * second)
    .describe("Timeout of a local engine for one text. The gateway ends a process that takes longer."),
  local_media_timeout_ms: whole(100, day)
    .default(2 * minute)
    .describe(
      "Timeout of a local engine for a document, image or recording, and for a text that a neural model or the grammar rules read.",
    ),
  local_job_timeout_ms: whole(100, day)
    .default(30 * minute)
    .describe("Timeout of a local engine for tasks that run only as jobs: long recordings, documents of many pages."),
  local_idle_ms: whole(second, day)
    .default(5 * minute)
    .describe("Time after which an idle process of a local engine ends."),
  local_niceness: whole(0, 19)
    .default(15)
    .describe(
      "Niceness of the processes of local engines, so that they do not delay requests; 0 on a machine that other programs keep busy.",
    ),
  local_memory_mb: whole(128, 65_536)
    .default(1_536)
    .describe("Memory limit of a process of a local engine, in megabytes."),
  local_unconfined: yesOrNo()
    .default(false)
    .describe(
      "`true`: processes of local engines may use the network and the file system, which the gateway otherwise denies them on Linux.",
    ),
  job_workers: whole(0, 64)
    .default(1)
    .describe("Worker processes, which run jobs and deliver webhooks; 0 leaves both to `switchyard work`."),
  jobs_at_once: whole(1, 10_000).default(32).describe("Jobs that one worker process runs concurrently."),
  job_timeout_ms: whole(second, 7 * day)
    .default(6 * hour)
    .describe("Timeout of a job from its acceptance to its end."),
  max_queued_jobs_per_key: whole(1, 10_000_000)
    .default(250_000)
    .describe("Queued and running jobs of one key, or of all keys of one owner; above this, 429."),
  job_lifetime_days: whole(1, 365).default(7).describe("Days for which a job and its result can be retrieved."),
  deliveries_at_once: whole(1, 10_000).default(512).describe("Webhooks that one worker process delivers concurrently."),
  deliveries_per_host: whole(1, 10_000)
    .default(32)
    .describe("Webhooks that one worker process delivers concurrently to one host."),
  public_url: optional(
    text(z.string().regex(webAddress, expected("an address such as https://gateway.example"))),
  ).describe(
    "Address under which callers reach the gateway, for the addresses of binary results; unset: the address of the request.",
  ),
  heartbeat_ms: whole(50, 240_000)
    .default(15 * second)
    .describe(
      "Time without an event after which the gateway sends a comment line on a stream. Nothing is sent before the first event.",
    ),
  start_timeout_ms: whole(second, hour)
    .default(30 * second)
    .describe("Time within which all processes of a reload must be ready; otherwise the current configuration stays."),
  drain_delay_ms: whole(0, hour)
    .default(second)
    .describe(
      "Time after SIGTERM in which the gateway still accepts requests while `/readyz` answers 503, and in which replaced processes pass on the requests that still reach them after a reload.",
    ),
  drain_timeout_ms: whole(0, hour)
    .default(30 * second)
    .describe("Time after that delay in which running requests may finish."),
  keys_stale_after_ms: whole(100, day)
    .default(hour)
    .describe("Time for which the gateway accepts keys that it knows while the database is unreachable."),
  session_idle_timeout_ms: whole(minute, 30 * day)
    .default(30 * minute)
    .describe("Time without a use after which a session of the dashboard ends."),
  session_lifetime_hours: whole(1, 8_760)
    .default(12)
    .describe("Hours after which a session of the dashboard ends, even if it is in use."),
  audit_retention_days: whole(1, 36_500).default(365).describe("Days for which the audit log keeps its records."),
  capture_content: yesOrNo()
    .default(false)
    .describe(
      "`true`: headers and content of requests and answers are stored for administrators, encrypted, without known forms of keys and without files.",
    ),
  capture_characters: whole(1, 1_000_000)
    .default(32_768)
    .describe("Characters of a request and of an answer that are captured."),
  capture_retention_hours: whole(1, 8_760).default(72).describe("Hours for which captured requests are stored."),
  ledger: yesOrNo()
    .default(true)
    .describe("`false`: calls are not recorded, so there are no usage reports, and budgets cannot be enforced."),
  ledger_retention_days: whole(1, 3_650)
    .default(90)
    .describe("Days for which the ledger keeps its lines. PostgreSQL drops them by the month."),
  usage_retention_days: whole(1, 36_500)
    .default(800)
    .describe("Days for which the hourly totals of the ledger are kept."),
  ledger_spool_bytes: whole(4 * megabyte, 2 ** 50)
    .default(gigabyte)
    .describe(
      "Space in the data folder, in bytes, for lines of the ledger that the database has not accepted yet. When it is used up, calls are refused with 503.",
    ),
  otel_exporter_otlp_endpoint: optional(
    text(z.string().regex(webAddress, "should be an address such as http://collector.example:4318")),
  ).describe("Address of an OpenTelemetry collector, which receives traces at `/v1/traces`; unset: no traces."),
  otel_exporter_otlp_traces_endpoint: optional(
    text(z.string().regex(webAddress, "should be an address such as http://collector.example:4318/v1/traces")),
  ).describe("The whole address that receives traces, if it is another one."),
  otel_exporter_otlp_headers: optional(text().superRefine(readableBy(readPairs))).describe(
    "Headers of exports, such as credentials: `name=value` pairs, separated by commas.",
  ),
  otel_exporter_otlp_protocol: oneOf("http/protobuf", "http/json")
    .default("http/protobuf")
    .describe("Encoding of exports."),
  otel_exporter_otlp_timeout: whole(100, hour)
    .default(10 * second)
    .describe("Timeout of an export, in milliseconds, with all retries."),
  otel_service_name: text().default("switchyard").describe("Name of the gateway in traces."),
  otel_resource_attributes: optional(text().superRefine(readableBy(readPairs))).describe(
    "Further attributes of the gateway in traces: `name=value` pairs, separated by commas.",
  ),
  otel_traces_sampler: oneOf(
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
  )
    .default("parentbased_always_on")
    .describe("Which traces are recorded. `parentbased_…` follows the decision of a caller that sends one."),
  otel_traces_sampler_arg: optional(
    text(z.string().regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, expected("a share from 0 to 1, such as 0.1"))),
  ).describe("Share of the traces that `traceidratio` records; unset: all."),
  otel_bsp_schedule_delay: whole(10, hour)
    .default(5 * second)
    .describe("Longest time between two exports, in milliseconds."),
  otel_bsp_max_queue_size: whole(1, 1_000_000)
    .default(8_192)
    .describe("Spans of one process that wait for an export; further ones are dropped."),
  otel_bsp_max_export_batch_size: whole(1, 100_000).default(512).describe("Spans of one export."),
  otel_sdk_disabled: yesOrNo().default(false).describe("`true`: no traces, whatever the other settings are."),
  trace_callers: yesOrNo()
    .default(true)
    .describe("Whether a `traceparent` header of a caller is continued; `false`: every request begins a trace."),
  trace_providers: list()
    .default([])
    .describe(
      "Providers, separated by commas, that receive `traceparent`, such as servers of your own; `*`: all; unset: none.",
    ),
  trace_content: yesOrNo()
    .default(false)
    .describe("`true`: prompts and answers are recorded in traces, without known forms of keys and without files."),
  trace_content_characters: whole(1, 1_000_000)
    .default(4_096)
    .describe("Characters of a prompt and of an answer that are recorded."),
  trace_redact: optional(text().superRefine(readableBy((pattern: string) => new RegExp(pattern, "gu")))).describe(
    "Regular expression: what matches in prompts and answers is recorded as `[redacted]`, in traces and captured requests.",
  ),
  log_level: oneOf("debug", "info", "warn", "error").default("info").describe("Lowest level that is logged."),
  log_format: oneOf("json", "text", "auto")
    .default("auto")
    .describe("`auto` writes text to a terminal and JSON lines elsewhere."),
};

export type SettingName = keyof typeof settings;

/** What is wrong with the value of a setting in the file; null when it is valid. */
export function checkSetting(name: string, value: unknown): string | null {
  const schema: z.ZodType | undefined = lookUp(settings, name);
  return schema?.safeParse(value).error?.issues[0]?.message ?? null;
}

/**
 * Values that must not be shown, and that may be read from a file (`…_FILE`). The path of a receiver or collector may be its credential,
 * as in the webhooks of chat services. Messages about a wrong value do not repeat it.
 */
const secretSettings: ReadonlySet<string> = new Set<SettingName>([
  "database_url",
  "admin_key",
  "egress_proxy",
  "https_proxy",
  "budget_alert_webhook",
  "encryption_key",
  "files_s3_access_key_id",
  "files_s3_secret_access_key",
  "files_s3_session_token",
  "otel_exporter_otlp_endpoint",
  "otel_exporter_otlp_traces_endpoint",
  "otel_exporter_otlp_headers",
]);

export function isSecret(name: string): boolean {
  return secretSettings.has(name);
}

/** Whether an address of a secret setting has more than a server, so that its path and query may be a credential. */
export function hasSecretPath({ protocol, pathname, search }: URL): boolean {
  return /^https?:$/.test(protocol) && (pathname !== "/" || search !== "");
}

function isHost(host: string): boolean {
  const hasPort = /^[^:]*:\d*$/.test(host);
  return !/[\s/?#@]/.test(host) && !host.startsWith("[") && !hasPort;
}

// Names that other programs use for the same purpose.
const unprefixed: ReadonlySet<string> = new Set(["database_url", "https_proxy", "no_proxy"]);
const openTelemetryPrefix = "otel_";

// Programs read these names in upper and in lower case.
const inBothCases: ReadonlySet<string> = new Set(["https_proxy", "no_proxy"]);

/** The variable that sets the member: the upper-case name, unless only the lower-case name of a proxy setting is set. */
export function findVariable(member: string, environment: Environment): string {
  const name = variableOf(member);
  return inBothCases.has(member) && !environment[name] && environment[member] ? member : name;
}

/** `log_level` in the file is `SWITCHYARD_LOG_LEVEL` in the environment. */
export function variableOf(member: string): string {
  return unprefixed.has(member) || member.startsWith(openTelemetryPrefix)
    ? member.toUpperCase()
    : `SWITCHYARD_${member.toUpperCase()}`;
}

/** `logLevel` for `log_level`: its name in the configuration. */
export function camelCaseOf(member: string): string {
  return member.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
