// The paths of a small chart without axes, as SVG draws them.

export const sparklineSize = { width: 100, height: 30 };
/** Above the highest value, and below the lowest one, so that the line is not cut off. */
const margin = { top: 3, bottom: 1 };

/** At least two values. Where a value is null, line and area have a gap. */
export function drawSparkline(values: readonly (number | null)[]): { readonly line: string; readonly area: string } {
  const { width, height } = sparklineSize;
  const highest = Math.max(...values.map((value) => value ?? 0), 0) || 1;
  const step = width / (values.length - 1);
  const base = height - margin.bottom;
  const runs: { x: string; y: string }[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (value === null) runs.push([]);
    else
      runs.at(-1)?.push({
        x: (index * step).toFixed(2),
        y: (base - (value / highest) * (base - margin.top)).toFixed(2),
      });
  }
  const lines = runs
    .filter((run) => run.length > 0)
    .map((run) => {
      // A line of one point begins and ends there: its round ends make it a dot.
      const points = run.length === 1 ? [...run, ...run] : run;
      return { path: `M${points.map(({ x, y }) => `${x} ${y}`).join("L")}`, from: run[0]?.x, to: run.at(-1)?.x };
    });
  return {
    line: lines.map(({ path }) => path).join(""),
    area: lines.map(({ path, from, to }) => `${path}L${to} ${height}L${from} ${height}Z`).join(""),
  };
}
