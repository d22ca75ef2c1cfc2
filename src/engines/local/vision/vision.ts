// The networks that the vision engines share in a worker. Each is loaded on first use.

import { type FaceDescriber, loadFaceDescriber } from "./face-describer.ts";
import { type FaceFinder, loadFaceFinder } from "./face-finder.ts";
import { loadTensorflow, type Tensorflow } from "./tensorflow.ts";

export interface Vision {
  tensorflow(): Promise<Tensorflow>;
  faceFinder(): Promise<FaceFinder>;
  faceDescriber(): Promise<FaceDescriber>;
}

/** Networks use at most 512 pixels, and a window is a quarter of the picture, so more pixels would be wasted. */
export const maxPixelsSeen = 4_000_000;
/** Returned pictures are scaled down only if they are larger than this. */
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

/** The next call tries again after a failure. */
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
