// What the engines for pictures share in a worker: each network is opened once, when the first of them is asked for it.

import { type FaceDescriber, loadFaceDescriber } from "./face-describer.ts";
import { type FaceFinder, loadFaceFinder } from "./face-finder.ts";
import { loadTensorflow, type Tensorflow } from "./tensorflow.ts";

export interface Vision {
  tensorflow(): Promise<Tensorflow>;
  faceFinder(): Promise<FaceFinder>;
  faceDescriber(): Promise<FaceDescriber>;
}

/** Networks see 512 pixels at most, and a window is a quarter of the picture: more would be thrown away. */
export const maxPixelsSeen = 4_000_000;
/** A picture that comes back is made smaller than it was only beyond this. */
export const maxPixelsMade = 16_000_000;

export const oneImage = { image: 1, file: 1, request: 1 };

export function createVision(): Vision {
  const tensorflow = once(loadTensorflow);
  return {
    tensorflow,
    faceFinder: once(async () => loadFaceFinder(await tensorflow())),
    faceDescriber: once(async () => loadFaceDescriber(await tensorflow())),
  };
}

/** A load that failed is tried again by the next call. */
function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}
