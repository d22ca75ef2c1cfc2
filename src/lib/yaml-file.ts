// Parses YAML, and reports the position of every problem and every member, so that a message can name the line to correct.

import * as yaml from "yaml";

/** Both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

interface YamlProblem extends Position {
  readonly message: string;
}

export interface YamlFile {
  /** Null when there are problems. */
  readonly value: unknown;
  /** The position of each member, by its path: `providers.openai.api_key`. */
  readonly positions: Readonly<Record<string, Position>>;
  readonly problems: readonly YamlProblem[];
}

export function parseYaml(text: string): YamlFile {
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const problems = [...listSyntaxProblems(document, lines), ...listUnknownAnchors(document, lines)];
  if (problems.length > 0) return { value: null, positions: {}, problems };
  try {
    return { value: document.toJS(), positions: findPositions(document, lines), problems: [] };
  } catch (error) {
    // Too many aliases (a small file that would become a very large value), or a merge key (<<) whose value is not a map.
    return { value: null, positions: {}, problems: [{ line: 1, column: 1, message: (error as Error).message }] };
  }
}

function listSyntaxProblems({ errors, warnings }: yaml.Document.Parsed, lines: yaml.LineCounter): YamlProblem[] {
  // A warning is about a tag or directive that has no effect, or about an ambiguous anchor or alias. The operator intended none of these.
  return [...errors, ...warnings]
    .toSorted((one, other) => one.pos[0] - other.pos[0])
    .map(({ pos, message }) => ({ ...toPosition(lines, pos[0]), message }));
}

function listUnknownAnchors(document: yaml.Document.Parsed, lines: yaml.LineCounter): YamlProblem[] {
  const problems: YamlProblem[] = [];
  yaml.visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const message = `the anchor &${alias.source} does not exist above this line; define it or write the value`;
      problems.push({ ...toPosition(lines, alias.range?.[0] ?? 0), message });
    },
  });
  return problems;
}

function findPositions(document: yaml.Document.Parsed, lines: yaml.LineCounter): Record<string, Position> {
  // Without a prototype, because a member of the file may be named `__proto__` or `constructor`.
  const positions: Record<string, Position> = Object.create(null);
  function note(path: string, node: unknown): void {
    const range = yaml.isNode(node) ? node.range : null;
    if (range) positions[path] ??= toPosition(lines, range[0]);
  }
  function walk(node: unknown, parent: string): void {
    const prefix = parent === "" ? "" : `${parent}.`;
    if (yaml.isMap(node)) {
      for (const { key, value } of node.items) {
        if (!yaml.isScalar(key)) continue;
        const path = `${prefix}${String(key.value)}`;
        note(path, key);
        walk(value, path);
      }
    } else if (yaml.isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        const path = `${prefix}${index}`;
        note(path, item);
        walk(item, path);
      }
    }
  }
  walk(document.contents, "");
  return positions;
}

function toPosition(lines: yaml.LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
