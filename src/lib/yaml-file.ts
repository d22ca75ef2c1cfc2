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
  /** In the order of their positions. */
  readonly problems: readonly YamlProblem[];
}

export function parseYaml(text: string): YamlFile {
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const problems = [
    ...listSyntaxProblems(document, text),
    ...listAliasProblems(document),
    ...listMergeProblems(document),
  ]
    .toSorted((one, other) => one.offset - other.offset)
    .map(({ offset, message }) => ({ ...toPosition(lines, offset), message }));
  if (problems.length > 0) return { value: null, positions: {}, problems };
  try {
    return { value: document.toJS(), positions: findPositions(document, lines), problems: [] };
  } catch (error) {
    // The library stops a small file that would become a very large value with a ReferenceError, which has no position.
    if (!(error instanceof ReferenceError)) throw error;
    const message = "the aliases (*) of this file would expand to too large a value; write some of the values";
    return { value: null, positions: {}, problems: [{ line: 1, column: 1, message }] };
  }
}

interface Finding {
  readonly offset: number;
  readonly message: string;
}

function listSyntaxProblems({ errors, warnings }: yaml.Document.Parsed, text: string): Finding[] {
  // A warning is about a tag or directive that has no effect, or about an ambiguous anchor or alias. The operator intended none of these.
  return [...errors, ...warnings].map(({ pos: [offset], message }) => ({
    offset,
    message: explainVariable(text, offset) ?? message,
  }));
}

/** Between braces or brackets, the brace of `${NAME}` begins a map. */
function explainVariable(text: string, offset: number): string | null {
  const [variable] = /^\$\{[^{}\s]*\}/.exec(text.slice(Math.max(0, offset - 1))) ?? [];
  return variable === undefined ? null : `inside { } and [ ], a variable needs quotation marks: "${variable}"`;
}

function listAliasProblems(document: yaml.Document.Parsed): Finding[] {
  const findings: Finding[] = [];
  yaml.visit(document, {
    Alias(_, alias, ancestors) {
      const offset = alias.range?.[0] ?? 0;
      const anchored = alias.resolve(document);
      if (anchored === undefined) {
        const message = `the anchor &${alias.source} does not exist above this line; define it or write the value`;
        findings.push({ offset, message });
      } else if (ancestors.includes(anchored)) {
        const message = `the alias *${alias.source} is inside its own anchor, so the value would never end; write the value`;
        findings.push({ offset, message });
      }
    },
  });
  return findings;
}

/** A merge key (`<<`) adds the members of a map, or of several maps. */
function listMergeProblems(document: yaml.Document.Parsed): Finding[] {
  const findings: Finding[] = [];
  const isMap = (node: unknown) => yaml.isMap(yaml.isAlias(node) ? node.resolve(document) : node);
  yaml.visit(document, {
    Pair(_, { key, value }) {
      // The library reads a plain `<<` as a symbol, and a quoted one as text.
      if (!yaml.isScalar(key) || typeof key.value !== "symbol") return;
      const isValid = yaml.isSeq(value) ? value.items.every(isMap) : isMap(value);
      const message = "the value of << should be a map, or an alias (*) of one";
      if (!isValid) findings.push({ offset: key.range?.[0] ?? 0, message });
    },
  });
  return findings;
}

function toPosition(lines: yaml.LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

function findPositions(document: yaml.Document.Parsed, lines: yaml.LineCounter): Record<string, Position> {
  // Without a prototype, because a member of the file may be named `__proto__` or `constructor`.
  const positions: Record<string, Position> = Object.create(null);
  function note(path: string, node: unknown): void {
    const range = yaml.isNode(node) ? node.range : null;
    // The first one counts: a member named `a.b` has the same path as the member `b` of `a`.
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
