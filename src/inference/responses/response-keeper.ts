// What is kept of responses: always who owns an id and where it leads; and, when the operator wants the gateway to keep
// conversations itself, what was said, sealed.

import { GatewayError } from "../../errors.ts";
import type { ResponseIds } from "../../lib/response-id.ts";
import { SealError, type Sealer } from "../../lib/seal.ts";
import type { Log } from "../../log.ts";
import type { Deployment, Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { ResponseRecord } from "../../storage/responses.ts";
import type { ResponseStore } from "../../storage/stores.ts";

export type KeptResponse = ResponseRecord;

export interface ToKeep {
  readonly id: string;
  readonly owner: string;
  readonly keyId: string;
  readonly provider: string;
  readonly deployment: string;
  readonly providerResponseId: string | null;
  readonly model: string;
  readonly previousId: string | null;
  readonly depth: number;
  /** Null while it is not complete, or when the provider alone keeps it. */
  readonly response: JsonObject | null;
  readonly input: readonly JsonObject[] | null;
}

export interface ResponseKeeper {
  /** Whether the gateway keeps conversations itself, for every provider. */
  readonly keepsAll: boolean;
  issue(owner: string, isKept: boolean): string;
  isOwnUnstored(id: string, owner: string): boolean;
  keep(response: ToKeep): Promise<void>;
  /** Of a stream, when it has ended. */
  complete(id: string, owner: string, response: JsonObject): Promise<void>;
  find(id: string, owner: string): Promise<KeptResponse | null>;
  remove(id: string, owner: string): Promise<boolean>;
  /** Null when the gateway has not kept it itself. */
  readResponse(kept: KeptResponse): Promise<JsonObject | null>;
  /** Everything that was said up to and with this response; null when the gateway has not kept all of it. */
  readConversation(kept: KeptResponse): Promise<readonly JsonObject[] | null>;
  /** What this response was an answer to. */
  readInput(kept: KeptResponse): Promise<readonly JsonObject[]>;
  findPlace(provider: string, deployment: string): { provider: Provider; deployment: Deployment } | null;
}

export interface KeeperOptions {
  readonly store: ResponseStore;
  readonly ids: ResponseIds;
  /** Null: the gateway keeps no conversations itself. */
  readonly sealer: Sealer | null;
  readonly lifetimeMs: number;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly log: Log;
}

const mostTurns = 1_000;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

export function createResponseKeeper(options: KeeperOptions): ResponseKeeper {
  const { store, ids, sealer, lifetimeMs, providers, log } = options;

  async function seal(value: unknown, what: string, { id, owner }: { id: string; owner: string }) {
    if (sealer === null || value === null) return null;
    return sealer.seal(encoder.encode(JSON.stringify(value)), ["responses", what, id, owner]);
  }

  async function open<T>(bytes: Uint8Array | null, what: string, { id, owner }: KeptResponse): Promise<T | null> {
    if (sealer === null || bytes === null) return null;
    try {
      return JSON.parse(decoder.decode(await sealer.open(bytes, ["responses", what, id, owner]))) as T;
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      log.error("a kept response cannot be opened", { response: id, reason: error.reason });
      return null;
    }
  }

  async function readTurns(
    kept: KeptResponse,
  ): Promise<{ input: readonly JsonObject[]; output: readonly JsonObject[] }[] | null> {
    if (sealer === null) return null;
    const chain = await store.chain(kept.id, kept.owner, mostTurns);
    if (chain === "too_long")
      throw new GatewayError("previous_response_not_found", "The conversation is too long to go on from.", {
        param: "previous_response_id",
      });
    const turns: { input: readonly JsonObject[]; output: readonly JsonObject[] }[] = [];
    for (const turn of chain ?? []) {
      const input = await open<readonly JsonObject[]>(turn.input, "input", turn);
      const response = await open<JsonObject>(turn.body, "body", turn);
      if (input === null || response === null) return null;
      turns.push({ input, output: (response["output"] ?? []) as readonly JsonObject[] });
    }
    return turns.length === 0 ? null : turns;
  }

  return {
    keepsAll: sealer !== null,
    issue: (owner, isKept) => ids.issue(owner, isKept ? "stored" : "not-stored"),
    isOwnUnstored: ids.isOwnUnstored,
    async keep({ response, input, ...known }) {
      const now = Date.now();
      await store.create({
        ...known,
        status: typeof response?.["status"] === "string" ? response["status"] : "in_progress",
        createdAt: now,
        expiresAt: now + lifetimeMs,
        body: await seal(response, "body", known),
        input: await seal(input, "input", known),
      });
    },
    async complete(id, owner, response) {
      const status = typeof response["status"] === "string" ? response["status"] : "completed";
      await store.update(id, owner, { status, body: await seal(response, "body", { id, owner }) });
    },
    find: (id, owner) => store.find(id, owner),
    remove: (id, owner) => store.delete(id, owner),
    readResponse: (kept) => open<JsonObject>(kept.body, "body", kept),
    async readConversation(kept) {
      const turns = await readTurns(kept);
      return turns === null ? null : turns.flatMap(({ input, output }) => [...input, ...output]);
    },
    async readInput(kept) {
      const turns = await readTurns(kept);
      const own = turns?.at(-1);
      if (!turns || own === undefined) return [];
      return [...turns.slice(0, -1).flatMap(({ input, output }) => [...input, ...output]), ...own.input];
    },
    findPlace(name, deploymentName) {
      const provider = providers.get(name);
      const deployment = provider?.deployments.find((one) => one.name === deploymentName);
      return provider === undefined || deployment === undefined ? null : { provider, deployment };
    },
  };
}
