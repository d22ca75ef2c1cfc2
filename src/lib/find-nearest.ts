/** `; did you mean 'port'?`, or nothing where no known name resembles the one given. */
export function suggest(name: string, known: readonly string[], mostChanges?: number): string {
  const nearest = findNearest(name, known, mostChanges);
  return nearest === null ? "" : `; did you mean '${nearest}'?`;
}

/**
 * What the name is the beginning of, else what takes the fewest changed, added or left out characters; the first of equals. Null where
 * all take so many that another name was meant.
 */
export function findNearest(given: string, names: readonly string[], mostChanges?: number): string | null {
  // A caller chooses the name: the work for a message about it is limited.
  const name = given.slice(0, longestName);
  const longer = name === "" ? undefined : names.find((candidate) => candidate.startsWith(name));
  if (longer !== undefined) return longer;
  let nearest: string | null = null;
  // Two letters that changed places are two changes.
  let least = (mostChanges ?? Math.max(2, Math.floor(name.length / 3))) + 1;
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
