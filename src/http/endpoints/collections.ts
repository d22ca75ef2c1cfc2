// `/v3/universal-ai/collections`: collections of faces.

import { ownerOf } from "../../access/caller.ts";
import * as contract from "../../contract/collections.ts";
import { toOffset, toPage } from "../../contract/paging.ts";
import type { CollectionRecord } from "../../inference/universal-ai/collections.ts";
import { contextOf, modelCallErrors } from "../model-call.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const common = { tag: "Tasks", key: "inference", scope: "universal" } as const;
const one = { params: contract.collectionPath, example: { path: { collection_id: "$COLLECTION_ID" } } } as const;
const path = "/v3/universal-ai/collections";

export function collectionRoutes({ collections }: Pick<RouteDependencies, "collections">): Route[] {
  return [
    defineRoute("createCollection", "Create a collection of faces", {
      ...common,
      description: "image/face_recognition searches it. It belongs to this key, or to all keys of its owner.",
      method: "POST",
      path,
      body: { kind: "json", schema: contract.createCollectionRequest },
      answers: [{ status: 200, description: "The collection.", schema: contract.collection }],
      errors: modelCallErrors,
      example: { body: { provider: "local", name: "Staff" } },
      run: async (call) => replyJson(toCollection(await collections.create(contextOf(call), call.body))),
    }),
    defineRoute("listCollections", "List collections of faces", {
      ...common,
      description: "Newest first, a page at a time.",
      method: "GET",
      path,
      query: contract.listCollectionsQuery,
      answers: [{ status: 200, description: "A page of collections.", schema: contract.collectionList }],
      async run({ caller, query }) {
        const { limit } = query;
        const { total, items } = await collections.list({ owner: ownerOf(caller), limit, offset: toOffset(query) });
        return replyJson(toPage(items.map(toCollection), total, query));
      },
    }),
    defineRoute("retrieveCollection", "Describe a collection of faces", {
      ...common,
      ...one,
      method: "GET",
      path: `${path}/{collection_id}`,
      answers: [{ status: 200, description: "The collection.", schema: contract.collection }],
      errors: ["collection_not_found"],
      run: async ({ caller, params }) =>
        replyJson(toCollection(await collections.find(params.collection_id, ownerOf(caller)))),
    }),
    defineRoute("deleteCollection", "Delete a collection and its faces", {
      ...common,
      ...one,
      method: "DELETE",
      path: `${path}/{collection_id}`,
      answers: [{ status: 200, description: "The collection was deleted.", schema: contract.deletedCollection }],
      errors: [...modelCallErrors, "collection_not_found"],
      async run(call) {
        await collections.remove(contextOf(call), call.params.collection_id);
        return replyJson({ deleted: true });
      },
    }),
    defineRoute("addFaces", "Add the faces of a picture to a collection", {
      ...common,
      description: "The picture itself is not stored.",
      method: "POST",
      path: `${path}/{collection_id}/faces`,
      params: contract.collectionPath,
      body: { kind: "json", schema: contract.addFacesRequest },
      answers: [{ status: 200, description: "The faces that were added.", schema: contract.addedFaces }],
      errors: [...modelCallErrors, "collection_not_found"],
      example: { path: { collection_id: "$COLLECTION_ID" }, body: { file: "https://example.com/portrait.jpg" } },
      run: async (call) =>
        replyJson(await collections.addFaces(contextOf(call), call.params.collection_id, call.body.file)),
    }),
    defineRoute("listFaces", "List the faces of a collection", {
      ...common,
      ...one,
      description: "Newest first, a page at a time.",
      method: "GET",
      path: `${path}/{collection_id}/faces`,
      query: contract.listCollectionsQuery,
      answers: [{ status: 200, description: "A page of faces.", schema: contract.faceList }],
      errors: ["collection_not_found"],
      async run({ caller, params, query }) {
        const page = { limit: query.limit, offset: toOffset(query) };
        const { total, items } = await collections.listFaces(params.collection_id, ownerOf(caller), page);
        const faces = items.map((face) => ({ face_id: face.id, created_at: new Date(face.createdAt).toISOString() }));
        return replyJson(toPage(faces, total, query));
      },
    }),
    defineRoute("deleteFace", "Delete a face from a collection", {
      ...common,
      method: "DELETE",
      path: `${path}/{collection_id}/faces/{face_id}`,
      params: contract.facePath,
      answers: [{ status: 200, description: "The face was deleted.", schema: contract.deletedCollection }],
      errors: [...modelCallErrors, "collection_not_found", "face_not_found"],
      example: { path: { collection_id: "$COLLECTION_ID", face_id: "$FACE_ID" } },
      async run(call) {
        const { collection_id, face_id } = call.params;
        await collections.deleteFace(contextOf(call), collection_id, face_id);
        return replyJson({ deleted: true });
      },
    }),
  ];
}

function toCollection(record: CollectionRecord): contract.Collection {
  return {
    collection_id: record.id,
    provider: record.provider,
    name: record.name,
    face_count: record.faceCount,
    created_at: new Date(record.createdAt).toISOString(),
    expires_at: record.expiresAt === null ? null : new Date(record.expiresAt).toISOString(),
  };
}
