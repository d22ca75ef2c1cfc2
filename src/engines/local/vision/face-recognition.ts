// image/face_recognition: the faces of a picture, compared with the vectors of a collection. Without vectors, it returns those of the picture,
// which are added to a collection. The gateway stores the collections (engines/face-collections.ts); this engine sees no other faces.

import { refuseInput } from "../../../providers/task.ts";
import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { toSides } from "./boxes.ts";
import { faceEngine, loadFaceTools } from "./face-describer.ts";
import { similarityOf, toConfidence } from "./face-similarity.ts";
import { oneImage, readPicture } from "./picture-engine.ts";

const minConfidence = 0.5;
const maxMatches = 100;
const original = { engine: "blazeface, facemesh, faceres" };

/** The file with the vectors of a collection, one after another (engines/face-collections.ts). */
const vectorsMember = "vectors";

export const faceRecognition: LocalEngine = {
  task: "image/face_recognition",
  ...faceEngine,
  async load() {
    const { finder, describer } = await loadFaceTools();
    return async ({ files }) => {
      const picture = await readPicture(files, "file");
      const faces = finder.find(picture);
      if (faces.length === 0) refuseInput("file", "No face was found in this picture.");
      const found = faces.map((face) => ({ face, vector: describer.toVector(picture, face) }));
      const stored = files[vectorsMember];
      if (stored === undefined) {
        const described = found.map(({ face, vector }) => ({
          vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64"),
          confidence: round(face.score),
          bounding_box: toSides(face.box, picture),
        }));
        return { output: { faces: described }, original, units: oneImage };
      }
      const vectors = found.map(({ vector }) => vector);
      return { output: { items: findMatches(vectors, toFloats(stored.bytes)) }, original, units: oneImage };
    };
  },
};

/** The most similar faces of the collection; `face_id` is the position of a face in it. */
function findMatches(searched: readonly Float32Array[], stored: Float32Array) {
  const length = searched[0]?.length ?? 1;
  const matches: { face_id: string; confidence: number }[] = [];
  for (let index = 0; (index + 1) * length <= stored.length; index++) {
    const known = stored.subarray(index * length, (index + 1) * length);
    const similarity = searched.reduce((most, vector) => Math.max(most, similarityOf(vector, known)), -1);
    const confidence = toConfidence(similarity);
    if (confidence >= minConfidence) matches.push({ face_id: String(index), confidence });
  }
  return matches.toSorted((one, another) => another.confidence - one.confidence).slice(0, maxMatches);
}

/** A copy, because the bytes may not start at a multiple of four. */
function toFloats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}
