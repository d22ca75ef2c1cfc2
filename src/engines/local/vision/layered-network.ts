// Runs networks that Keras describes as a list of layers and weights. Only the layers of our two networks are supported.

import { type Core, compute, type Network, type Tensor } from "./tensorflow.ts";

export interface LayeredFile {
  readonly modelTopology: { readonly model_config: { readonly config: { readonly layers: readonly Layer[] } } };
  readonly weightsManifest: readonly { readonly paths: readonly string[]; readonly weights: readonly WeightSpec[] }[];
}

interface WeightSpec {
  readonly name: string;
  readonly shape: readonly number[];
  /** Present: each weight is a byte, which is multiplied by the scale and added to the minimum. */
  readonly quantization?: { readonly min: number; readonly scale: number };
}

interface Layer {
  readonly name: string;
  readonly class_name: string;
  readonly config: LayerConfig;
  /** The names of its input layers, nested in two lists. */
  readonly inbound_nodes: readonly (readonly (readonly [string, ...unknown[]])[])[];
}

interface LayerConfig {
  readonly strides?: readonly [number, number];
  readonly padding?: string | readonly (readonly [number, number])[];
  readonly pool_size?: readonly [number, number];
  readonly activation?: string;
  readonly epsilon?: number;
}

interface Weight {
  readonly values: Float32Array;
  readonly shape: readonly number[];
}

type Weights = Record<string, Weight>;

interface Step {
  readonly name: string;
  readonly inputs: readonly string[];
  run(...inputs: readonly Tensor[]): Tensor;
}

const inputShape = [1, 224, 224, 3];
const identity = (input: Tensor) => input;

/** The network up to the output layer. The bytes of the weights are modified. */
export function openLayers(core: Core, file: LayeredFile, bytes: Uint8Array, outputLayer: string): Network {
  const { layers } = file.modelTopology.model_config.config;
  const steps: Step[] = [];
  const specs = file.weightsManifest.flatMap((group) => group.weights);
  const weights = readWeights(bytes, specs);
  for (const layer of layers) if (layer.class_name === "BatchNormalization") foldInto(weights, layer);
  for (const layer of layers) {
    steps.push({ name: layer.name, inputs: inputsOf(layer), run: toRun(core, weights, layer) });
    if (layer.name === outputLayer) break;
  }

  return (input) =>
    compute(core, () => {
      const done: Record<string, Tensor> = {};
      let last = core.tensor(input, inputShape);
      for (const step of steps) {
        const inputs = step.inputs.length === 0 ? [last] : step.inputs.map((name) => done[name] as Tensor);
        last = step.run(...inputs);
        done[step.name] = last;
      }
      return [last];
    });
}

function inputsOf({ inbound_nodes }: Layer): string[] {
  return (inbound_nodes[0] ?? []).map(([name]) => name);
}

function readWeights(bytes: Uint8Array, specs: readonly WeightSpec[]): Weights {
  const weights: Weights = {};
  let at = bytes.byteOffset;
  for (const { name, shape, quantization } of specs) {
    const length = shape.reduce((product, side) => product * side, 1);
    if (quantization === undefined) {
      weights[name] = { values: new Float32Array(bytes.buffer, at, length), shape };
      at += length * Float32Array.BYTES_PER_ELEMENT;
      continue;
    }
    const { min, scale } = quantization;
    const values = Float32Array.from(new Uint8Array(bytes.buffer, at, length), (step) => step * scale + min);
    weights[name] = { values, shape };
    at += length;
  }
  return weights;
}

/** Merges a normalisation, which is a factor and an offset for each channel, into the weights of the convolution before it. */
function foldInto(weights: Weights, layer: Layer): void {
  const [before = ""] = inputsOf(layer);
  const part = (name: string) => (weights[`${layer.name}/${name}`] as Weight).values;
  const [gamma, beta, mean, variance] = [part("gamma"), part("beta"), part("moving_mean"), part("moving_variance")];
  const epsilon = layer.config.epsilon ?? 0.001;
  const factors = gamma.map((value, channel) => value / Math.sqrt((variance[channel] as number) + epsilon));
  const oldBias = weights[`${before}/bias`]?.values;
  const bias = factors.map(
    (factor, channel) => (beta[channel] as number) + ((oldBias?.[channel] ?? 0) - (mean[channel] as number)) * factor,
  );
  weights[`${before}/bias`] = { values: bias, shape: [bias.length] };
  // The channels are the innermost axis, also of depthwise convolutions, which have one output per channel.
  const kernel = (weights[`${before}/kernel`] ?? weights[`${before}/depthwise_kernel`]) as Weight;
  const channels = factors.length;
  for (let index = 0; index < kernel.values.length; index++)
    kernel.values[index] = (kernel.values[index] as number) * (factors[index % channels] as number);
}

function toRun(core: Core, weights: Weights, { name, class_name, config }: Layer): Step["run"] {
  const strides = config.strides ?? [1, 1];
  const take = (kind: string) => {
    const { values, shape } = weights[`${name}/${kind}`] as Weight;
    return core.tensor(values, shape);
  };
  switch (class_name) {
    case "Conv2D":
    case "DepthwiseConv2D": {
      const isDepthwise = class_name === "DepthwiseConv2D";
      const filter = take(isDepthwise ? "depthwise_kernel" : "kernel");
      const bias = take("bias");
      const convolve = isDepthwise ? core.fused.depthwiseConv2d : core.fused.conv2d;
      const pad = String(config.padding);
      return (x) => convolve({ x: x as Tensor, filter, bias, strides, pad });
    }
    case "Dense": {
      const kernel = take("kernel");
      const bias = take("bias");
      const activate = activationOf(core, config.activation);
      return (x) => activate(core.add(core.matMul(x as Tensor, kernel), bias));
    }
    case "ZeroPadding2D": {
      const [rows = [0, 0], columns = [0, 0]] = config.padding as readonly (readonly [number, number])[];
      return (x) => core.pad(x as Tensor, [[0, 0], rows, columns, [0, 0]]);
    }
    case "MaxPooling2D":
      return (x) => core.maxPool(x as Tensor, config.pool_size ?? [2, 2], strides, String(config.padding));
    case "ReLU":
      return (x) => core.relu6(x as Tensor);
    case "Activation":
      return activationOf(core, config.activation) as Step["run"];
    case "Add":
      return (one, other) => core.add(one as Tensor, other as Tensor);
    // In both networks, the pool covers the whole input.
    case "AveragePooling2D":
    case "GlobalAveragePooling2D":
      return (x) => core.mean(x as Tensor, [1, 2]);
    case "InputLayer":
    case "BatchNormalization":
    case "Flatten":
    case "Dropout":
      return identity as Step["run"];
    default:
      throw new Error(`Layers of the kind ${class_name} are not supported`);
  }
}

function activationOf(core: Core, name = "linear"): (input: Tensor) => Tensor {
  if (name === "relu") return core.relu;
  if (name === "softmax") return core.softmax;
  if (name === "linear") return identity;
  throw new Error(`The activation ${name} is not supported`);
}
