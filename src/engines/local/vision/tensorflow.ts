// Runs networks with TensorFlow.js in WebAssembly. Tensors never leave this file, so that all of them are disposed.

import { readModelFile } from "../checksums.ts";
import { importPackage, packageFolder } from "../resolve-package.ts";

export const tensorflowPackages = [
  "@tensorflow/tfjs-core",
  "@tensorflow/tfjs-converter",
  "@tensorflow/tfjs-backend-wasm",
] as const;

/** One run: a picture of the network's size in, the outputs in the order of their names out. */
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
  add(one: Tensor, other: Tensor): Tensor;
  relu(one: Tensor): Tensor;
  relu6(one: Tensor): Tensor;
  softmax(one: Tensor): Tensor;
  matMul(one: Tensor, other: Tensor): Tensor;
  mean(one: Tensor, axes: readonly number[]): Tensor;
  pad(one: Tensor, paddings: readonly (readonly number[])[]): Tensor;
  maxPool(one: Tensor, size: readonly number[], strides: readonly number[], pad: string): Tensor;
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
  loadGraphModel(source: object): Promise<GraphModel>;
}

interface GraphModel {
  execute(input: Tensor, outputs: readonly string[]): Tensor | Tensor[];
}

interface WasmBackend {
  setWasmPaths(folder: string): void;
}

interface GraphFile {
  readonly modelTopology: object;
  readonly signature?: object;
  readonly weightsManifest: readonly { readonly weights: readonly object[] }[];
}

export interface Tensorflow {
  readonly core: Core;
  /** A network that a package brings as `<path>.json` and `<path>.bin`. */
  openGraph(options: GraphOptions): Promise<Network>;
}

export interface GraphOptions {
  readonly packageName: string;
  readonly path: string;
  readonly shape: readonly number[];
  readonly outputs: readonly string[];
}

/** The one that this processor can run is chosen when it starts. */
const programs = ["tfjs-backend-wasm.wasm", "tfjs-backend-wasm-simd.wasm", "tfjs-backend-wasm-threaded-simd.wasm"];

export async function loadTensorflow(): Promise<Tensorflow> {
  const [corePackage, converterPackage, wasmPackage] = tensorflowPackages;
  for (const program of programs) await readModelFile(wasmPackage, `dist/${program}`);
  const core = await importPackage<Core>(corePackage);
  const converter = await importPackage<Converter>(converterPackage);
  const backend = await importPackage<WasmBackend>(wasmPackage);
  backend.setWasmPaths(`${packageFolder(wasmPackage)}/dist/`);
  if (!(await core.setBackend("wasm"))) throw new Error("TensorFlow.js has no WebAssembly here");

  async function openGraph({ packageName, path, shape, outputs }: GraphOptions): Promise<Network> {
    const description = await readModelFile(packageName, `${path}.json`);
    const weights = await readModelFile(packageName, `${path}.bin`);
    const file = JSON.parse(new TextDecoder().decode(description.bytes)) as GraphFile;
    const model = await converter.loadGraphModel(
      core.io.fromMemory({
        modelTopology: file.modelTopology,
        signature: file.signature,
        weightSpecs: file.weightsManifest.flatMap((group) => group.weights),
        weightData: toArrayBuffer(weights.bytes),
      }),
    );
    return (input) => compute(core, () => [model.execute(core.tensor(input, shape), outputs)].flat());
  }

  return { core, openGraph };
}

/** Reads the tensors and disposes of them and of all intermediate ones. */
export function compute(core: Core, work: () => readonly Tensor[]): Float32Array[] {
  let results: Float32Array[] = [];
  core.tidy(() => {
    results = work().map((tensor) => tensor.dataSync());
  });
  return results;
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
