// Finds tables that are read by a name without a guard. A name from outside may be `constructor` or `__proto__`, to which every
// object has an answer; `lookUp` reads only what the table itself holds.

const tableDeclaration = /^(?:export )?const (\w+): Readonly<(?:Partial<)?Record<string,/gm;

export async function findUnguardedTables(): Promise<string[]> {
  const found: string[] = [];
  for await (const path of new Bun.Glob("src/**/*.ts").scan()) {
    const text = await Bun.file(path).text();
    for (const [, name] of text.matchAll(tableDeclaration)) {
      const read = new RegExp(`(?<![\\w.])${name}\\[(?!["'\`])`);
      for (const [index, line] of text.split("\n").entries())
        if (read.test(line) && !line.includes(`hasOwn(${name}`))
          found.push(`${path}:${index + 1}: read \`${name}\` with lookUp (src/lib/look-up.ts), or make it a Map`);
    }
  }
  return found.toSorted();
}
