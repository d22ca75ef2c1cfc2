/** Milliseconds of processor time of this process while `run` runs: other programs do not count, however busy the machine is. */
export function cpuMillisecondsOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The same for work that waits in between. The work of other tests must not run meanwhile. */
export async function cpuMillisecondsOfAsync(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
