// Runs neural models: one native library for all groups, in engines/onnx.

import { readModelFile } from "./checksums.ts";
import { importPackage } from "./resolve-package.ts";

/** What an engine whose models run here must list among its packages. */
export const onnxPackage = "onnxruntime-node";

export interface Tensor {
  readonly type: string;
  readonly data: unknown;
  readonly dims: readonly number[];
}

export interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Only the outputs that are named, where any are: each one costs a copy. */
  run(feeds: Readonly<Record<string, Tensor>>, outputs?: readonly string[]): Promise<Readonly<Record<string, Tensor>>>;
  release(): Promise<void>;
}

export interface Onnx {
  floats(data: Float32Array, dims: readonly number[]): Tensor;
  /** As 64-bit integers. */
  integers(data: readonly number[], dims: readonly number[]): Tensor;
  booleans(data: readonly boolean[], dims: readonly number[]): Tensor;
  /** A model file of a package, checked before it is given to the library. */
  open(packageName: string, path: string): Promise<Session>;
}

/** The parts of the package that we call. */
interface OnnxPackage {
  readonly env: { logLevel: string };
  readonly InferenceSession: { create(model: Uint8Array, options: SessionOptions): Promise<Session> };
  readonly Tensor: new (
    type: string,
    data: Float32Array | BigInt64Array | Uint8Array,
    dims: readonly number[],
  ) => Tensor;
}

interface SessionOptions {
  readonly executionProviders: readonly ["cpu"];
  readonly intraOpNumThreads: number;
  readonly interOpNumThreads: number;
  readonly logSeverityLevel: number;
}

// Jobs run side by side in workers, so one job takes one core. Only errors are said.
const sessionOptions: SessionOptions = {
  executionProviders: ["cpu"],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
};

export async function loadOnnx(): Promise<Onnx> {
  for (const file of nativeFiles()) await readModelFile(onnxPackage, file);
  const { InferenceSession, Tensor, env } = await importPackage<OnnxPackage>(onnxPackage);
  env.logLevel = "error";
  return {
    floats: (data, dims) => new Tensor("float32", data, dims),
    integers: (data, dims) => new Tensor("int64", BigInt64Array.from(data, BigInt), dims),
    booleans: (data, dims) => new Tensor("bool", Uint8Array.from(data, Number), dims),
    async open(packageName, path) {
      const { bytes } = await readModelFile(packageName, path);
      return InferenceSession.create(bytes, sessionOptions);
    },
  };
}

/** The library of this machine: what Node loads is compared too, not only what it computes with. */
function nativeFiles(): string[] {
  const folder = `bin/napi-v6/${process.platform}/${process.arch}`;
  const library: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
    linux: "libonnxruntime.so.1",
    darwin: "libonnxruntime.1.dylib",
    win32: "onnxruntime.dll",
  };
  return [`${folder}/onnxruntime_binding.node`, `${folder}/${library[process.platform] ?? "onnxruntime"}`];
}
