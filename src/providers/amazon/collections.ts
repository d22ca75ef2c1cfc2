// Collections of faces at Amazon Rekognition. The vendor stores vectors of faces, no images.
// https://docs.aws.amazon.com/rekognition/latest/dg/collections.html

import { asObject, asText, at, fromPercentage, objectsIn } from "../lenient.ts";
import { nowhere } from "../shapes/boxes.ts";
import { fileOf, oneImage, readBase64 } from "../shapes/inputs.ts";
import { type CollectionTask, defineTask, type TaskCall, TaskFailure, type TaskResponse } from "../task.ts";
import { kindOfRefusal, readBox, statusOfKind, toAwsRequest } from "./aws-json.ts";

const maxMatches = 100;
const done = { output: {}, units: {} };

export const recogniseFaces = defineTask("image/face_recognition", {
  docs: "https://docs.aws.amazon.com/rekognition/latest/APIReference/API_SearchFacesByImage.html",
  service: "rekognition",
  files: { maxBytes: 5 * 1_048_576, mediaTypes: ["image/jpeg", "image/png"] },
  toRequest: async (call) => {
    const value = { ...namesOf(call), Image: await toImage(call), MaxFaces: maxMatches };
    return toAwsRequest("RekognitionService.SearchFacesByImage", value);
  },
  fromResponse({ json }) {
    const items = objectsIn(at(json, "FaceMatches")).flatMap(({ Similarity, Face }) => {
      const [confidence, face_id] = [fromPercentage(Similarity), asText(at(Face, "FaceId"))];
      return confidence === null || face_id === null ? [] : [{ confidence, face_id }];
    });
    return { output: { items }, units: oneImage };
  },
  collections: {
    create: {
      // A repeated request finds the collection that the first one created.
      toRequest: (call) => allowing("CreateCollection", namesOf(call)),
      fromResponse: (response) => acceptExcept(response, "ResourceAlreadyExistsException"),
    },
    addFaces: {
      toRequest: async (call) => {
        const value = { ...namesOf(call), Image: await toImage(call), MaxFaces: maxMatches };
        return toAwsRequest("RekognitionService.IndexFaces", value);
      },
      fromResponse({ json }) {
        const faces = objectsIn(at(json, "FaceRecords")).flatMap(({ Face }) => {
          const face_id = asText(at(Face, "FaceId"));
          if (face_id === null) return [];
          const confidence = fromPercentage(at(Face, "Confidence"));
          return [{ face_id, confidence, bounding_box: readBox(at(Face, "BoundingBox")) ?? nowhere }];
        });
        return { output: { faces }, units: oneImage };
      },
    },
    deleteFaces: {
      toRequest: (call) => allowing("DeleteFaces", { ...namesOf(call), FaceIds: call.input["face_ids"] }),
      fromResponse: (response) => acceptExcept(response, "ResourceNotFoundException"),
    },
    delete: {
      toRequest: (call) => allowing("DeleteCollection", namesOf(call)),
      fromResponse: (response) => acceptExcept(response, "ResourceNotFoundException"),
    },
  } satisfies Record<string, CollectionTask>,
});

function namesOf({ input }: TaskCall<object>) {
  return { CollectionId: `switchyard-${asObject(input)["collection_id"]}` };
}

async function toImage(call: TaskCall<object>) {
  return { Bytes: await readBase64(fileOf(call as TaskCall)) };
}

/** AWS answers most errors with status 400, so the kind of the error decides. */
function allowing(operation: string, value: { readonly [name: string]: unknown }) {
  return { ...toAwsRequest(`RekognitionService.${operation}`, value), acceptedStatuses: [400] };
}

/** Throws the error in the response, except one that means that the operation was performed before. */
function acceptExcept({ status, json }: TaskResponse, accepted: string) {
  const kind = kindOfRefusal(json);
  if (status !== 400 || kind === accepted) return done;
  const message = asText(at(json, "Message")) ?? asText(at(json, "message")) ?? kind;
  throw new TaskFailure(statusOfKind(kind) ?? 400, message);
}
