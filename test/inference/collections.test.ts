// Collections of faces over HTTP: those of a vendor on this machine that behaves like Amazon Rekognition, and those of the sandbox. The form of the
// vendor's answers is documented; its values are invented.

import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import type { Caller } from "../../src/access/caller.ts";
import { readConfig } from "../../src/config.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { Trace } from "../../src/inference/trace.ts";
import { type CollectionRows, createCollections } from "../../src/inference/universal-ai/collections.ts";
import { createLog } from "../../src/log.ts";
import { createServices } from "../../src/services.ts";
import type { CollectionRecord } from "../../src/storage/collections.ts";
import { databaseFile } from "../../src/storage/data-dir.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { answer } from "../support/answers.ts";
import { ask, readError } from "../support/chat.ts";
import { away } from "../support/job-runs.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor, type VendorRequest } from "../support/vendor.ts";

const path = "/v3/universal-ai/collections";
const nowhere = "00000000-0000-4000-8000-000000000000";

const vendor = await startVendor(rekognition);
const amazonSettings = {
  AMAZON_BASE_URL: `http://127.0.0.1:${vendor.port}`,
  AWS_ACCESS_KEY_ID: "AKID",
  AWS_SECRET_ACCESS_KEY: "aws-secret-0123456789",
  AWS_REGION: "eu-west-1",
  SWITCHYARD_EGRESS_ALLOW: "127.0.0.1/32",
};
const gateway = await sharedGateway({ vendor, env: amazonSettings });
const quiet = createLog({ level: "error", format: "json", secrets: [], write: () => undefined });
const key = await gateway.createKey();

/** The faces that the vendor stores, by collection. */
const stored = new Map<string, Set<string>>();
/** Collections that the vendor does not delete. */
const undeletable = new Set<string>();
let lastFace = 0;

beforeEach(() => vendor.clear());

function rekognition({ method, path: at, headers, body }: VendorRequest) {
  if (method === "GET" && at === "/portrait.jpg")
    return answer(200, Buffer.from("ffd8ffe000104a46494600010100000100010000", "hex"), {
      "content-type": "image/jpeg",
    });
  const operation = String(headers["x-amz-target"]).split(".")[1];
  const { CollectionId, FaceIds = [] } = JSON.parse(body.toString()) as { CollectionId: string; FaceIds?: string[] };
  const faces = stored.get(CollectionId);
  if (operation === "CreateCollection") {
    stored.set(CollectionId, new Set());
    return answer(200, { StatusCode: 200, FaceModelVersion: "7.0" });
  }
  if (operation === "DeleteCollection" && undeletable.has(CollectionId))
    return answer(400, { __type: "InternalServerError", Message: "no" });
  if (faces === undefined)
    return answer(400, { __type: "ResourceNotFoundException", Message: "The collection id does not exist" });
  switch (operation) {
    case "IndexFaces": {
      const FaceId = `face-${++lastFace}`;
      faces.add(FaceId);
      const BoundingBox = { Left: 0.1, Top: 0.2, Width: 0.3, Height: 0.4 };
      return answer(200, { FaceRecords: [{ Face: { FaceId, Confidence: 99.5, BoundingBox } }] });
    }
    case "SearchFacesByImage":
      return answer(200, { FaceMatches: [...faces].map((FaceId) => ({ Similarity: 97.5, Face: { FaceId } })) });
    case "DeleteFaces":
      for (const id of FaceIds) faces.delete(id);
      return answer(200, { DeletedFaces: FaceIds });
    case "DeleteCollection":
      stored.delete(CollectionId);
      return answer(200, { StatusCode: 200 });
    default:
      return answer(400, { __type: "InvalidAction" });
  }
}

