// Parses YAML and reports the line of every problem and every member, so that a message can name the line to correct.

import * as yaml from "yaml";

export interface YamlFile {
  readonly value: unknown;
  /** The line of each member, by its path joined with dots: `providers.openai.api_key`. */
  readonly lines: Readonly<Record<string, number>>;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
}

/** @public Loaded with require. */
export function parseYaml(text: string): YamlFile {
  const counter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: counter, prettyErrors: false, merge: true });
  // A warning is about a tag or directive that has no effect, which the operator did not intend.
  const found = [...document.errors, ...document.warnings].toSorted((one, other) => one.pos[0] - other.pos[0]);
  const problems = found.map(({ pos, message }) => ({ line: counter.linePos(pos[0]).line, message }));
  yaml.visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const message = `the anchor &${alias.source} does not exist above this line; define it or write the value`;
      problems.push({ line: counter.linePos(alias.range?.[0] ?? 0).line, message });
    },
  });
  if (problems.length > 0) return { value: null, lines: {}, problems };
  try {
    return { value: document.toJS(), lines: findLines(document, counter), problems: [] };
  } catch (error) {
    // Too many aliases: a small file that would become a very large value.
    return { value: null, lines: {}, problems: [{ line: 1, message: (error as Error).message }] };
  }
}

function findLines(document: yaml.Document.Parsed, counter: yaml.LineCounter): Record<string, number> {
  const lines: Record<string, number> = Object.create(null);
  function note(path: string, node: unknown): void {
    const range = yaml.isScalar(node) || yaml.isMap(node) || yaml.isSeq(node) || yaml.isAlias(node) ? node.range : null;
    if (range) lines[path] ??= counter.linePos(range[0]).line;
  }
  function walk(node: yaml.Node | null, parent: string): void {
    const prefix = parent === "" ? "" : `${parent}.`;
    if (yaml.isMap(node)) {
      for (const pair of node.items) {
        if (!yaml.isPair(pair) || !yaml.isScalar(pair.key)) continue;
        const path = `${prefix}${String(pair.key.value)}`;
        note(path, pair.key);
        walk(pair.value as yaml.Node | null, path);
      }
    } else if (yaml.isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        note(`${prefix}${index}`, item);
        walk(item as yaml.Node | null, `${prefix}${index}`);
      }
    }
  }
  walk(document.contents, "");
  return lines;
}
