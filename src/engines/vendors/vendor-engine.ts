// A vendor that does tasks through an API of its own is data plus pure functions: a row says how it is reached, each of its tasks
// turns an input into requests and the last answer into an output. What is sent, timed, given up and paid is decided here and in
// call-vendor.ts. Settings are those of chat providers, and shared with the chat provider of the same name.

import { GatewayError, ValidationError } from "../../errors.ts";
import type { Ticker } from "../../lib/ticker.ts";
import type { Log } from "../../log.ts";
import { CallerLeft, type Clocks } from "../../providers/call.ts";
import type { ReadSetting } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { HttpClient } from "../../providers/http-client.ts";
import type { Engine, EngineAnswer, EngineCall } from "../engine.ts";
import { callVendor, toRefusalBy } from "./call-vendor.ts";
import { configureVendor, type DeclaredVendor, type VendorPlace } from "./configure-vendor.ts";
import { mergeParams } from "./merge-params.ts";

export interface VendorRow {
  /** The third part of a task model's name: lower case, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  /** The page that the facts of this row come from. */
  readonly docs: string;
  readonly auth: VendorAuthorization;
  /**
   * `{placeholders}` are filled from `placeholders`. Null: there is no public address, the operator names one, or each task names
   * a service. An address of the operator's (`<NAME>_BASE_URL`) stands for this one and for those of all services.
   */
  readonly baseUrl: string | null;
  /** Addresses of a vendor that has one for each of its services. For `aws-sigv4` the name is the one that requests are signed for. */
  readonly services?: Readonly<Record<string, string>>;
  /** Placeholder → the setting that fills it. They may stand in addresses, `headers`, `query` and the prefix of a header. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** Another name under which a setting may be found. */
  readonly settingFallbacks?: Readonly<Record<string, string>>;
  /** Names under which the vendor's own documentation keeps the key, read after `<NAME>_API_KEY`. */
  readonly keyNames?: readonly string[];
  /** Settings that hold the whole address, read after `<NAME>_BASE_URL`. */
  readonly addressNames?: readonly string[];
  /** Ends of an address that operators are used to write and that our paths already have: they are taken off. */
  readonly strippedSuffix?: string | readonly string[];
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Members, at any depth, that `provider_params` may not hold: with the gateway's credentials they would reach what is not the
   * caller's, such as files of the operator's own buckets.
   */
  readonly sealedParams?: readonly string[];
  /** What a refusal means where the status alone would mislead: another status, or undefined. */
  readonly readRefusal?: (status: number, body: JsonObject) => number | undefined;
  readonly tasks: readonly VendorTask[];
}

export type VendorAuthorization =
  | { readonly kind: "bearer" }
  /** `prefix` stands before the key: `Token `, `ApiKey {user}:` … */
  | { readonly kind: "header"; readonly name: string; readonly prefix?: string }
  /** As a parameter of the address. */
  | { readonly kind: "query"; readonly name: string }
  /** As a member of the JSON body, or a field of the form. */
  | { readonly kind: "member"; readonly name: string }
  /** The key is `user:password`; with `{placeholder}` as user or password where it is only one of them. */
  | { readonly kind: "basic"; readonly user?: string; readonly password?: string }
  | { readonly kind: "aws-sigv4" }
  /** An API key, an access token, or what google's own libraries take as credentials. */
  | { readonly kind: "google-service-account" };

export interface VendorTask {
  /** `text/sentiment_analysis` */
  readonly task: string;
  /** The page that the wire format comes from. */
  readonly docs: string;
  /** One of the row's services; absent: the row's own address. */
  readonly service?: string;
  /** Models that are listed. Absent: there are none to choose from, and naming one is refused by the gateway. */
  readonly models?: readonly string[];
  /** Whether a model that is not listed is tried as well. */
  readonly takesOtherModels?: boolean;
  /** What the vendor's documentation says that it takes; other files are refused before they are read. */
  readonly files?: FileLimits;
  toRequest(call: EngineCall): VendorRequest | Promise<VendorRequest>;
  /**
   * For tasks of several requests: what follows an answer to `asked`, which may be asked again. Null: it was the last one.
   * Absent: the first one is.
   */
  next?(answer: VendorAnswer, call: EngineCall, asked: VendorRequest): NextRequest | null | Promise<NextRequest | null>;
  /** Throws a VendorFailure when the answer says that it failed. A TypeError means an answer that makes no sense. */
  fromAnswer(answer: VendorAnswer, call: EngineCall): VendorResult | Promise<VendorResult>;
}

