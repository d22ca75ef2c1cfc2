// image/face_detection: faces with landmarks and pose, and guesses about age, sex and expression.

import { fillMembers } from "../fill-members.ts";
import { mapValues } from "../map-values.ts";
import { round, toLikelihood } from "../numbers.ts";
import { toEdges, toPart } from "./boxes.ts";
import { loadFaceDescriber } from "./face-describer.ts";
import { type Face, loadFaceFinder } from "./face-finder.ts";
import { createPictureEngine } from "./picture-engine.ts";
import type { Sampler } from "./sampler.ts";
import { humanPackages } from "./tensorflow.ts";

const task = "image/face_detection";

/** Points of the mesh; a landmark with several is at their mean. Left and right are as the viewer sees them. */
const landmarks = {
  left_eye: [33, 133, 159, 145],
  left_eye_top: [159],
  left_eye_right: [133],
  left_eye_bottom: [145],
  left_eye_left: [33],
  right_eye: [362, 263, 386, 374],
  right_eye_top: [386],
  right_eye_right: [263],
  right_eye_bottom: [374],
  right_eye_left: [362],
  left_eyebrow_left: [70],
  left_eyebrow_right: [107],
  left_eyebrow_top: [105],
  right_eyebrow_left: [336],
  right_eyebrow_right: [300],
  right_eyebrow_top: [334],
  midpoint_between_eyes: [168],
  nose_tip: [1],
  nose_bottom_left: [98],
  nose_bottom_right: [327],
  nose_bottom_center: [2],
  mouth_left: [61],
  mouth_right: [291],
  mouth_center: [13, 14],
  mouth_top: [0],
  mouth_bottom: [17],
  upper_lip: [0, 13],
  upper_lip_top: [0],
  upper_lip_bottom: [13],
  under_lip: [14, 17],
  under_lip_top: [14],
  under_lip_bottom: [17],
  forehead_glabella: [9],
  chin_gnathion: [152],
  chin_left_gonion: [172],
  chin_right_gonion: [397],
  upper_jawline_left: [234],
  mid_jawline_left: [58],
  mid_jawline_right: [288],
  upper_jawline_right: [454],
  left_cheek_center: [205],
  right_cheek_center: [425],
};
/** The ends of the face: top, bottom, left, right. */
const ends = [10, 152, 234, 454] as const;

export const faceDetection = createPictureEngine({
  task,
  packages: humanPackages,
  async load() {
    const finder = await loadFaceFinder();
    const describer = await loadFaceDescriber();
    return (picture) => {
      const items = finder.find(picture).map((face) => {
        return {
          confidence: round(face.score),
          landmarks: toLandmarks(face, picture),
          emotions: mapValues(describer.toEmotions(picture, face), toLikelihood),
          poses: toPose(face),
          ...describer.describe(picture, face),
          bounding_box: toEdges(face.box, picture),
        };
      });
      return {
        output: fillMembers(task, { items }),
        original: { engine: "blazeface, facemesh, faceres, emotion" },
      };
    };
  },
});

/** Positions as shares of the picture's width and height. */
function toLandmarks({ mesh, ears: [leftEar, rightEar] }: Face, { width, height }: Sampler) {
  const position = ([x = 0, y = 0]: readonly number[]) => [toPart(x, width), toPart(y, height)];
  const mean = (indices: readonly number[], axis: 0 | 1) =>
    indices.reduce((sum, index) => sum + (mesh[index]?.[axis] ?? 0), 0) / indices.length;
  return {
    ...mapValues(landmarks, (indices: readonly number[]) => position([mean(indices, 0), mean(indices, 1)])),
    left_ear_tragion: position(leftEar),
    right_ear_tragion: position(rightEar),
  };
}

/** In degrees: up, clockwise and to the viewer's right are positive. */
function toPose({ mesh }: Face): { pitch: number; roll: number; yaw: number } {
  const [top, bottom, left, right] = ends.map((index) => mesh[index] ?? [0, 0, 0]) as [Vector, Vector, Vector, Vector];
  const across = minus(right, left);
  const down = minus(bottom, top);
  return {
    pitch: toDegrees(Math.atan2(-down[2], Math.hypot(down[0], down[1]))),
    roll: toDegrees(Math.atan2(across[1], across[0])),
    yaw: toDegrees(Math.atan2(across[2], Math.hypot(across[0], across[1]))),
  };
}

type Vector = readonly [number, number, number];

function minus(a: Vector, b: Vector): Vector {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function toDegrees(radians: number): number {
  return Math.round((radians * 1800) / Math.PI) / 10;
}