async function send(method: string, at: string, body?: unknown, as = key) {
  const response = await fetch(`${gateway.url}${at}`, {
    method,
    headers: { authorization: `Bearer ${as}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, never> & { code?: string } };
}

async function create(provider = "amazon", as = key): Promise<string> {
  const { status, json } = await send("POST", path, { provider, name: "Staff" }, as);
  expect(status).toBe(200);
  return json["collection_id"] as unknown as string;
}

const portrait = { file: `http://127.0.0.1:${vendor.port}/portrait.jpg` };

function recognise(collection_id: string, model = "image/face_recognition/amazon", as = key) {
  return ask(gateway.url, as, { model, input: { collection_id, ...portrait } }, { path: "/v3/universal-ai" });
}

interface Changes {
  readonly changeEngine?: (engine: Engine) => Engine;
  readonly changeRows?: (rows: CollectionRows) => CollectionRows;
}

/** The collections of the gateway's store, without a server around them. */
async function openCollections({ changeEngine = (engine) => engine, changeRows = (rows) => rows }: Changes = {}) {
  const config = readConfig({ ...amazonSettings, SWITCHYARD_DATA_DIR: gateway.dataFolder });
  const services = await createServices(config, quiet, { works: false });
  const { storage, universalAi, shutdown, calling } = services;
  const { openFiles, engines } = universalAi;
  const changed = { openFiles, engines: engines.map(changeEngine) };
  const options = {
    ...calling,
    universalAi: changed,
    totalTimeoutMs: 60_000,
    shutdownSignal: shutdown.signal,
    log: quiet,
  };
  return {
    storage,
    ...createCollections({ ...options, rows: changeRows(storage.collections) }),
    async [Symbol.asyncDispose]() {
      await services.close();
      await storage.close();
    },
  };
}

describe("a collection", () => {
  test("is created, filled, searched, listed, emptied and deleted", async () => {
    const id = await create();
    expect(stored.has(`switchyard-${id}`)).toBe(true);
    const added = await send("POST", `${path}/${id}/faces`, portrait);
    expect(added).toMatchObject({
      status: 200,
      json: {
        faces: [
          { face_id: "face-1", confidence: 0.995, bounding_box: { left: 0.1, top: 0.2, width: 0.3, height: 0.4 } },
        ],
        cost: 0.001,
      },
    });
    const found = await recognise(id);
    expect(((await found.json()) as { output: unknown }).output).toEqual({
      items: [{ confidence: 0.975, face_id: "face-1" }],
    });
    expect((await send("GET", `${path}/${id}`)).json).toMatchObject({
      name: "Staff",
      provider: "amazon",
      face_count: 1,
    });
    expect((await send("GET", `${path}/${id}/faces`)).json).toMatchObject({ items: [{ face_id: "face-1" }], total: 1 });
    expect((await send("DELETE", `${path}/${id}/faces/face-1`)).json).toEqual({ deleted: true } as never);
    expect(stored.get(`switchyard-${id}`)?.size).toBe(0);
    expect((await send("DELETE", `${path}/${id}/faces/face-1`)).status).toBe(404);
    expect((await send("DELETE", `${path}/${id}`)).status).toBe(200);
    expect(stored.has(`switchyard-${id}`)).toBe(false);
    expect((await send("GET", `${path}/${id}`)).status).toBe(404);
    expect((await readError(await recognise(id))).code).toBe("collection_not_found");
  });

  test("belongs to its key: another key neither sees nor searches it", async () => {
    const id = await create();
    const other = await gateway.createKey();
    for (const [method, at] of [
      ["GET", `${path}/${id}`],
      ["DELETE", `${path}/${id}`],
      ["GET", `${path}/${id}/faces`],
      ["DELETE", `${path}/${id}/faces/x`],
    ] as const)
      expect((await send(method, at, undefined, other)).status).toBe(404);
    expect((await send("POST", `${path}/${id}/faces`, portrait, other)).status).toBe(404);
    expect((await send("GET", path, undefined, other)).json).toMatchObject({ total: 0 });
    expect((await readError(await recognise(id, undefined, other))).code).toBe("collection_not_found");
    expect((await send("GET", `${path}/${id}`)).status).toBe(200);
  });

  test("is searched by its own provider only, and allows no fallbacks", async () => {
    const id = await create("sandbox");
    const refused = await recognise(id);
    expect(refused.status).toBe(422);
    expect(JSON.stringify(await refused.json())).toContain("image/face_recognition/sandbox");
  });

  test("that the vendor has lost can still be deleted", async () => {
    const id = await create();
    stored.clear();
    const lost = await send("POST", `${path}/${id}/faces`, portrait);
    expect(lost.status).toBe(400);
    expect((await send("DELETE", `${path}/${id}`)).status).toBe(200);
  });

  test("that the vendor refuses to create is not stored", async () => {
    const before = (await send("GET", path)).json["total"];
    vendor.next(answer(400, { __type: "AccessDeniedException", Message: "no" }));
    const refused = await send("POST", path, { provider: "amazon" });
    expect(refused.status).toBe(502);
    expect((await send("GET", path)).json["total"]).toBe(before as never);
  });

  test("problems of a request are reported at its members", async () => {
    const unknown = await send("POST", path, { provider: "amazn" });
    expect(unknown).toMatchObject({ status: 422, json: { detail: [{ loc: ["body", "provider"] }] } });
    expect(JSON.stringify(unknown.json)).toContain("amazon");
    const id = await create();
    const missing = await send("POST", `${path}/${id}/faces`, { file: nowhere });
    expect(missing).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ["body", "file"], type: "file_not_found" }] },
    });
    expect((await send("GET", `${path}/${nowhere}`)).status).toBe(404);
    expect((await send("GET", `${path}/no-uuid`)).status).toBe(422);
    expect((await send("POST", path, { provider: "amazon", expires_in_days: 0 })).status).toBe(422);
  });
});

