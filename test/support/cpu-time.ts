// Processor time of this process: other programs do not count. It is still no exact measure, because compilation, collection of
// garbage and a host that takes the processor away count as well. So a check measures again before it fails, and uses the
// smallest time of all measurements.

const attempts = 6;

/** Milliseconds of processor time while `run` runs. The work of other tests must not run meanwhile. */
async function cpuMsOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The smallest time of several runs, in milliseconds. It stops at the first run that takes less than `enoughMs`. */
export async function leastCpuMs(run: () => unknown, enoughMs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && least >= enoughMs; attempt++) least = Math.min(least, await cpuMsOf(run));
  return least;
}

export interface Growth {
  /** The work on an input of a length. The input is made before the clock starts. */
  prepare(length: number): () => unknown;
  length: number;
  /** How many times as long the longer input is. */
  factor: number;
  /** The growth that the test accepts. */
  most: number;
  /** Below this, the time says more about the runtime than about the work. */
  negligibleMs: number;
}

/** How many times as long the longer input takes; 0 if it takes a negligible time. */
export async function measureGrowth({ prepare, length, factor, most, negligibleMs }: Growth): Promise<number> {
  const [short, long] = [prepare(length), prepare(factor * length)];
  let [leastShort, leastLong] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < attempts; attempt++) {
    leastLong = Math.min(leastLong, await cpuMsOf(long));
    if (leastLong < negligibleMs) return 0;
    leastShort = Math.min(leastShort, await cpuMsOf(short));
    if (leastLong / leastShort <= most) break;
  }
  return leastLong / leastShort;
}
