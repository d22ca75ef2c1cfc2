// Sound at another rate, and one channel of it. Works on a stream of blocks, so that an hour of it never stands in memory whole.

/** Takes blocks of one or more channels and writes what they sound like at the other rate. */
export interface Resampler {
  push(channels: readonly Float32Array[]): Float32Array;
  /** What was held back for the sake of its neighbours. */
  end(): Float32Array;
}

// So many zero crossings of the filter on each side: the more, the sharper it cuts at the highest tone that the new rate can hold.
const crossings = 16;
// The filter begins to cut a little below that tone, so that nothing above it comes back as a lower one.
const passed = 0.94;

/** Rates are whole numbers of samples a second. */
export function createResampler(from: number, to: number): Resampler {
  if (from === to) return { push: mix, end: () => new Float32Array(0) };
  const divisor = greatestDivisor(from, to);
  // Output sample n stands at input place n * step / phases.
  const [step, phases] = [from / divisor, to / divisor];
  const reach = Math.ceil((crossings * Math.max(1, from / to)) / passed);
  const filters = designFilters(phases, reach, passed * Math.min(1, to / from));

  // Before the first sample there was silence.
  let held = new Float32Array(reach);
  /** The input place that held[reach] stands at, and the output that is due next. */
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
      const place = Math.floor((due * step) / phases);
      const filter = filters[(due * step) % phases] ?? new Float32Array(0);
      const start = place - heldFrom + 1;
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

/** One filter for each place that an output can have between two inputs: a sinc under a Hann window. */
function designFilters(phases: number, reach: number, cutoff: number): Float32Array[] {
  return Array.from({ length: phases }, (_, phase) => {
    const taps = Float32Array.from({ length: 2 * reach }, (_, tap) => {
      const distance = tap - reach + 1 - phase / phases;
      const angle = Math.PI * distance * cutoff;
      const sinc = distance === 0 ? 1 : Math.sin(angle) / angle;
      return sinc * (0.5 + 0.5 * Math.cos((Math.PI * distance) / (reach + 1)));
    });
    // A constant stays that constant.
    const sum = taps.reduce((total, tap) => total + tap, 0);
    return taps.map((tap) => tap / sum);
  });
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
