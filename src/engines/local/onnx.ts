// Runs neural models with ONNX Runtime, a native library in engines/onnx that several groups share.

import { readModelFile } from "./checksums.ts";
import { importPackage } from "./resolve-package.ts";

/** Engines with ONNX models must list it among their packages. */
export const onnxPackage = "onnxruntime-node";

export interface Tensor {
  readonly type: string;
  readonly data: unknown;
  readonly dims: readonly number[];
}

export interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Returns the named outputs, or all of them. Each output is copied. */
  run(feeds: Readonly<Record<string, Tensor>>, outputs?: readonly string[]): Promise<Readonly<Record<string, Tensor>>>;
  release(): Promise<void>;
}

export interface Onnx {
  floats(data: Float32Array, dims: readonly number[]): Tensor;
  /** As 64-bit integers. */
  integers(data: readonly number[], dims: readonly number[]): Tensor;
  booleans(data: readonly boolean[], dims: readonly number[]): Tensor;
  /** Opens a model file of a package after verifying its checksum. */
  open(packageName: string, path: string): Promise<Session>;
  /** Opens a model whose checksum has been verified, for inputs of many sizes: its memory is freed after each run. */
  openBytes(model: Uint8Array): Promise<Session>;
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

// One thread, because jobs run in parallel workers. Only errors are logged.
const sessionOptions = {
  executionProviders: ["cpu"],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
};

// The arena keeps the memory of the largest input: a gigabyte after a page, instead of 0.2.
const thriftyOptions = { ...sessionOptions, enableCpuMemArena: false };

type SessionOptions = typeof sessionOptions | typeof thriftyOptions;

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
    openBytes: (model) => InferenceSession.create(model, thriftyOptions),
  };
}

/** The native files for this platform. Their checksums are verified like those of models. */
function nativeFiles(): string[] {
  const folder = `bin/napi-v6/${process.platform}/${process.arch}`;
  const library: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
    linux: "libonnxruntime.so.1",
    darwin: "libonnxruntime.1.dylib",
    win32: "onnxruntime.dll",
  };
  return [`${folder}/onnxruntime_binding.node`, `${folder}/${library[process.platform] ?? "onnxruntime"}`];
}
