// `/v3/universal-ai/collections`: collections of faces that `image/face_recognition` searches.

import { z } from "zod";
import { strictComponent } from "./component.ts";
import { pageOf, pageQuery } from "./paging.ts";
import { closedObject } from "./problems.ts";
import { plainText, uuidText } from "./text-values.ts";

const maxLifetimeDays = 3_650;

export const createCollectionRequest = closedObject({
  provider: plainText(64).describe("The provider whose engine searches the collection: `local`, `amazon`."),
  name: plainText(255).default("").describe("A name of your own."),
  expires_in_days: z
    .int()
    .min(1)
    .max(maxLifetimeDays)
    .nullish()
    .describe("The collection is deleted after this number of days. Absent: it is stored until it is deleted."),
}).meta({ id: "CreateCollectionRequest" });

export const collectionPath = z.object({ collection_id: uuidText.describe("The collection's id.") });

export const facePath = z.object({
  collection_id: uuidText.describe("The collection's id."),
  face_id: z.string().min(1).max(255).describe("The face's id."),
});

export const listCollectionsQuery = z.object(pageQuery);

export const collection = strictComponent("Collection", {
  collection_id: z.uuid(),
  provider: z.string(),
  name: z.string(),
  face_count: z.int(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
});

export const collectionList = pageOf(collection).meta({ id: "CollectionList" });

export const addFacesRequest = closedObject({
  file: z.string().min(1).describe("The id of an upload, or an address: a picture with at least one face."),
}).meta({ id: "AddFacesRequest" });

const share = z.number().nullable();

export const addedFaces = strictComponent("AddedFaces", {
  faces: z.array(
    z.strictObject({
      face_id: z.string(),
      confidence: z.number().nullable().describe("That it is a face, 0 to 1."),
      bounding_box: z
        .strictObject({ left: share, top: share, width: share, height: share })
        .describe("Relative to the size of the picture."),
    }),
  ),
  cost: z.number().nullable().describe("USD; null when it is unknown."),
});

export const face = strictComponent("Face", { face_id: z.string(), created_at: z.iso.datetime() });

export const faceList = pageOf(face).meta({ id: "FaceList" });

export const deletedCollection = strictComponent("DeletedCollection", {
  deleted: z.literal(true),
});

export type Collection = z.output<typeof collection>;
export type CreateCollectionRequest = z.output<typeof createCollectionRequest>;
