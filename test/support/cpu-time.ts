/** Milliseconds of processor time of this process while `run` runs: other programs do not count, however busy the machine is. */
export function cpuMillisecondsOf(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
