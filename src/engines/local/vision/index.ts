// The engines of the group `vision`. They share their networks.

import type { LocalEngine } from "../local-engine.ts";
import { createAnonymization } from "./anonymization.ts";
import { createBackgroundRemoval } from "./background-removal.ts";
import { createImageEmbeddings } from "./embeddings.ts";
import { createExplicitContent } from "./explicit-content.ts";
import { createFaceCompare } from "./face-compare.ts";
import { createFaceDetection } from "./face-detection.ts";
import { createObjectDetection } from "./object-detection.ts";
import { createVision } from "./vision.ts";

function createVisionEngines(): readonly LocalEngine[] {
  const vision = createVision();
  return [
    createObjectDetection(vision),
    createFaceDetection(vision),
    createFaceCompare(vision),
    createAnonymization(vision),
    createExplicitContent(vision),
    createBackgroundRemoval(),
    createImageEmbeddings(vision),
  ];
}

export const visionEngines = createVisionEngines();
