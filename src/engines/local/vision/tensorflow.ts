// Runs networks with TensorFlow.js in WebAssembly. A network runs within `compute`, which disposes of its tensors.

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

/** Takes a picture of the network's input size, and returns one array for each output of the network. */
export type Network = (input: Float32Array) => Float32Array[];

// The following interfaces declare the parts of the packages that we call.

export interface Tensor {
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

/** The parts of a model file that we read. */
interface GraphFile {
  readonly modelTopology: object;
  readonly signature?: object;
  readonly weightsManifest: readonly { readonly weights: readonly object[] }[];
}

interface Tensorflow {
  readonly core: Core;
  /** Loads a network of the package Human. */
  openGraph(options: GraphOptions): Promise<Network>;
}

interface GraphOptions {
  /** The files in the folder `models` have this name and the extensions .json and .bin. */
  readonly name: string;
  /** The width and the height of the input, in pixels. */
  readonly size: number;
  /** Colour channels of the input. Default: 3. */
  readonly channels?: number;
  /** The names of the output nodes. The network returns their values in this order. */
  readonly outputs: readonly string[];
}

/** Builds of the WebAssembly backend. TensorFlow.js chooses the one that the processor supports. */
const wasmFiles = ["tfjs-backend-wasm.wasm", "tfjs-backend-wasm-simd.wasm", "tfjs-backend-wasm-threaded-simd.wasm"];

/** All engines of a worker share one instance. */
export const loadTensorflow = loadOnce(async (): Promise<Tensorflow> => {
  const [corePackage, converterPackage, wasmPackage] = tensorflowPackages;
  // This only verifies the checksums. TensorFlow.js reads the chosen file itself.
  for (const file of wasmFiles) await readModelFile(wasmPackage, `dist/${file}`);
  const core = await importPackage<Core>(corePackage);
  const converter = await importPackage<Converter>(converterPackage);
  const backend = await importPackage<{ setWasmPaths(folder: string): void }>(wasmPackage);
  backend.setWasmPaths(`${packageFolder(wasmPackage)}/dist/`);
  if (!(await core.setBackend("wasm"))) throw new Error("TensorFlow.js could not start its WebAssembly backend");

  async function openGraph({ name, size, channels = 3, outputs }: GraphOptions): Promise<Network> {
    const description = await readModelFile(humanPackage, `models/${name}.json`);
    const weights = await readModelFile(humanPackage, `models/${name}.bin`);
    const file = JSON.parse(new TextDecoder().decode(description.bytes)) as GraphFile;
    const model = await converter.loadGraphModel(
      core.io.fromMemory({
        modelTopology: file.modelTopology,
        signature: file.signature,
        weightSpecs: file.weightsManifest.flatMap((group) => group.weights),
        // A copy, because the bytes may be a view of a larger buffer.
        weightData: Uint8Array.from(weights.bytes).buffer,
      }),
    );
    const shape = [1, size, size, channels];
    return (input) => compute(core, () => [model.execute(core.tensor(input, shape), outputs)].flat());
  }

  return { core, openGraph };
});

/** The values of the tensors that `work` returns. Disposes of these and of all intermediate tensors. */
export function compute(core: Core, work: () => readonly Tensor[]): Float32Array[] {
  let results: Float32Array[] = [];
  // `tidy` would search a returned array for tensors, value by value.
  core.tidy(() => {
    results = work().map((tensor) => tensor.dataSync());
  });
  return results;
}
