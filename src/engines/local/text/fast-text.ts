// fastText's classifiers: small models that name the best labels of a text within a fraction of a millisecond.

import { readModelFile } from "../checksums.ts";
import { importPackage } from "../resolve-package.ts";

export interface Label {
  /** Without fastText's `__label__`. */
  readonly name: string;
  /** 0..1 */
  readonly probability: number;
}

export type Classify = (text: string, most: number) => readonly Label[];

/** The parts of the package that we call. */
interface FastTextPackage {
  getFastTextModule(options: { readonly wasmBinary: Uint8Array }): Promise<FastTextModule>;
}

interface FastTextModule {
  readonly FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void };
  readonly FastText: new () => {
    loadModel(path: string): void;
    predict(text: string, most: number, threshold: number): LabelVector;
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

/** Each model gets an instance of its own: two models in one instance answer with the labels of the first. */
export async function loadFastText(packageName: string, path: string): Promise<Classify> {
  const { getFastTextModule } = await importPackage<FastTextPackage>(fastTextPackage);
  const { bytes: wasmBinary } = await readModelFile(fastTextPackage, "dist/core/fastText.node.wasm");
  const { bytes } = await readModelFile(packageName, path);
  const fastText = await getFastTextModule({ wasmBinary });
  fastText.FS.writeFile(fileInModule, bytes);
  const model = new fastText.FastText();
  model.loadModel(fileInModule);
  fastText.FS.unlink(fileInModule);

  return (text, most) => {
    // It reads one line, and only a line that ends.
    const vector = model.predict(`${text.replace(/[\s\0]+/gu, " ").trim()}\n`, most, 0);
    const labels: Label[] = [];
    for (let index = 0; index < vector.size(); index++) {
      const [probability, label] = vector.get(index);
      // Sums of rounded parts: a little more than 1 occurs.
      labels.push({ name: label.slice(labelPrefix.length), probability: Math.min(1, Math.max(0, probability)) });
    }
    // It lives in the memory of the module, which nothing else would give back.
    vector.delete();
    return labels;
  };
}

/** As the texts were prepared when the review and news models were trained. */
export function toTrainingForm(text: string): string {
  return text
    .toLowerCase()
    .replace(/([.,!?()'"’“”])/g, " $1 ")
    .replace(/[’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, " ")
    .trim();
}
