// image/face_recognition searches a collection of faces. These engines read the collection of the caller from the gateway's store, and pass its
// vectors to the engine of this machine. A provider stores the vectors of its collections itself.

import { GatewayError } from "../errors.ts";
import { refuseInput } from "../providers/task.ts";
import type { AddedFace, Engine, InputFile, TaskCall, TaskResult } from "./engine.ts";

export const faceTask = "image/face_recognition";

/** The parts of a stored collection and its faces that engines need. */
export interface StoredCollection {
  readonly id: string;
  readonly provider: string;
}

interface StoredFace {
  readonly id: string;
  /** 32-bit floats. Null: the provider stores the vector. */
  readonly vector: Uint8Array | null;
}

export interface CollectionReader {
  find(id: string, owner: string): Promise<StoredCollection | null>;
  /** Always in the same order. */
  listVectors(id: string): Promise<readonly StoredFace[]>;
}

/** The name of the file with the vectors that the local engine reads. */
const vectorsMember = "vectors";
const nothing = { output: {}, original: null, units: {} };

/** Every other engine is returned as it is. */
export function withCollections(engines: readonly Engine[], store: CollectionReader): readonly Engine[] {
  return engines.map((engine) => {
    if (engine.task !== faceTask || engine.isSandbox === true) return engine;
    const stores = engine.collections === undefined;
    return {
      ...engine,
      get unavailableReason() {
        return engine.unavailableReason;
      },
      run: async (call) => {
        const collection = await findCollection(engine, call, store);
        return stores ? await searchVectors(engine, call, await store.listVectors(collection.id)) : engine.run(call);
      },
      ...(stores && { collections: collectionsOf(engine), hasStoredCollections: true }),
    };
  });
}

async function findCollection(
  { provider }: Engine,
  { input, owner }: TaskCall,
  store: CollectionReader,
): Promise<StoredCollection> {
  const collection = await store.find(String(input["collection_id"]).toLowerCase(), owner);
  if (collection === null) throw collectionNotFound();
  if (collection.provider !== provider)
    refuseInput(
      "collection_id",
      `This is a collection of '${collection.provider}': use the model ${faceTask}/${collection.provider}`,
    );
  return collection;
}

/** The same answer for an unknown, foreign, deleted or expired collection. */
export function collectionNotFound(): GatewayError {
  return new GatewayError("collection_not_found", "There is no such collection.", { param: "collection_id" });
}

async function searchVectors(engine: Engine, call: TaskCall, faces: readonly StoredFace[]): Promise<TaskResult> {
  const vectors = faces.map(({ vector }) => vector ?? new Uint8Array());
  const result = await engine.run({ ...call, files: { ...call.files, [vectorsMember]: toFile(vectors) } });
  const items = result.output["items"] as readonly { readonly face_id: string; readonly confidence: number }[];
  // The engine names a face by its position.
  const named = items.flatMap(({ face_id, confidence }) => {
    const face = faces[Number(face_id)];
    return face === undefined ? [] : [{ confidence, face_id: face.id }];
  });
  return { ...result, output: { items: named } };
}

function toFile(vectors: readonly Uint8Array[]): InputFile {
  const bytes = Buffer.concat(vectors);
  return { name: vectorsMember, mediaType: "application/octet-stream", size: bytes.length, read: async () => bytes };
}

/** The gateway's store holds the faces, so there is nothing else to create or to delete. */
function collectionsOf(engine: Engine): NonNullable<Engine["collections"]> {
  return {
    create: async () => nothing,
    // Without vectors to search, the engine returns those of the picture.
    addFaces: async (call) => (await engine.run(call)) as TaskResult<{ readonly faces?: readonly AddedFace[] }>,
    deleteFaces: async () => nothing,
    delete: async () => nothing,
  };
}