describe("faces that the vendor has added", () => {
  /** The store refuses faces while `work` runs. */
  async function withoutFaces<Result>(work: () => Promise<Result>): Promise<Result> {
    const database = new Database(databaseFile(gateway.dataFolder));
    database.run("pragma busy_timeout = 60000");
    database.run("alter table collection_faces rename to hidden_faces");
    try {
      return await work();
    } finally {
      database.run("alter table hidden_faces rename to collection_faces");
      database.close();
    }
  }

  function callerOf(keyId: string): Caller {
    return {
      ...{ keyId, kind: "inference", name: "adds", owner: null, team: null, scopes: new Set(), tags: {} },
      ...{ allowedModels: null, rateLimit: null, budget: null, role: null, rules: [] },
    };
  }

  for (const window of ["before", "after"] as const) {
    const how = window === "before" ? "nothing is written" : "what is written is not confirmed";

    test(`are stored once the store is back (${how})`, async () => {
      const created = (await gateway.manage("POST", "/keys", { name: "adds" })) as { id: string; key: string };
      const id = await create("amazon", created.key);
      const outages = { left: 2 };
      await using opened = await openCollections({
        changeRows: (rows) => ({
          ...rows,
          async addFaces(...args) {
            if (outages.left === 0) return await rows.addFaces(...args);
            outages.left--;
            if (window === "after") await rows.addFaces(...args);
            throw away();
          },
        }),
      });
      const connection = { signal: new AbortController().signal };
      const context = { caller: callerOf(created.id), connection, requestId: "req_1", trace: new Trace(0, 0) };
      const added = await opened.addFaces(context, id, portrait.file);
      expect(outages.left).toBe(0);
      const faces = added.faces.map(({ face_id }) => face_id);
      expect([...(stored.get(`switchyard-${id}`) ?? [])]).toEqual(faces);
      const read = (at: string) => send("GET", at, undefined, created.key);
      expect((await read(`${path}/${id}`)).json).toMatchObject({ face_count: 1 });
      expect((await read(`${path}/${id}/faces`)).json).toMatchObject({ total: 1 });
    });
  }

  test("are deleted there if they cannot be stored", async () => {
    const id = await create();
    const failed = await withoutFaces(() => send("POST", `${path}/${id}/faces`, portrait));
    expect(failed.status).toBe(500);
    expect(stored.get(`switchyard-${id}`)?.size).toBe(0);
    expect(vendor.last().headers["x-amz-target"]).toEndWith("DeleteFaces");
    expect((await send("GET", `${path}/${id}`)).json).toMatchObject({ face_count: 0 });
  });

  test("and does not delete when they cannot be stored are not added again by a client's retry", async () => {
    const id = await create();
    vendor.next(rekognition);
    vendor.next(rekognition);
    vendor.next(answer(500, { __type: "InternalServerError" }));
    const failed = await withoutFaces(() =>
      fetch(`${gateway.url}${path}/${id}/faces`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(portrait),
      }),
    );
    expect(failed.status).toBe(502);
    expect(failed.headers.get("x-should-retry")).toBe("false");
    const [face = ""] = stored.get(`switchyard-${id}`) ?? [];
    expect(gateway.log()).toContain(face);
  });
});

