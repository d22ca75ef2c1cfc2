// Guesses about a face: age, sex, expression, and a vector that is similar for pictures of the same person.

import { loadOnce } from "../load-once.ts";
import { type Face, loadFaceFinder } from "./face-finder.ts";
import type { Sampler } from "./sampler.ts";
import { humanPackages, loadTensorflow } from "./tensorflow.ts";

export interface FaceDescriber {
  /** The gender is null if the network is not sure. */
  describe(picture: Sampler, face: Face): { readonly age: number; readonly gender: "male" | "female" | null };
  /** A vector of length 1. The scalar product of two is their similarity. */
  toVector(picture: Sampler, face: Face): Float32Array;
  /** 0 to 1, by the names in the task's schema. */
  toEmotions(picture: Sampler, face: Face): Emotions;
}

/** In the order of the network's outputs. */
type Emotions = Record<"anger" | "disgust" | "fear" | "joy" | "sorrow" | "surprise" | "neutral", number>;

/** What engines that compare faces declare. */
export const faceEngine = { group: "vision", packages: humanPackages } as const;

const describerSize = 224;
const emotionSize = 64;
const luminance = [0.2989, 0.587, 0.114] as const;
// The sex is unknown if its probability is this close to a half.
const unsure = 0.15;

/** All engines of a worker share its networks. */
export const loadFaceDescriber = loadOnce(async (): Promise<FaceDescriber> => {
  const { openGraph } = await loadTensorflow();
  const outputs = ["global_pooling/Mean", "age_pred/Softmax", "gender_pred/Sigmoid"];
  const describer = await openGraph({ name: "faceres", size: describerSize, outputs });
  const emotion = await openGraph({ name: "emotion", size: emotionSize, channels: 1, outputs: ["Identity"] });
  const look = (picture: Sampler, { area }: Face) => describer(picture.crop(area, describerSize, describerSize));

  return {
    describe(picture, face) {
      const [, ages = new Float32Array(), [male = 0.5] = []] = look(picture, face);
      const age = ages.reduce((sum, share, years) => sum + share * years, 0);
      const gender = male > 0.5 ? "male" : "female";
      return { age: Math.round(age), gender: Math.abs(male - 0.5) < unsure ? null : gender };
    },
    toVector(picture, face) {
      const [vector = new Float32Array()] = look(picture, face);
      const length = Math.hypot(...vector);
      return vector.map((value) => value / (length || 1));
    },
    toEmotions(picture, { area }) {
      const colours = picture.crop(area, emotionSize, emotionSize);
      const grey = Float32Array.from({ length: emotionSize * emotionSize }, (_, pixel) => {
        const light = luminance.reduce(
          (sum, weight, channel) => sum + weight * (colours[pixel * 3 + channel] as number),
          0,
        );
        return light / 127.5 - 1;
      });
      const [shares = new Float32Array()] = emotion(grey);
      const [anger = 0, disgust = 0, fear = 0, joy = 0, sorrow = 0, surprise = 0, neutral = 0] = shares;
      return { anger, disgust, fear, joy, sorrow, surprise, neutral };
    },
  };
});

export async function loadFaceTools() {
  return { finder: await loadFaceFinder(), describer: await loadFaceDescriber() };
}
