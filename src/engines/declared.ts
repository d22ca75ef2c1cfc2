// Providers of the operator's own that answer tasks in our shape: POST {base_url}/universal-ai. They can open no upload and should dial
// no address that a caller chose, so files go along as `data:` URLs.

import { findTask, type TaskName } from "../contract/tasks.ts";
import type { Egress } from "../egress/egress.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import { hasOddNumbers, parseExactJson } from "../lib/exact-json.ts";
import { setAt } from "../lib/set-at.ts";
import type { Ticker } from "../lib/ticker.ts";
import { type Clocks, ProviderCall } from "../providers/call.ts";
import type { Provider } from "../providers/configure.ts";
import type { Deployment } from "../providers/deployment.ts";
import type { JsonObject } from "../providers/dialect.ts";
import type { HttpClient } from "../providers/http-client.ts";
import { takeBinaries } from "./declared-binaries.ts";
import type { Engine, TaskCall, TaskResult } from "./engine.ts";
import { fetchResult } from "./fetch-result.ts";
import { createDeploymentTurns, findNamed } from "./vendors/vendor-engine.ts";

export interface CallDependencies {
  readonly clocks: Clocks;
  readonly ticker: Ticker;
  readonly http: HttpClient;
  readonly shutdownSignal: AbortSignal;
  /** For results that a provider names by an address. */
  readonly egress: Egress;
}

const path = "/universal-ai";
const megabyte = 1_048_576;
/** Of all files of a request together, before they are written as text. */
const maxFileMegabytes = 20;
/** Of all files that an answer holds or names. */
const maxResultBytes = 64 * megabyte;

export function createDeclaredEngines(providers: Iterable<Provider>, dependencies: CallDependencies): Engine[] {
  return [...providers].flatMap((provider) => {
    const deployments = createDeploymentTurns(provider);
    return provider.declaredTasks.map((task) => ({
      provider: provider.name,
      task,
      models: [],
      acceptsAnyModel: false,
      unavailableReason:
        provider.missingTaskSetting === null
          ? null
          : `The provider '${provider.name}' is not set up: set ${provider.missingTaskSetting}.`,
      deployments,
      run: (call: TaskCall) => run(provider, task, call, dependencies),
    }));
  });
}

async function run(
  provider: Provider,
  task: TaskName,
  call: TaskCall,
  dependencies: CallDependencies,
): Promise<TaskResult> {
  const deployment = findNamed(provider, call) ?? provider.taskDeployments[0];
  if (deployment === undefined) throw new TypeError(`the provider '${provider.name}' has no address`);
  const input = await withFiles(call);
  const request = { model: `${task}/${provider.name}`, input, provider_params: call.providerParams };
  const { answer, exact } = await ask(provider, deployment, { call, body: JSON.stringify(request), ...dependencies });
  const { egress, clocks, shutdownSignal } = dependencies;
  const { isTls } = deployment.origin;
  const from = { egress, clocks, shutdownSignal, provider: provider.name, isTls };
  const taken = await takeBinaries({
    schema: findTask(task).outputSchema,
    output: answer["output"] as JsonObject,
    provider: provider.name,
    maxBytes: maxResultBytes,
    fetchResult: (url, maxBytes) => fetchResult(url, call, { ...from, maxBytes }),
  });
  const cost = readCost(answer["cost"]);
  return {
    ...taken,
    original: exact["original_response"] ?? exact,
    units: { request: 1 },
    charge: { cost, reason: cost === null ? "price_unknown" : null },
  };
}

async function ask(
  provider: Provider,
  deployment: Deployment,
  { call, body, clocks, ticker, http, shutdownSignal }: CallDependencies & { call: TaskCall; body: string },
): Promise<{ readonly answer: JsonObject; readonly exact: JsonObject }> {
  const made = new ProviderCall({
    provider,
    address: deployment,
    path,
    body,
    wantsStream: false,
    connection: { signal: call.signal },
    shutdownSignal,
    clocks,
    deadline: call.deadline,
    ticker,
    http,
  });
  try {
    await made.open();
    const text = await made.readWhole();
    const answer = readAnswer(text, provider);
    made.finish();
    return { answer, exact: hasOddNumbers(text) ? (parseExactJson(text) as JsonObject) : answer };
  } catch (error) {
    made.abandon();
    throw error;
  }
}

/** The input with the bytes of each file in the place that named it. */
async function withFiles({ input, files }: TaskCall): Promise<JsonObject> {
  const entries = Object.entries(files).map(([member, file]) => ({ path: toPath(member), file }));
  if (entries.length === 0) return input;
  let bytes = 0;
  for (const { path: place, file } of entries) {
    bytes += file.size;
    if (bytes > maxFileMegabytes * megabyte) throw tooLarge(place);
  }
  const whole = structuredClone(input);
  for (const { path: place, file } of entries) {
    const content = await file.read();
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64");
    setAt(whole, place, `data:${file.mediaType};base64,${text}`);
  }
  return whole;
}

/** `reference_images.0.file` */
function toPath(member: string): (string | number)[] {
  return member.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function tooLarge(place: readonly (string | number)[]): ValidationError {
  const msg = `This provider takes files of at most ${maxFileMegabytes} MB, all files of a request together`;
  return new ValidationError([{ loc: ["body", "input", ...place], msg, type: "file_too_large" }]);
}

function readCost(stated: unknown): number | null {
  return typeof stated === "number" && Number.isFinite(stated) && stated >= 0 ? stated : null;
}

function readAnswer(text: string, { name }: Provider): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) {
      const { output } = value as JsonObject;
      if (typeof output === "object" && output !== null) return value as JsonObject;
    }
  } catch {
    // said below
  }
  throw new GatewayError("provider_bad_response", `The provider '${name}' did not answer with a task's output.`);
}