export interface FileLimits {
  readonly maxBytes?: number;
  /** `image/png`; one that ends with a slash stands for all of its kind: `image/`. */
  readonly mediaTypes?: readonly string[];
}

export interface VendorRequest {
  /** POST when absent. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Appended to the address, percent-encoded where it must be. */
  readonly path: string;
  /** Members that are null or undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: VendorBody;
  /** Where in the JSON body `provider_params` go; its top when absent. In a form they become fields, else parameters of the address. */
  readonly paramsAt?: readonly (string | number)[];
  /** Whether `provider_params` go into it. Absent: only when it is the first one. */
  readonly takesParams?: boolean;
  /** Statuses beyond 2xx that are no failure. */
  readonly alsoGood?: readonly number[];
}

export interface NextRequest extends VendorRequest {
  /** How long to wait before it. One that waits asks whether work is done, and is asked again when it meets a short failure. */
  readonly waitMs?: number;
}

export type VendorBody =
  /** `mediaType`: `application/json` when absent. */
  | { readonly kind: "json"; readonly value: unknown; readonly mediaType?: string }
  /** multipart/form-data */
  | { readonly kind: "form"; readonly parts: readonly FormPart[] }
  /** application/x-www-form-urlencoded */
  | { readonly kind: "fields"; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly kind: "text"; readonly text: string; readonly mediaType: string };

export type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly mediaType: string; readonly bytes: Uint8Array };

export interface VendorAnswer {
  readonly status: number;
  /** Names are written in lower case. */
  header(name: string): string | null;
  /** Of the content type, in lower case, without its parameters. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Parsed when it is first asked for; a body that is no JSON is `provider_bad_response`. */
  readonly json: unknown;
}

export interface VendorResult {
  readonly output: JsonObject;
  readonly units: EngineAnswer["units"];
  readonly binaries?: EngineAnswer["binaries"];
  readonly charge?: EngineAnswer["charge"];
  /** For `show_original_response`. Absent: the last answer where it is JSON, else null. */
  readonly original?: unknown;
}

/** An answer of status 200 that says it failed. The status is the one that the failure should have had. */
export class VendorFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "VendorFailure";
    this.status = status;
  }
}

/** An input that this vendor cannot take, at a member of `input`. */
export function refuseInput(member: string, msg: string, type = "value_error"): never {
  throw new ValidationError([{ loc: ["body", "input", ...member.split(".")], msg, type }]);
}

export interface VendorOptions {
  readonly rows: readonly VendorRow[];
  /** What the operator's file says of providers. */
  readonly declared: Readonly<Record<string, DeclaredVendor>>;
  readonly readSetting: ReadSetting;
  readonly http: HttpClient;
  readonly ticker: Ticker;
  readonly clocks: Clocks;
  /** Fires when the gateway goes down and can wait no longer. */
  readonly ending: AbortSignal;
  readonly log: Log;
}

export function createVendorEngines(options: VendorOptions): readonly Engine[] {
  return options.rows.flatMap((row) => createEngines(row, options));
}

function createEngines(row: VendorRow, options: VendorOptions): Engine[] {
  const { declared, readSetting, log } = options;
  const setup = configureVendor(row, declared[row.name] ?? null, readSetting);
  for (const secret of setup.secrets) log.hide(secret);
  // Those of an operator who declares several are used in turn.
  let turn = 0;
  const choosePlace = (model: string | null): VendorPlace => {
    const places = setup.places.filter(({ models }) => models === null || model === null || models.has(model));
    const place = places[turn++ % Math.max(1, places.length)];
    if (place === undefined) throw notConfigured(row.name, setup.missing);
    return place;
  };
  return row.tasks.map((task) => ({
    provider: row.name,
    task: task.task,
    models: task.models ?? [],
    takesOtherModels: task.takesOtherModels ?? false,
    missing: setup.missing === null ? null : `The provider '${row.name}' is not set up: set ${setup.missing}.`,
    async run(call) {
      const place = choosePlace(call.model);
      checkFiles(call, task.files);
      return runTask(task, call, { ...options, row, place, service: task.service ?? null });
    },
  }));
}

interface Running extends VendorOptions {
  readonly row: VendorRow;
  readonly place: VendorPlace;
  readonly service: string | null;
}

const longestPause = 3;

