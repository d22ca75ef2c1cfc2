// What every engine of the store promises about collections of faces.

import { expect, test } from "bun:test";
import type { CollectionRecord } from "../../src/storage/collections.ts";
import type { KeyRecord } from "../../src/storage/keys.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { describeOn, type Engine, makeKey, makeTeam, withStorage } from "./engines.ts";

const owner = "owner:acme";

function collectionOf(changes: Partial<CollectionRecord> = {}): CollectionRecord {
  return {
    id: crypto.randomUUID(),
    owner,
    provider: "local",
    name: "Staff",
    faceCount: 0,
    createdAt: Date.now(),
    expiresAt: null,
    ...changes,
  };
}

function facesOf(collectionId: string, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    collectionId,
    id: `face-${String(index).padStart(4, "0")}`,
    createdAt: 1_000 + index,
    vector: new Uint8Array([index % 256, 2, 3, 4]),
  }));
}

function keyOf(id: string, team: string | null): KeyRecord {
  return makeKey({ id, team, name: id, scopes: ["universal"], createdAt: 1 });
}

async function listAll(storage: Storage, of = owner) {
  return await storage.collections.list({ owner: of, limit: 100, offset: 0 });
}

export function describeCollectionStore(engine: Engine): void {
  describeOn(engine, "collections", () => {
    test("faces come back with their vectors, and are counted", async () => {
      const options = await engine.createStore();
      const collection = collectionOf();
      await withStorage(options, async (storage) => {
        expect(await storage.collections.create(collection, 10)).toBe(true);
        expect(await storage.collections.addFaces(collection.id, facesOf(collection.id, 700), 1_000)).toBe(true);
      });
      await withStorage(options, async (storage) => {
        expect(await storage.collections.find(collection.id, owner)).toEqual({ ...collection, faceCount: 700 });
        const faces = await storage.collections.listVectors(collection.id);
        expect(faces).toHaveLength(700);
        expect(faces[255]).toMatchObject({ id: "face-0255", vector: new Uint8Array([255, 2, 3, 4]) });
        const page = await storage.collections.listFaces({ collectionId: collection.id, limit: 2, offset: 1 });
        expect(page.total).toBe(700);
        expect(page.items.map(({ id }) => id)).toEqual(["face-0698", "face-0697"]);
        expect(await storage.collections.deleteFace(collection.id, "face-0001")).toBe(true);
        expect(await storage.collections.deleteFace(collection.id, "face-0001")).toBe(false);
        expect(await storage.collections.hasFace(collection.id, "face-0001")).toBe(false);
        expect((await storage.collections.find(collection.id, owner))?.faceCount).toBe(699);
      });
    });

    test("faces that are added twice are stored and counted once", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const collection = collectionOf();
        await storage.collections.create(collection, 10);
        const add = (count: number) => storage.collections.addFaces(collection.id, facesOf(collection.id, count), 100);
        for (const count of [70, 70, 100]) expect(await add(count)).toBe(true);
        expect(await add(101)).toBe(false);
        expect(await storage.collections.listVectors(collection.id)).toHaveLength(100);
        expect((await storage.collections.find(collection.id, owner))?.faceCount).toBe(100);
      });
    });

    test("to anyone but its owner a collection is as one that never existed", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const collection = collectionOf();
        await storage.collections.create(collection, 10);
        for (const stranger of ["owner:other", "", "owner:acme ", "%"]) {
          expect(await storage.collections.find(collection.id, stranger)).toBeNull();
          expect(await storage.collections.delete(collection.id, stranger)).toBe(false);
          expect((await listAll(storage, stranger)).total).toBe(0);
        }
        expect((await listAll(storage)).items).toEqual([collection]);
      });
    });

    test("a deleted collection takes its faces with it, and an expired one is gone", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const [kept, doomed, expired] = [collectionOf(), collectionOf(), collectionOf({ expiresAt: Date.now() - 1 })];
        for (const one of [kept, doomed, expired]) {
          await storage.collections.create(one, 10);
          await storage.collections.addFaces(one.id, facesOf(one.id, 2), 10);
        }
        expect(await storage.collections.delete(doomed.id, owner)).toBe(true);
        expect(await storage.collections.listVectors(doomed.id)).toEqual([]);
        expect(await storage.collections.addFaces(doomed.id, facesOf(doomed.id, 1), 10)).toBe(false);
        expect(await storage.collections.find(expired.id, owner)).toBeNull();
        expect((await listAll(storage)).items.map(({ id }) => id)).toEqual([kept.id]);
        expect(await storage.collections.listVectors(kept.id)).toHaveLength(2);
      });
    });

    test("neither collections nor faces exceed their limits, also when many are added at once", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const collection = collectionOf();
        expect(await storage.collections.create(collection, 1)).toBe(true);
        expect(await storage.collections.create(collectionOf(), 1)).toBe(false);
        const added = await Promise.all(
          Array.from({ length: 12 }, (_, index) => {
            const face = { collectionId: collection.id, id: `f${index}`, createdAt: 1, vector: null };
            return storage.collections.addFaces(collection.id, [face], 5);
          }),
        );
        expect(added.filter(Boolean)).toHaveLength(5);
        expect(await storage.collections.listVectors(collection.id)).toHaveLength(5);
      });
    });

    test("collections that no key can reach are found: expired ones, and those whose keys are all revoked", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        for (const [id, of] of [
          ["lone", null],
          ["other", null],
          ["first", "acme"],
          ["second", "acme"],
        ] as const)
          await storage.keys.insert(keyOf(id, of), of === null ? null : makeTeam(of));
        const of = (name: string, more: Partial<CollectionRecord> = {}) => collectionOf({ name, owner: name, ...more });
        const all = [of("key:lone"), of("key:other"), of("owner:acme"), of("owner:unknown")];
        const expired = of("key:other", { name: "expired", expiresAt: Date.now() - 1 });
        for (const one of [...all, expired]) await storage.collections.create(one, 10);
        const list = async () => (await storage.collections.listAbandoned(Date.now(), 10)).map(({ name }) => name);
        expect(await list()).toEqual(["expired"]);
        await storage.keys.revoke("lone", Date.now());
        await storage.keys.revoke("first", Date.now());
        expect((await list()).toSorted()).toEqual(["expired", "key:lone"]);
        await storage.keys.revoke("second", Date.now());
        expect((await list()).toSorted()).toEqual(["expired", "key:lone", "owner:acme"]);
        const abandoned = await storage.collections.listAbandoned(Date.now(), 10);
        const paged: CollectionRecord[] = [];
        for (let last: CollectionRecord | null = null; paged.length < 3; last = paged.at(-1) ?? null)
          paged.push(...(await storage.collections.listAbandoned(Date.now(), 1, last)));
        expect(paged).toEqual(abandoned);
        expect(await storage.collections.listAbandoned(Date.now(), 1, paged.at(-1) ?? null)).toEqual([]);
      });
    });

    test("expired collections do not count towards the limit of their owner", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        for (let count = 1; count <= 2; count++)
          await storage.collections.create(collectionOf({ expiresAt: Date.now() - 1 }), 2);
        for (const isCreated of [true, true, false])
          expect(await storage.collections.create(collectionOf(), 2)).toBe(isCreated);
      });
    });
  });
}
