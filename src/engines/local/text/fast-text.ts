// fastText classifiers: small models that label a text in a fraction of a millisecond.

import { readModelFile } from "../checksums.ts";
import { importPackage } from "../resolve-package.ts";

export interface Label {
  /** Without fastText's `__label__`. */
  readonly name: string;
  /** 0..1 */
  readonly probability: number;
}

export type Classify = (text: string, maxLabels: number) => readonly Label[];

/** The parts of the package that we call. */
interface FastTextPackage {
  getFastTextModule(options: { readonly wasmBinary: Uint8Array }): Promise<FastTextModule>;
}

interface FastTextModule {
  readonly FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void };
  readonly FastText: new () => {
    loadModel(path: string): void;
    predict(text: string, maxLabels: number, threshold: number): LabelVector;
  };
}

interface LabelVector {
  size(): number;
  get(index: number): readonly [probability: number, label: string];
  delete(): void;
}

export const fastTextPackage = "fasttext.wasm.js";
const labelPrefix = "__label__";
const fileInModule = "model.ftz";

/** Each model needs its own instance, because two models in one instance return the labels of the first. */
export async function loadFastText(packageName: string, path: string): Promise<Classify> {
  const { getFastTextModule } = await importPackage<FastTextPackage>(fastTextPackage);
  const { bytes: wasmBinary } = await readModelFile(fastTextPackage, "dist/core/fastText.node.wasm");
  const { bytes } = await readModelFile(packageName, path);
  const fastText = await getFastTextModule({ wasmBinary });
  fastText.FS.writeFile(fileInModule, bytes);
  const model = new fastText.FastText();
  model.loadModel(fileInModule);
  fastText.FS.unlink(fileInModule);

  return (text, maxLabels) => {
    // It reads a single line, which must end with a line break.
    const vector = model.predict(`${text.replace(/[\s\0]+/gu, " ").trim()}\n`, maxLabels, 0);
    const labels: Label[] = [];
    for (let index = 0; index < vector.size(); index++) {
      const [probability, label] = vector.get(index);
      // Rounding can make it slightly more than 1.
      labels.push({ name: label.slice(labelPrefix.length), probability: Math.min(1, Math.max(0, probability)) });
    }
    // It is allocated in the memory of the module, which is not garbage-collected.
    vector.delete();
    return labels;
  };
}

/** The preprocessing with which the review and news models were trained. */
export function toTrainingForm(text: string): string {
  return text
    .toLowerCase()
    .replace(/([.,!?()'"’“”])/g, " $1 ")
    .replace(/[’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, " ")
    .trim();
}
