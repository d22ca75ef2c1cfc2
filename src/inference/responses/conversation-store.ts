// Stores responses: always the owner of an id and the deployment that has the response; and, where the gateway stores conversations itself
// (for every provider if the operator enables it, always for a provider inside the process), their encrypted content.

import { GatewayError } from "../../errors.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { ResponseIds } from "../../lib/response-id.ts";
import { SealError, type Sealer } from "../../lib/seal.ts";
import type { Log } from "../../log.ts";
import type { Provider } from "../../providers/configure.ts";
import type { Deployment } from "../../providers/deployment.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { findProvider } from "../../providers/find-provider.ts";
import type { ResponseRecord } from "../../storage/responses.ts";
import type { ResponseStore } from "../../storage/stores.ts";
import { completeItem, isCancelled } from "./response-defaults.ts";
import { createId } from "./to-response.ts";

export type { ResponseRecord } from "../../storage/responses.ts";

/**
 * The stored status of a response that runs in the background at its provider. Its cost is unknown until it has ended, and is in the ledger once
 * the status has changed.
 */
export const backgroundStatus = "background";

interface NewResponse extends Omit<ResponseRecord, "status" | "createdAt" | "expiresAt" | "body" | "input"> {
  readonly response: JsonObject;
  /** The input that the response answers; null when only the provider stores it. */
  readonly input: readonly JsonObject[] | null;
  /** It runs at the provider, whether or not a request waits for its end. */
  readonly isBackground?: boolean;
}

/** A response that is being stored and may still be running. Only this object stores its end. */
export interface PendingResponse {
  readonly createdAt: number;
  /** Resolves when the response can be found by its id. */
  readonly stored: Promise<void>;
  /** Stores the end, after the response itself. The first end counts. */
  complete(response: JsonObject): Promise<void>;
  /** The same, without waiting for the outcome. */
  noteEnd(response: JsonObject): void;
}

/** `unfinished`: the response did not complete, so it cannot be continued. `broken`: a turn of it is missing. */
export type Conversation = readonly JsonObject[] | "unfinished" | "broken";

export type ConversationStore = ReturnType<typeof createConversationStore>;

/** How much stored content one request may still read. */
export interface ReadAllowance {
  bytes: number;
  /** Thrown when the content exceeds it. */
  readonly toError: () => Error;
}

interface ConversationStoreOptions {
  readonly store: ResponseStore;
  readonly ids: ResponseIds;
  /** The gateway stores the conversations of every provider. */
  readonly storesAll: boolean;
  readonly sealer: Sealer;
  readonly lifetimeMs: number;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly log: Log;
}

type Key = Pick<ResponseRecord, "id" | "owner">;

const maxTurns = 1_000;
// More than any model accepts. Without a limit, a short request that names stored items could fill the memory.
export const maxItemBytes = 32 * 1_048_576;
// Responses are read whole and repeat their instructions and tools, so that each of 1,000 turns may have 64 KiB.
export const maxReadBytes = 64 * 1_048_576;
// One response, as it once was in memory: an answer of at most 64 MiB, with the instructions and tools of a request.
const maxResponseBytes = 256 * 1_048_576;
const finished: ReadonlySet<string> = new Set(["completed", "incomplete"]);
const decoder = new TextDecoder();
const encoder = new TextEncoder();