async function runTask(task: VendorTask, call: EngineCall, running: Running): Promise<EngineAnswer> {
  const merged = (request: VendorRequest, takesParams: boolean) =>
    takesParams ? mergeParams(request, call.providerParams, running.row) : request;
  const first = await task.toRequest(call);
  let asked: VendorRequest = merged(first, first.takesParams ?? true);
  let answer = await callVendor(asked, call, running);
  for (;;) {
    const last = { asked, answer };
    const next = await reading(running, () => task.next?.(last.answer, call, last.asked) ?? null);
    if (next === null) break;
    asked = merged(next, next.takesParams ?? false);
    answer = next.waitMs === undefined ? await callVendor(asked, call, running) : await ask(next, call, running);
  }
  const result = await reading(running, () => task.fromAnswer(answer, call));
  return toEngineAnswer(answer, result);
}

/** Whatever a mapping stumbles over was the vendor's doing: mappings are made for all that is documented. */
async function reading<Result>(running: Running, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof VendorFailure)
      throw toRefusalBy(running, { status: error.status, retryAfter: null, body: JSON.stringify(error.message) });
    if (!(error instanceof TypeError)) throw error;
    const { name } = running.row;
    throw new GatewayError("provider_bad_response", `The provider '${name}' sent an answer that makes no sense.`, {
      cause: error,
    });
  }
}

/** Whether the work is done. It goes on at the vendor's, so that a short failure of the question is no failure of the work. */
async function ask(request: NextRequest, call: EngineCall, running: Running): Promise<VendorAnswer> {
  for (let failures = 0; ; ) {
    await pause(request.waitMs ?? 0, call, running.ending);
    try {
      return await callVendor(request, call, running);
    } catch (error) {
      if (!isShort(error) || ++failures > longestPause) throw error;
    }
  }
}

function isShort(error: unknown): boolean {
  return (
    error instanceof GatewayError &&
    ["provider_rate_limited", "provider_error", "provider_unreachable", "provider_disconnected"].includes(error.code)
  );
}

function pause(milliseconds: number, { signal, deadline }: EngineCall, ending: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leftMs = deadline - performance.now();
  const isTooLong = milliseconds > leftMs;
  const timer = setTimeout(() => (isTooLong ? fail() : resolve()), Math.max(0, Math.min(milliseconds, leftMs)));
  const fail = () => {
    if (ending.aborted) reject(new GatewayError("draining", "The gateway went down before the answer was complete."));
    else if (isTooLong || performance.now() >= deadline)
      reject(new GatewayError("provider_timeout", "The provider did not finish within the time of the request."));
    else reject(new CallerLeft());
  };
  const stop = AbortSignal.any([signal, ending]);
  stop.addEventListener("abort", fail, { once: true });
  if (stop.aborted) fail();
  return promise.finally(() => {
    clearTimeout(timer);
    stop.removeEventListener("abort", fail);
  });
}

function checkFiles({ files }: EngineCall, limits: FileLimits | undefined): void {
  if (limits === undefined) return;
  const { maxBytes = Number.POSITIVE_INFINITY, mediaTypes } = limits;
  for (const [member, { mediaType, size }] of Object.entries(files)) {
    if (
      mediaTypes !== undefined &&
      !mediaTypes.some((one) => one === mediaType || (one.endsWith("/") && mediaType.startsWith(one)))
    )
      refuseInput(
        member,
        `This provider takes ${mediaTypes.join(", ")}, and this is ${mediaType}`,
        "unsupported_media_type",
      );
    if (size > maxBytes)
      refuseInput(member, `This provider takes files of at most ${maxBytes} bytes`, "file_too_large");
  }
}

function toEngineAnswer(answer: VendorAnswer, result: VendorResult): EngineAnswer {
  const { output, units, binaries, charge } = result;
  const isJson = /[/+]json$|json-1\.\d$/.test(answer.mediaType);
  return {
    output,
    units,
    original: "original" in result ? result.original : isJson ? answer.json : null,
    ...(binaries === undefined ? {} : { binaries }),
    ...(charge === undefined ? {} : { charge }),
  };
}

function notConfigured(name: string, setting: string | null): GatewayError {
  const why =
    setting === null
      ? `No deployment of the provider '${name}' serves this model.`
      : `The provider '${name}' is not set up: set ${setting}, or declare it in switchyard.yaml.`;
  return new GatewayError("provider_not_configured", why);
}
