// Runs networks with TensorFlow.js in WebAssembly. Tensors never leave this file, so that all of them are disposed.

import { readModelFile } from "../checksums.ts";
import { loadOnce } from "../load-once.ts";
import { importPackage, packageFolder } from "../resolve-package.ts";

export const tensorflowPackages = [
  "@tensorflow/tfjs-core",
  "@tensorflow/tfjs-converter",
  "@tensorflow/tfjs-backend-wasm",
] as const;
/** The networks for faces and objects. Only the model files of the package are used; its code, which downloads them, is not run. */
const humanPackage = "@vladmandic/human";
export const humanPackages = [...tensorflowPackages, humanPackage];

/** Takes a picture of the network's size, and returns its outputs in the order of their names. */
export type Network = (input: Float32Array) => Float32Array[];

/** The parts of the packages that we call. */
export interface Tensor {
  readonly shape: number[];
  dataSync(): Float32Array;
}

export interface Core {
  setBackend(name: string): Promise<boolean>;
  tidy(work: () => void): void;
  tensor(values: Float32Array, shape: readonly number[]): Tensor;
  readonly io: { fromMemory(artifacts: object): object };
  add(a: Tensor, b: Tensor): Tensor;
  relu(input: Tensor): Tensor;
  relu6(input: Tensor): Tensor;
  softmax(input: Tensor): Tensor;
  matMul(a: Tensor, b: Tensor): Tensor;
  mean(input: Tensor, axes: readonly number[]): Tensor;
  pad(input: Tensor, paddings: readonly (readonly number[])[]): Tensor;
  maxPool(input: Tensor, size: readonly number[], strides: readonly number[], pad: string): Tensor;
  readonly fused: {
    conv2d(options: Convolution): Tensor;
    depthwiseConv2d(options: Convolution): Tensor;
  };
}

interface Convolution {
  readonly x: Tensor;
  readonly filter: Tensor;
  readonly bias: Tensor;
  readonly strides: readonly number[];
  readonly pad: string;
}

interface Converter {
  loadGraphModel(source: object): Promise<{ execute(input: Tensor, outputs: readonly string[]): Tensor | Tensor[] }>;
}

interface GraphFile {
  readonly modelTopology: object;
  readonly signature?: object;
  readonly weightsManifest: readonly { readonly weights: readonly object[] }[];
}

interface Tensorflow {
  readonly core: Core;
  /** Opens a network of the package Human. */
  openGraph(options: GraphOptions): Promise<Network>;
}

interface GraphOptions {
  /** The files in the folder `models` have this name and the extensions .json and .bin. */
  readonly name: string;
  /** The width and height of its input. */
  readonly size: number;
  /** Default: 3. */
  readonly channels?: number;
  readonly outputs: readonly string[];
}

/** TensorFlow.js chooses the one that the processor supports. */
const programs = ["tfjs-backend-wasm.wasm", "tfjs-backend-wasm-simd.wasm", "tfjs-backend-wasm-threaded-simd.wasm"];

/** All engines of a worker share it. */
export const loadTensorflow = loadOnce(async (): Promise<Tensorflow> => {
  const [corePackage, converterPackage, wasmPackage] = tensorflowPackages;
  for (const program of programs) await readModelFile(wasmPackage, `dist/${program}`);
  const core = await importPackage<Core>(corePackage);
  const converter = await importPackage<Converter>(converterPackage);
  const backend = await importPackage<{ setWasmPaths(folder: string): void }>(wasmPackage);
  backend.setWasmPaths(`${packageFolder(wasmPackage)}/dist/`);
  if (!(await core.setBackend("wasm"))) throw new Error("TensorFlow.js could not start WebAssembly");

  async function openGraph({ name, size, channels = 3, outputs }: GraphOptions): Promise<Network> {
    const description = await readModelFile(humanPackage, `models/${name}.json`);
    const weights = await readModelFile(humanPackage, `models/${name}.bin`);
    const file = JSON.parse(new TextDecoder().decode(description.bytes)) as GraphFile;
    const model = await converter.loadGraphModel(
      core.io.fromMemory({
        modelTopology: file.modelTopology,
        signature: file.signature,
        weightSpecs: file.weightsManifest.flatMap((group) => group.weights),
        weightData: Uint8Array.from(weights.bytes).buffer,
      }),
    );
    const shape = [1, size, size, channels];
    return (input) => compute(core, () => [model.execute(core.tensor(input, shape), outputs)].flat());
  }

  return { core, openGraph };
});

/** Reads the tensors and disposes of them and of all intermediate ones. */
export function compute(core: Core, work: () => readonly Tensor[]): Float32Array[] {
  let results: Float32Array[] = [];
  core.tidy(() => {
    results = work().map((tensor) => tensor.dataSync());
  });
  return results;
}