export function createConversationStore(options: ConversationStoreOptions) {
  const { store, ids, storesAll, sealer, lifetimeMs, providers, log } = options;
  /** Whether the gateway stores the conversations of this provider. */
  const storesFor = (name: string) => storesAll || findProvider(providers, name)?.row.keepsResponses === true;

  async function seal(value: unknown, member: string, { id, owner }: { id: string; owner: string }) {
    if (value === null) return null;
    return sealer.seal(encoder.encode(JSON.stringify(value)), ["responses", member, id, owner]);
  }

  async function open<T>(
    record: ResponseRecord,
    member: "input" | "body",
    allowance: ReadAllowance | null = null,
  ): Promise<T | null> {
    const { id, owner, [member]: bytes } = record;
    if (bytes === null) return null;
    try {
      const context = ["responses", member, id, owner];
      const content = await sealer.open(bytes, context, allowance?.bytes ?? maxResponseBytes);
      if (allowance !== null) allowance.bytes -= content.length;
      return JSON.parse(decoder.decode(content)) as T;
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      if (error.reason === "too_large" && allowance !== null) throw allowance.toError();
      log.error("A stored response cannot be decrypted", { response: id, reason: error.reason });
      return null;
    }
  }

  /** The items of a response and of all turns before it; "broken" if a turn is missing. */
  async function readItems(id: string, owner: string): Promise<readonly JsonObject[] | "broken"> {
    const chain = await store.chain(id, owner, maxTurns);
    if (chain === "too_long") throw tooLong();
    if (chain === null) return "broken";
    const allowance = { bytes: maxReadBytes, toError: tooLong };
    const items: (readonly JsonObject[])[] = [];
    for (const turn of chain) {
      const input = await open<readonly JsonObject[]>(turn, "input", allowance);
      const response = await open<JsonObject>(turn, "body", allowance);
      if (input === null || response === null) return "broken";
      items.push(input, (response["output"] ?? []) as readonly JsonObject[]);
    }
    const conversation = items.flat();
    // The items are measured only if they can be too long.
    const readBytes = maxReadBytes - allowance.bytes;
    if (readBytes > maxItemBytes && JSON.stringify(conversation).length > maxItemBytes) throw tooLong();
    return conversation;
  }

  async function create(
    { response, input, isBackground = false, ...known }: NewResponse,
    createdAt: number,
  ): Promise<void> {
    const mustSeal = input !== null;
    await store.create({
      ...known,
      status: isBackground ? backgroundStatus : statusOf(response),
      createdAt,
      expiresAt: createdAt + lifetimeMs,
      body: mustSeal ? await seal(response, "body", known) : null,
      input: mustSeal ? await seal(input.map(toStoredItem), "input", known) : null,
    });
  }

  /** Stores the end of a stored response. The first end counts. Its content is stored only if the gateway stored its beginning. */
  async function complete({ id, owner }: Key, response: JsonObject, hasContent: boolean): Promise<void> {
    const status = statusOf(response);
    const changes = hasContent ? { status, body: await seal(response, "body", { id, owner }) } : { status };
    await store.update(id, owner, changes);
  }

  /** The same for a response that ran in the background. */
  async function completeBackground(record: ResponseRecord, response: JsonObject): Promise<void> {
    await complete(record, response, record.body !== null);
  }

  function warnOfLostEnd(response: string, error: unknown): void {
    log.warn("The end of a response could not be stored", { response, error });
  }

  return {
    storesAll,
    storesFor,
    issue: (owner: string, isStored: boolean) => ids.issue(owner, isStored ? "stored" : "not-stored"),
    isOwnUnstored: ids.isOwnUnstored,
    store(response: NewResponse): PendingResponse {
      const createdAt = Date.now();
      const stored = create(response, createdAt);
      // The caller of `store` awaits it as well; without this handler, a rejection could be unhandled.
      stored.catch(() => {});
      const finish = (last: JsonObject) => stored.then(() => complete(response, last, response.input !== null));
      return {
        createdAt,
        stored,
        complete: finish,
        noteEnd(last) {
          finish(last).catch((error) => warnOfLostEnd(response.id, error));
        },
      };
    },
    completeBackground,
    /** Without waiting for the outcome. If it fails, the next lookup sees the end and reports the same line, which counts once. */
    noteBackgroundEnd(record: ResponseRecord, response: JsonObject): void {
      completeBackground(record, response).catch((error) => warnOfLostEnd(record.id, error));
    },
    async find(id: string, owner: string): Promise<ResponseRecord | null> {
      const found = await store.find(id, owner);
      // The operator has disabled storing since then, so the response is treated as unknown.
      return found !== null && found.providerResponseId === null && !storesFor(found.provider) ? null : found;
    },
    remove: (id: string, owner: string) => store.delete(id, owner),
    /** Null when the gateway does not store the content. */
    readResponse: (record: ResponseRecord, allowance?: ReadAllowance) => open<JsonObject>(record, "body", allowance),
    /** All items up to and including this response; null when the gateway stores no conversations of its provider. */
    async readConversation(record: ResponseRecord): Promise<Conversation | null> {
      if (!storesFor(record.provider)) return null;
      // A broken or running response is incomplete.
      if (!finished.has(record.status)) return "unfinished";
      return readItems(record.id, record.owner);
    },
    /** The input that this response answers. */
    async readInput(record: ResponseRecord): Promise<readonly JsonObject[]> {
      const { previousId, owner } = record;
      const earlier = previousId === null ? [] : await readItems(previousId, owner);
      const own = (await open<readonly JsonObject[]>(record, "input")) ?? [];
      return earlier === "broken" ? own : [...earlier, ...own];
    },
    findDeployment(name: string, deploymentName: string): { provider: Provider; deployment: Deployment } | null {
      const provider = findProvider(providers, name);
      if (provider === undefined) return null;
      // The response may have been stored under another name of the provider.
      const currentName = `${provider.name}${deploymentName.slice(name.length)}`;
      const deployment = provider.deployments.find((one) => one.name === currentName);
      return deployment === undefined ? null : { provider, deployment };
    },
  };
}

function tooLong(): GatewayError {
  const limits = `${maxTurns} turns, ${maxItemBytes} bytes of items or ${maxReadBytes} bytes with instructions and tools`;
  const message = `The conversation has more than ${limits}, so it can neither be continued nor listed.`;
  return new GatewayError("previous_response_not_found", message, { param: "previous_response_id" });
}

function statusOf(response: JsonObject): string {
  if (isCancelled(response)) return "cancelled";
  return typeof response["status"] === "string" ? response["status"] : "in_progress";
}

const idPrefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  reasoning: "rs",
};

const callsAndResults = /_(?:call|output)$/;

/** The item as it is listed later: with an id, a type and a status, and with the content of a message in parts. */
function toStoredItem(item: JsonObject): JsonObject {
  const type = typeof item["type"] === "string" ? item["type"] : "message";
  const id = typeof item["id"] === "string" ? item["id"] : createId(lookUp(idPrefixes, type) ?? "item");
  if (type !== "message")
    return { ...item, id, ...(callsAndResults.test(type) && { status: item["status"] ?? "completed" }) };
  const { role, content } = item;
  const partType = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type: partType, text: content }] : content;
  return completeItem({ ...item, id, type, content: parts }) as JsonObject;
}
