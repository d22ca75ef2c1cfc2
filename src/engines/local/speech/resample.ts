// Mixes channels and converts the sample rate, block by block, so that an hour of sound is never in memory at the input rate.

/** Converts blocks of one or more channels to one channel at the new rate. */
export interface Resampler {
  push(channels: readonly Float32Array[]): Float32Array;
  /** The last samples, which depend on the silence after them. */
  end(): Float32Array;
}

// The zero crossings of the filter on each side. More of them make it steeper at half of the new rate.
const crossings = 16;
// The cutoff is slightly below half of the new rate, to prevent aliasing.
const passband = 0.94;

/** The rates must be integers. */
export function createResampler(from: number, to: number): Resampler {
  if (from === to) return { push: mix, end: () => new Float32Array(0) };
  const divisor = greatestDivisor(from, to);
  // The position of output sample n in the input is n * step / phases.
  const [step, phases] = [from / divisor, to / divisor];
  const reach = Math.ceil((crossings * Math.max(1, from / to)) / passband);
  const filters = designFilters(phases, reach, passband * Math.min(1, to / from));

  // There is silence before the first sample.
  let held = new Float32Array(reach);
  /** The input position of held[reach], and the index of the next output sample. */
  let heldFrom = 0;
  let due = 0;

  function convert(block: Float32Array): Float32Array {
    const input = new Float32Array(held.length + block.length);
    input.set(held);
    input.set(block, held.length);
    const until = heldFrom + input.length - 2 * reach;
    const count = Math.max(0, Math.ceil((until * phases) / step) - due);
    const output = new Float32Array(count);
    for (let index = 0; index < count; index++, due++) {
      const position = Math.floor((due * step) / phases);
      const filter = filters[(due * step) % phases] ?? new Float32Array(0);
      const start = position - heldFrom + 1;
      let sum = 0;
      for (let tap = 0; tap < filter.length; tap++) sum += (filter[tap] ?? 0) * (input[start + tap] ?? 0);
      output[index] = sum;
    }
    const next = Math.floor((due * step) / phases);
    const used = Math.max(0, Math.min(next - heldFrom, input.length));
    held = input.slice(used);
    heldFrom += used;
    return output;
  }

  return { push: (channels) => convert(mix(channels)), end: () => convert(new Float32Array(reach)) };
}

function mix(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0), ...others] = channels;
  if (others.length === 0) return first;
  return first.map((sample, index) => others.reduce((sum, one) => sum + (one[index] ?? 0), sample) / channels.length);
}

/** One filter (a sinc with a Hann window) for each position of an output between two inputs. */
function designFilters(phases: number, reach: number, cutoff: number): Float32Array[] {
  return Array.from({ length: phases }, (_, phase) => {
    const taps = Float32Array.from({ length: 2 * reach }, (_, tap) => {
      const distance = tap - reach + 1 - phase / phases;
      const angle = Math.PI * distance * cutoff;
      const sinc = distance === 0 ? 1 : Math.sin(angle) / angle;
      return sinc * (0.5 + 0.5 * Math.cos((Math.PI * distance) / (reach + 1)));
    });
    // Normalised, so that a constant input gives the same constant output.
    const sum = taps.reduce((total, tap) => total + tap, 0);
    return taps.map((tap) => tap / sum);
  });
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
