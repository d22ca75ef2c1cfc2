// A vendor that does tasks through an API of its own is data plus pure functions: a row says how it is reached, each of its tasks
// turns an input into requests and the last answer into an output. What is sent, timed, given up and paid is decided in run-task.ts and
// call-vendor.ts. Settings are those of chat providers, and shared with the chat provider of the same name.

import type { Egress } from "../../egress/egress.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import type { Ticker } from "../../lib/ticker.ts";
import type { Log } from "../../log.ts";
import type { Clocks } from "../../providers/call.ts";
import type { ReadSetting } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { ErrorRule } from "../../providers/error-rules.ts";
import type { HttpClient } from "../../providers/http-client.ts";
import type { Engine, EngineAnswer, EngineCall } from "../engine.ts";
import { configureVendor, type DeclaredVendor, readNeeds, type VendorPlace } from "./configure-vendor.ts";
import { placeOfKept, type Running, runAtOnce, runInSteps } from "./run-task.ts";

export { VendorFailure } from "./run-task.ts";

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
  /** Sent with every request, as members of its JSON body or fields of its form. */
  readonly members?: Readonly<Record<string, string>>;
  /**
   * Members, at any depth, that `provider_params` may not hold: with the gateway's credentials they would reach what is not the
   * caller's, such as files of the operator's own buckets.
   */
  readonly sealedParams?: readonly string[];
  /** What its errors mean where their status alone would mislead. */
  readonly errors?: readonly ErrorRule[];
  /** The same where it takes more than a rule to tell: another status, or undefined. */
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
  /** Members of the task's input that the vendor has no parameter for: a caller who gives one is told. */
  readonly unused?: readonly string[];
  /** Settings without which this task cannot be done, by the names under which the call has them. */
  readonly needs?: Readonly<Record<string, string>>;
  /** The vendor takes a token against doing it twice, and is given the one of the job: a job may begin it again. */
  readonly isRepeatable?: true;
  toRequest(call: VendorCall): VendorRequest | Promise<VendorRequest>;
  /**
   * For tasks of several requests: what follows an answer to `asked`, which may be asked again. Null: it was the last one.
   * Absent: the first one is. Between a request that waits and the next one a job may move to another process, without its files: what
   * is needed then goes along as the request's `note`. All that follows one that waits must bear being asked twice.
   */
  next?(answer: VendorAnswer, call: VendorCall, asked: VendorRequest): NextRequest | null | Promise<NextRequest | null>;
  /** Throws a VendorFailure when the answer says that it failed. A TypeError means an answer that makes no sense. */
  fromAnswer(answer: VendorAnswer, call: VendorCall, asked: VendorRequest): VendorResult | Promise<VendorResult>;
  /** What takes away the files that the work left at the vendor's, after its end. `asked` was the last request. */
  leftovers?(call: VendorCall, asked: VendorRequest): readonly VendorRequest[];
}

export interface VendorCall extends EngineCall {
  /** Those that the task needs. */
  readonly settings: Readonly<Record<string, string>>;
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
  /**
   * Where in the JSON body `provider_params` go; its top when absent. In a form they become fields, or members of the JSON in the one field
   * that is named here; else parameters of the address.
   */
  readonly paramsAt?: readonly (string | number)[];
  /** Whether `provider_params` go into it. Absent: only when it is the first one. */
  readonly takesParams?: boolean;
  /** Statuses beyond 2xx that are no failure. */
  readonly alsoGood?: readonly number[];
  /** Another one of the row's services than the task's. */
  readonly service?: string;
  /**
   * The address of a result that the vendor keeps elsewhere, instead of `path`: fetched through the guard against inner addresses, and
   * without credentials.
   */
  readonly url?: string;
  /** What the answers are to be read with. It never leaves the gateway. Of a request that waits it has to be JSON. */
  readonly note?: unknown;
}

export interface NextRequest extends VendorRequest {
  /**
   * How long to wait before it; `growing`: the vendor does not say, a second at first and ten in the end. One that waits asks whether
   * work is done, and is asked again when it meets a short failure.
   */
  readonly waitMs?: number | "growing";
  /** 0..1, where the vendor tells how far the work is. */
  readonly progress?: number;
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
  /** For results that a vendor keeps elsewhere. */
  readonly egress?: Egress;
  readonly ticker: Ticker;
  readonly clocks: Clocks;
  /** Fires when the gateway goes down and can wait no longer. */
  readonly shutdownSignal: AbortSignal;
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
  return row.tasks.map((task) => {
    const needs = readNeeds(row, task.needs, readSetting);
    const missing = setup.missing ?? needs.missing;
    const toRunning = (plain: EngineCall, place: VendorPlace): Running => {
      if (missing !== null) throw notConfigured(row.name, missing);
      return {
        ...options,
        row,
        place,
        service: task.service ?? null,
        task,
        call: { ...plain, settings: needs.values },
      };
    };
    return {
      provider: row.name,
      task: task.task,
      models: task.models ?? [],
      takesOtherModels: task.takesOtherModels ?? false,
      unavailableReason: missing === null ? null : `The provider '${row.name}' is not set up: set ${missing}.`,
      ...(task.isRepeatable && { isRepeatable: true }),
      ...(task.unused !== undefined && { unusedMembers: task.unused }),
      async run(call) {
        const running = toRunning(call, choosePlace(call.model));
        checkFiles(call, task.files);
        return runAtOnce(running);
      },
      ...(task.next !== undefined && {
        async runStep(call, kept) {
          const place = kept === null ? choosePlace(call.model) : findPlace(setup.places, placeOfKept(kept), row.name);
          const running = toRunning(call, place);
          if (kept === null) checkFiles(call, task.files);
          return runInSteps(running, kept, place.id);
        },
      }),
    } satisfies Engine;
  });
}

/** Where the work was begun. A vendor with one place may have been given another key since. */
function findPlace(places: readonly VendorPlace[], id: string, name: string): VendorPlace {
  const place = places.find((one) => one.id === id) ?? (places.length === 1 ? places[0] : undefined);
  if (place !== undefined) return place;
  const why = `The deployment of the provider '${name}' that does this work is configured no more.`;
  throw new GatewayError("provider_not_configured", why);
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

function notConfigured(name: string, setting: string | null): GatewayError {
  const why =
    setting === null
      ? `No deployment of the provider '${name}' serves this model.`
      : `The provider '${name}' is not set up: set ${setting}, or declare it in switchyard.yaml.`;
  return new GatewayError("provider_not_configured", why);
}
