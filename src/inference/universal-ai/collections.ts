// Collections of faces: the operations of the API, and the deletion of collections whose keys are all revoked.

import { type Caller, ownerOf } from "../../access/caller.ts";
import type { CreateCollectionRequest } from "../../contract/collections.ts";
import { findTask } from "../../contract/tasks.ts";
import type { Engine, TaskCall } from "../../engines/engine.ts";
import { collectionNotFound, faceTask } from "../../engines/face-collections.ts";
import { GatewayError, messageOf, ValidationError } from "../../errors.ts";
import { freeCharge } from "../../lib/charge.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { suggest } from "../../lib/find-nearest.ts";
import { retryWhile } from "../../lib/retry-while.ts";
import { dayMs } from "../../lib/time-units.ts";
import type { Log } from "../../log.ts";
import { CallerLeft, type Connection } from "../../providers/call.ts";
import { Trace } from "../trace.ts";
import { accountRun, type RunAccounting, type RunTicket } from "./account-run.ts";
import { refuseUnavailable } from "./run-offer.ts";
import { chargeForTask } from "./unit-price.ts";
import type { UniversalAi } from "./universal-ai.ts";

/** Times are epoch milliseconds. The store of `storage/` fits these interfaces. */
export interface CollectionRecord {
  readonly id: string;
  readonly owner: string;
  readonly provider: string;
  readonly name: string;
  readonly faceCount: number;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

interface ListedFace {
  readonly id: string;
  readonly createdAt: number;
}

interface FaceRecord extends ListedFace {
  readonly collectionId: string;
  readonly vector: Uint8Array | null;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface CollectionRows {
  create(collection: CollectionRecord, maxPerOwner: number): Promise<boolean>;
  find(id: string, owner: string): Promise<CollectionRecord | null>;
  list(filter: Page & { readonly owner: string }): Promise<{ total: number; items: CollectionRecord[] }>;
  delete(id: string, owner: string): Promise<boolean>;
  addFaces(id: string, faces: readonly FaceRecord[], maxFaces: number): Promise<boolean>;
  listFaces(filter: Page & { readonly collectionId: string }): Promise<{ total: number; items: ListedFace[] }>;
  hasFace(collectionId: string, id: string): Promise<boolean>;
  deleteFace(collectionId: string, id: string): Promise<boolean>;
  listAbandoned(now: number, limit: number, after: CollectionRecord | null): Promise<CollectionRecord[]>;
}

export interface CollectionsOptions extends RunAccounting {
  readonly rows: CollectionRows;
  readonly universalAi: Pick<UniversalAi, "engines" | "openFiles">;
  readonly totalTimeoutMs: number;
  readonly shutdownSignal: AbortSignal;
  readonly log: Log;
}

/** The caller of an operation and its connection. */
interface OperationContext {
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  /** Default: the time limit of a request. */
  readonly timeoutMs?: number;
}

type CollectionEngine = Engine & Required<Pick<Engine, "collections">>;

export type Collections = ReturnType<typeof createCollections>;

/** A face of the local engine takes four kilobytes, and a search reads all of a collection: 20 MB. */
const limits = { collectionsPerOwner: 100, facesPerCollection: 5_000 };
/** The caller waits meanwhile. */
const unstoredFaces = { retryMs: 10_000, deletionMs: 10_000 };
/** A provider that answers no deletion must not be called for every one of its collections in each sweep. */
const sweeping = { collectionsPerPage: 20, maxFailures: 100, timeoutMs: 30_000 };

export function createCollections(options: CollectionsOptions) {
  const { rows, universalAi, totalTimeoutMs, shutdownSignal, log, callLimits, checkLedger, report } = options;
  const task = findTask(faceTask);
  const engines = universalAi.engines.filter((engine) => engine.task === faceTask && engine.collections !== undefined);
  /** Null: the next sweep begins with the oldest collection. */
  let lastSwept: CollectionRecord | null = null;

  function findEngine(provider: string): Engine | undefined {
    return engines.find((engine) => engine.provider === provider || engine.aliases?.includes(provider));
  }

  /** Sandbox keys call no provider: their collections belong to the sandbox, whatever provider they name. */
  function chooseEngine(provider: string, caller: Caller): Engine {
    const engine = caller.kind === "sandbox" ? engines.find(({ isSandbox }) => isSandbox) : findEngine(provider);
    if (engine !== undefined) return engine;
    const names = engines.map((one) => one.provider);
    const msg = `No provider '${provider}' has collections here${suggest(provider, names) || `: ${names.join(", ")}`}`;
    throw new ValidationError([{ loc: ["body", "provider"], msg, type: "value_error" }]);
  }

  async function requireCollection(id: string, owner: string): Promise<CollectionRecord> {
    const found = await rows.find(id.toLowerCase(), owner);
    if (found === null) throw collectionNotFound();
    return found;
  }

  /** A collection of a provider that is no longer configured can be read, but not changed. */
  function engineOf(collection: CollectionRecord): CollectionEngine {
    const engine = storeOf(collection);
    refuseUnavailable(engine);
    return engine;
  }

  /** For deletions, which need no engine where the gateway itself stores the faces. */
  function storeOf({ provider }: CollectionRecord): CollectionEngine {
    const engine = findEngine(provider);
    if (engine?.collections === undefined)
      throw new GatewayError("provider_not_configured", `The provider '${provider}' is no longer configured.`);
    if (engine.hasStoredCollections !== true) refuseUnavailable(engine);
    return { ...engine, collections: engine.collections };
  }

  /** Runs an operation with the time limit of a request, until the caller leaves. It is free unless it sets a charge. */
  async function withCall<Result>(
    { caller, connection, requestId, trace, timeoutMs = totalTimeoutMs }: OperationContext,
    { id, provider, owner }: CollectionRecord,
    operate: (call: TaskCall & { readonly ticket: RunTicket }) => Promise<Result>,
  ): Promise<Result> {
    using limit = startDeadline({
      timeoutMs,
      signals: [connection.signal, shutdownSignal],
      reason(fired) {
        if (fired === null) return new GatewayError("provider_timeout", "The provider did not finish in time.");
        if (fired === connection.signal) return new CallerLeft();
        return new GatewayError("draining", "The gateway shut down before the work was done.");
      },
    });
    const call = {
      model: null,
      input: { collection_id: id },
      files: {},
      providerParams: {},
      signal: limit.signal,
      deadline: performance.now() + timeoutMs,
      requestId,
      owner,
    };
    const account = {
      ...{ callLimits, checkLedger, report, caller, trace, requestId, provider, task: faceTask, signal: limit.signal },
      ...{ model: null, deployment: null, jobId: null, reportsCalls: false, input: call.input },
    };
    try {
      return await accountRun(account, async (ticket) => {
        const result = await operate({ ...call, ticket });
        // The gateway itself manages the collections of a local engine.
        if (ticket.charge === null && !ticket.isUsed) ticket.isPending = true;
        ticket.charge ??= freeCharge;
        return result;
      });
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : error;
    }
  }

  async function create(context: OperationContext, request: CreateCollectionRequest): Promise<CollectionRecord> {
    const engine = chooseEngine(request.provider, context.caller);
    const owner = ownerOf(context.caller);
    const createdAt = Date.now();
    const { expires_in_days: days } = request;
    const collection: CollectionRecord = {
      id: crypto.randomUUID(),
      owner,
      provider: engine.provider,
      name: request.name,
      faceCount: 0,
      createdAt,
      expiresAt: days ? createdAt + days * dayMs : null,
    };
    const { collections } = engineOf(collection);
    // The row comes first: a collection without a row could never be found and deleted at the provider.
    if (!(await rows.create(collection, limits.collectionsPerOwner)))
      throw full(`You have ${limits.collectionsPerOwner} collections, which is the limit: delete one`, ["body"]);
    try {
      await withCall(context, collection, (call) => collections.create(call));
    } catch (error) {
      await rows.delete(collection.id, owner);
      throw error;
    }
    return collection;
  }

  async function addFaces(context: OperationContext, id: string, file: string) {
    const owner = ownerOf(context.caller);
    const collection = await requireCollection(id, owner);
    const engine = engineOf(collection);
    refuseFull(collection.faceCount + 1);
    return await withCall(context, collection, async (call) => {
      const timeoutMs = Math.max(1, call.deadline - performance.now());
      const plan = { task, input: { file }, offers: [{ engine, model: null }] };
      const result = await atOwnMembers(async () => {
        using opened = await universalAi.openFiles(plan, { caller: context.caller, signal: call.signal, timeoutMs });
        return await engine.collections.addFaces({ ...call, files: opened.files });
      });
      const charge = chargeForTask(task, engine.provider, null, result as never);
      call.ticket.charge = charge;
      const faces = (result.output.faces ?? []).map((face) => ({
        ...face,
        face_id: face.face_id ?? crypto.randomUUID(),
      }));
      const createdAt = Date.now();
      const records = faces.map(({ face_id, vector }) => ({
        collectionId: collection.id,
        id: face_id,
        createdAt,
        vector: vector === undefined ? null : new Uint8Array(Buffer.from(vector, "base64")),
      }));
      if (faces.length === 0) throw noFace();
      if (!(await storeFaces(engine, call, records))) {
        await requireCollection(collection.id, owner);
        refuseFull(Number.POSITIVE_INFINITY);
      }
      return { faces: faces.map(({ vector: _, ...face }) => face), cost: charge.cost };
    });
  }

  /** The provider has added the faces. If they cannot be stored here, they are deleted at the provider: callers could neither list nor delete them. */
  async function storeFaces(engine: CollectionEngine, call: TaskCall, faces: readonly FaceRecord[]): Promise<boolean> {
    const collectionId = String(call.input["collection_id"]);
    const write = () => rows.addFaces(collectionId, faces, limits.facesPerCollection);
    try {
      if (await retryWhile(write, { isPassing: isStoreDown, giveUpAfterMs: unstoredFaces.retryMs })) return true;
    } catch (error) {
      await deleteUnstored(engine, call, faces);
      throw error;
    }
    await deleteUnstored(engine, call, faces);
    return false;
  }

  async function deleteUnstored(
    { provider, collections }: CollectionEngine,
    call: TaskCall,
    faces: readonly FaceRecord[],
  ): Promise<void> {
    const { input, requestId } = withFaces(call, faces);
    // The caller may have left, so this has a time limit of its own.
    const limit = { signal: new AbortController().signal, deadline: performance.now() + unstoredFaces.deletionMs };
    try {
      await collections.deleteFaces({ ...call, ...limit, input });
    } catch (cause) {
      const code = cause instanceof GatewayError ? cause.code : "internal_error";
      log.error("faces that are not stored here could not be deleted at their provider", {
        ...input,
        provider,
        requestId,
        error: messageOf(cause),
      });
      const message = `The faces could neither be stored nor be deleted at the provider '${provider}' again.`;
      // A repeated request would add the same faces once more.
      throw new GatewayError(code, message, { shouldRetry: false, cause });
    }
  }

  async function deleteFace(context: OperationContext, id: string, faceId: string): Promise<void> {
    const owner = ownerOf(context.caller);
    const collection = await requireCollection(id, owner);
    if (!(await rows.hasFace(collection.id, faceId))) throw faceNotFound();
    const { collections } = storeOf(collection);
    // Delete at the provider first: without the row, a later call could not find the face to delete it there.
    await withCall(context, collection, (call) => collections.deleteFaces(withFaces(call, [{ id: faceId }])));
    await rows.deleteFace(collection.id, faceId);
  }

  async function remove(context: OperationContext, id: string): Promise<void> {
    const collection = await requireCollection(id, ownerOf(context.caller));
    await deleteEverywhere(context, collection);
  }

  async function deleteEverywhere(context: OperationContext, collection: CollectionRecord): Promise<void> {
    const { collections } = storeOf(collection);
    await withCall(context, collection, (call) => collections.delete(call));
    await rows.delete(collection.id, collection.owner);
  }

  /**
   * Deletes expired collections, and those whose keys are revoked. One that its provider does not delete is tried again in a later sweep. A
   * sweep continues where the one before it stopped, so collections that cannot be deleted do not keep others from being deleted.
   */
  async function sweep(): Promise<void> {
    const { collectionsPerPage, maxFailures } = sweeping;
    const unusable = new Set<string>();
    let failures = 0;
    let page: CollectionRecord[];
    do {
      page = await rows.listAbandoned(Date.now(), collectionsPerPage, lastSwept);
      for (const collection of page) {
        if (shutdownSignal.aborted || failures >= maxFailures) return;
        lastSwept = collection;
        const outcome = await sweepOne(collection);
        if (outcome === "failed") failures++;
        if (outcome === "unusable") unusable.add(collection.provider);
      }
    } while (page.length === collectionsPerPage);
    lastSwept = null;
    if (unusable.size > 0)
      log.warn("collections of faces are kept until their provider is configured again", { providers: [...unusable] });
  }

  async function sweepOne(collection: CollectionRecord): Promise<"deleted" | "unusable" | "failed"> {
    const { id, provider } = collection;
    const trace = new Trace(performance.now(), 0);
    trace.path = "/v3/collections";
    const context = {
      ...{ caller: sweeper, connection: { signal: new AbortController().signal }, requestId: `sweep-${id}`, trace },
      timeoutMs: Math.min(totalTimeoutMs, sweeping.timeoutMs),
    };
    try {
      await deleteEverywhere(context, collection);
      return "deleted";
    } catch (error) {
      if (error instanceof GatewayError && error.code === "provider_not_configured") return "unusable";
      log.warn("a collection of faces could not be deleted", { collection: id, provider, error: messageOf(error) });
      return "failed";
    }
  }

  return {
    create,
    list: rows.list,
    find: requireCollection,
    remove,
    addFaces,
    async listFaces(id: string, owner: string, page: Page) {
      const collection = await requireCollection(id, owner);
      return await rows.listFaces({ collectionId: collection.id, ...page });
    },
    deleteFace,
    sweep,
  };
}

/** The keys of an abandoned collection are revoked, so the gateway itself deletes it. */
const sweeper: Caller = {
  ...{ keyId: "gateway", kind: "inference", name: "gateway", owner: null, team: null, scopes: new Set(), tags: {} },
  ...{ allowedModels: null, rateLimit: null, budget: null, role: null, rules: [] },
};

/** Reports problems of a task's input at the members of this request: `input.file` is `file`. */
async function atOwnMembers<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const [first, ...others] = error.problems;
    const move = (problem: typeof first) => ({ ...problem, loc: ["body", ...problem.loc.slice(2)] });
    throw new ValidationError([move(first), ...others.map(move)]);
  }
}

function withFaces(call: TaskCall, faces: readonly Pick<FaceRecord, "id">[]): TaskCall {
  return { ...call, input: { ...call.input, face_ids: faces.map(({ id }) => id) } };
}

function refuseFull(count: number): void {
  if (count <= limits.facesPerCollection) return;
  throw full(`A collection has at most ${limits.facesPerCollection} faces: delete some`, ["body", "file"]);
}

function full(msg: string, loc: readonly string[]): ValidationError {
  return new ValidationError([{ loc, msg, type: "too_long" }]);
}

function noFace(): ValidationError {
  const msg = "No face was found in this picture.";
  return new ValidationError([{ loc: ["body", "file"], msg, type: "value_error" }]);
}

function isStoreDown(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "dependency_unavailable";
}

function faceNotFound(): GatewayError {
  return new GatewayError("face_not_found", "The collection has no such face.", { param: "face_id" });
}
