// What networks guess about a face: a vector that is alike for pictures of one person, age, sex, expression. Guesses, no more.

import type { Face } from "./face-finder.ts";
import { humanPackage } from "./human.ts";
import type { Sampler } from "./sampler.ts";
import type { Tensorflow } from "./tensorflow.ts";

export interface FaceDescriber {
  describe(picture: Sampler, face: Face): Description;
  /** Of length one, so that the product of two says how alike they are. */
  toVector(picture: Sampler, face: Face): Float32Array;
  /** 0..1, by the names of the task's schema. */
  toEmotions(picture: Sampler, face: Face): Readonly<Record<string, number>>;
}

export interface Description {
  readonly age: number;
  /** Null: the network cannot tell. */
  readonly gender: "male" | "female" | null;
}

const describerSize = 224;
const emotionSize = 64;
/** In the order of the network's outputs. */
const emotions = ["anger", "disgust", "fear", "joy", "sorrow", "surprise", "neutral"];
const luminance = [0.2989, 0.587, 0.114] as const;
// On either side of a half.
const unsure = 0.15;

export async function loadFaceDescriber(tensorflow: Tensorflow): Promise<FaceDescriber> {
  const describer = await tensorflow.openGraph({
    packageName: humanPackage,
    path: "models/faceres",
    shape: [1, describerSize, describerSize, 3],
    outputs: ["global_pooling/Mean", "age_pred/Softmax", "gender_pred/Sigmoid"],
  });
  const emotion = await tensorflow.openGraph({
    packageName: humanPackage,
    path: "models/emotion",
    shape: [1, emotionSize, emotionSize, 1],
    outputs: ["Identity"],
  });
  const look = (picture: Sampler, { area }: Face) => describer(picture.cut(area, describerSize, describerSize));

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
      const colours = picture.cut(area, emotionSize, emotionSize);
      const grey = Float32Array.from({ length: emotionSize * emotionSize }, (_, pixel) => {
        const light = luminance.reduce(
          (sum, weight, channel) => sum + weight * (colours[pixel * 3 + channel] as number),
          0,
        );
        return light / 127.5 - 1;
      });
      const [shares = new Float32Array()] = emotion(grey);
      return Object.fromEntries(emotions.map((name, index) => [name, shares[index] as number]));
    },
  };
}
