/** `; did you mean 'port'?`, or an empty text if no known name is similar. */
export function suggest(name: string, known: readonly string[], maxChanges?: number): string {
  const nearest = findNearest(name, known, maxChanges);
  return nearest === null ? "" : `; did you mean '${nearest}'?`;
}

/**
 * The first name that starts with the given one; otherwise the name with the smallest edit distance. Null if every name needs more than
 * `maxChanges` edits.
 */
export function findNearest(given: string, names: readonly string[], maxChanges?: number): string | null {
  // A caller chooses the name, so its length is limited.
  const name = given.slice(0, longestName);
  const longer = name === "" ? undefined : names.find((candidate) => candidate.startsWith(name));
  if (longer !== undefined) return longer;
  let nearest: string | null = null;
  // Two swapped letters are two changes.
  let least = (maxChanges ?? Math.max(2, Math.floor(name.length / 3))) + 1;
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(name, candidate);
    if (distance >= Math.min(least, Math.max(name.length, candidate.length))) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

const longestName = 64;

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] ?? 0) + (character === to[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
