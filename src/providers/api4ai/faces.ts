import type { JsonObject } from "../dialect.ts";
import { asList, asObject, asScore, objectsIn } from "../lenient.ts";
import { toShape } from "../shapes/to-shape.ts";
import { toBox } from "./box.ts";

const points: Readonly<Record<string, string>> = {
  "left-eye": "left_eye",
  "right-eye": "right_eye",
  "nose-tip": "nose_tip",
  "mouth-left-corner": "mouth_left",
  "mouth-right-corner": "mouth_right",
};

export function toFaces(objects: readonly JsonObject[]): unknown {
  return toShape("image/face_detection", { items: objects.flatMap(toFace) })["items"];
}

/** None without a confidence, because the schema requires one. */
function toFace(found: JsonObject): JsonObject[] {
  const entities = objectsIn(found["entities"]);
  const classes = asObject(entities.find(({ kind }) => kind === "classes")?.["classes"]);
  const named = asObject(entities.find(({ kind }) => kind === "namedpoints")?.["namedpoints"]);
  const landmarks = Object.entries(points).flatMap(([name, member]) =>
    named[name] === undefined ? [] : [[member, asList(named[name])]],
  );
  const confidence = asScore(classes["face"]);
  if (confidence === null) return [];
  return [{ confidence, landmarks: Object.fromEntries(landmarks), bounding_box: { ...toBox(found["box"]) } }];
}
