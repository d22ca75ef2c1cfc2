// Providers that the operator declared, which perform tasks in the gateway's own format: POST {base_url}/universal-ai. They cannot open
// uploads and should not connect to addresses that callers chose, so files are sent as `data:` URLs.

import { findTask, type TaskName } from "../contract/tasks.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import { hasOddNumbers, parseExactJson } from "../lib/exact-json.ts";
import { isObject, type JsonObject } from "../lib/lenient-json.ts";
import { setAt } from "../lib/set-at.ts";
import { ProviderCall } from "../providers/call.ts";
import type { Provider } from "../providers/configure.ts";
import { finiteNumber } from "../providers/lenient.ts";
import { takeBinaries } from "./declared-binaries.ts";
import { type Engine, notSetUp, type TaskCall, type TaskResult } from "./engine.ts";
import { fetchResult } from "./fetch-result.ts";
import type { SendOptions } from "./vendors/send-request.ts";
import { createDeploymentTurns, findNamed } from "./vendors/vendor-engine.ts";

type CallOptions = Required<Pick<SendOptions, "clocks" | "ticker" | "http" | "shutdownSignal" | "egress">>;

const megabyte = 1_048_576;
/** All files of a request together, before base64. */
const maxFileMegabytes = 20;
/** All files that an answer contains or names. */
const maxResultBytes = 64 * megabyte;

export function createDeclaredEngines(providers: Iterable<Provider>, options: CallOptions): Engine[] {
  return [...providers].flatMap((provider) => {
    const deployments = createDeploymentTurns(provider);
    const { name } = provider;
    return provider.declaredTasks.map((task) => ({
      provider: name,
      task,
      models: [],
      acceptsAnyModel: false,
      get unavailableReason() {
        const { missingTaskSetting } = provider;
        return missingTaskSetting === null ? null : notSetUp(name, missingTaskSetting);
      },
      deployments,
      run: (call: TaskCall) => run(provider, task, call, options),
    }));
  });
}

async function run(provider: Provider, task: TaskName, call: TaskCall, options: CallOptions): Promise<TaskResult> {
  const { name } = provider;
  const address = findNamed(provider, call) ?? provider.taskDeployments[0];
  if (address === undefined) throw new TypeError(`the provider '${name}' has no address`);
  const input = await withFiles(call);
  const { egress, ...calling } = options;
  const providerCall = new ProviderCall({
    ...calling,
    ticket: call.ticket,
    provider,
    address,
    path: "/universal-ai",
    body: JSON.stringify({ model: `${task}/${name}`, input, provider_params: call.providerParams }),
    wantsStream: false,
    connection: { signal: call.signal },
    deadline: call.deadline,
  });
  const text = await readText(providerCall);
  const answer = parseAnswer(text, name);
  const exact = hasOddNumbers(text) ? (parseExactJson(text) as JsonObject) : answer;
  const { isTls } = address.origin;
  const taken = await takeBinaries({
    schema: findTask(task).outputSchema,
    output: answer.output,
    provider: name,
    maxBytes: maxResultBytes,
    fetchResult: (url, maxBytes) => fetchResult(url, call, { ...options, provider: name, isTls, maxBytes }),
  });
  const stated = finiteNumber(answer["cost"]);
  const cost = stated !== null && stated >= 0 ? stated : null;
  return {
    ...taken,
    original: exact["original_response"] ?? exact,
    units: { request: 1 },
    charge: { cost, reason: cost === null ? "price_unknown" : null },
  };
}

async function readText(call: ProviderCall): Promise<string> {
  try {
    await call.open();
    const text = await call.readWhole();
    call.finish();
    return text;
  } catch (error) {
    call.abandon();
    throw error;
  }
}

/** The input, in which the bytes of each file replace its name. */
async function withFiles({ input, files }: TaskCall): Promise<JsonObject> {
  const entries = Object.entries(files).map(([member, file]) => ({ path: toPath(member), file }));
  if (entries.length === 0) return input;
  let bytes = 0;
  for (const { path, file } of entries) {
    bytes += file.size;
    if (bytes <= maxFileMegabytes * megabyte) continue;
    const msg = `This provider takes files of at most ${maxFileMegabytes} MB, all files of a request together`;
    throw new ValidationError([{ loc: ["body", "input", ...path], msg, type: "file_too_large" }]);
  }
  const whole = structuredClone(input);
  for (const { path, file } of entries) {
    const content = await file.read();
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64");
    setAt(whole, path, `data:${file.mediaType};base64,${text}`);
  }
  return whole;
}

/** `reference_images.0.file` */
function toPath(member: string): (string | number)[] {
  return member.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function parseAnswer(text: string, provider: string): JsonObject & { readonly output: JsonObject } {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && typeof value["output"] === "object" && value["output"] !== null)
      return value as JsonObject & { readonly output: JsonObject };
  } catch {
    // Reported below.
  }
  throw new GatewayError("provider_bad_response", `The provider '${provider}' did not answer with a task's output.`);
}