test("a sandbox key has collections that reach no vendor", async () => {
  const sandboxKey = await gateway.createKey({ kind: "sandbox" });
  const id = await create("amazon", sandboxKey);
  expect((await send("POST", `${path}/${id}/faces`, portrait, sandboxKey)).json).toMatchObject({ cost: 0 });
  expect((await send("GET", `${path}/${id}`, undefined, sandboxKey)).json).toMatchObject({
    ...{ provider: "sandbox", face_count: 1 },
  });
  expect((await recognise(id, undefined, sandboxKey)).status).toBe(200);
  expect(vendor.requests.filter(({ headers }) => headers["x-amz-target"] !== undefined)).toBeEmpty();
});

test("a collection whose key was revoked is deleted, at the vendor too", async () => {
  const created = (await gateway.manage("POST", "/keys", { name: "leaves" })) as { id: string; key: string };
  const id = await create("amazon", created.key);
  const kept = await create();
  expect((await send("POST", `${path}/${id}/faces`, portrait, created.key)).status).toBe(200);
  await gateway.manage("DELETE", `/keys/${created.id}`);
  await using opened = await openCollections();
  const { storage, sweep } = opened;
  // While the vendor is out of order, the collection stays.
  vendor.next(answer(500, { __type: "InternalServerError" }));
  await sweep();
  expect(stored.has(`switchyard-${id}`)).toBe(true);
  await sweep();
  expect(stored.has(`switchyard-${id}`)).toBe(false);
  expect(stored.has(`switchyard-${kept}`)).toBe(true);
  expect(await storage.collections.listVectors(id)).toEqual([]);
  expect((await send("GET", `${path}/${kept}`)).status).toBe(200);
});

describe("an expired collection is deleted", () => {
  function expired(provider: string, createdAt: number): CollectionRecord {
    const id = crypto.randomUUID();
    return { id, owner: "key:expired", provider, name: "Old", faceCount: 0, createdAt, expiresAt: createdAt + 1 };
  }

  async function keep(storage: Storage, collections: readonly CollectionRecord[]): Promise<void> {
    for (const collection of collections) await storage.collections.create(collection, 1_000);
  }

  test("however many older ones its vendor does not delete", async () => {
    await using opened = await openCollections();
    const stuck = Array.from({ length: 120 }, (_, index) => expired("amazon", 1_000 + index));
    for (const { id } of stuck) undeletable.add(`switchyard-${id}`);
    const young = expired("amazon", 2_000);
    await keep(opened.storage, [...stuck, young]);
    stored.set(`switchyard-${young.id}`, new Set());
    // Each sweep ends after a hundred failures.
    await opened.sweep();
    await opened.sweep();
    expect(stored.has(`switchyard-${young.id}`)).toBe(false);
    const deletions = () =>
      vendor.requests.filter(({ headers }) => headers["x-amz-target"]?.endsWith("DeleteCollection"));
    expect(deletions()).toHaveLength(121);
    undeletable.clear();
    await opened.sweep();
    expect(await opened.storage.collections.listAbandoned(Date.now(), 1)).toEqual([]);
  });

  test("also without the engine that filled it, but not without the provider that stores its faces", async () => {
    const changeEngine = (engine: Engine) =>
      engine.provider === "local" ? { ...engine, unavailableReason: "It is not installed." } : engine;
    await using opened = await openCollections({ changeEngine });
    const [here, elsewhere] = [expired("local", 1_000), expired("gone", 1_001)];
    await keep(opened.storage, [here, elsewhere]);
    await opened.sweep();
    const left = await opened.storage.collections.listAbandoned(Date.now(), 10);
    expect(left.map(({ id }) => id)).toEqual([elsewhere.id]);
    await opened.storage.collections.delete(elsewhere.id, elsewhere.owner);
  });
});
