// Parses YAML and reports the place of every problem and every member, so that a message can name what to correct.

import * as yaml from "yaml";

export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface YamlFile {
  readonly value: unknown;
  /** The place of each member, by its path joined with dots: `providers.openai.api_key`. */
  readonly places: Readonly<Record<string, Place>>;
  readonly problems: readonly (Place & { readonly message: string })[];
}

/** @public Loaded with require. */
export function parseYaml(text: string): YamlFile {
  const counter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: counter, prettyErrors: false, merge: true });
  // A warning is about a tag or directive that has no effect, which the operator did not intend.
  const found = [...document.errors, ...document.warnings].toSorted((one, other) => one.pos[0] - other.pos[0]);
  const problems = found.map(({ pos, message }) => ({ ...placeAt(counter, pos[0]), message }));
  yaml.visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const message = `the anchor &${alias.source} does not exist above this line; define it or write the value`;
      problems.push({ ...placeAt(counter, alias.range?.[0] ?? 0), message });
    },
  });
  if (problems.length > 0) return { value: null, places: {}, problems };
  try {
    return { value: document.toJS(), places: findPlaces(document, counter), problems: [] };
  } catch (error) {
    // Too many aliases: a small file that would become a very large value.
    return { value: null, places: {}, problems: [{ line: 1, column: 1, message: (error as Error).message }] };
  }
}

function placeAt(counter: yaml.LineCounter, offset: number): Place {
  const { line, col } = counter.linePos(offset);
  return { line, column: col };
}

function findPlaces(document: yaml.Document.Parsed, counter: yaml.LineCounter): Record<string, Place> {
  const places: Record<string, Place> = Object.create(null);
  function note(path: string, node: unknown): void {
    const range = yaml.isScalar(node) || yaml.isMap(node) || yaml.isSeq(node) || yaml.isAlias(node) ? node.range : null;
    if (range) places[path] ??= placeAt(counter, range[0]);
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
  return places;
}
