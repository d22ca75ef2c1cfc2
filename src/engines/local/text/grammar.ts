// text/spell_check with grammar. The rules of Harper check the grammar. The dictionary of spell-check.ts checks the spelling, because it accepts both
// British and American English and has better suggestions. A rule may not suggest a word that is missing from the dictionary.

import { readModelFile } from "../checksums.ts";
import { importPackage } from "../resolve-package.ts";
import { mergeMistakes } from "./merge-mistakes.ts";
import { type Span, splitSentences } from "./sentences.ts";
import { loadSpellCheck, type Mistake, spellCheckPackages, toSpellCheckItems } from "./spell-check.ts";
import { createTextEngine } from "./text-engine.ts";

const harperPackage = "harper.js";

/** The parts of the package that we call. */
interface Harper {
  createBinaryModuleFromUrl(url: string, flavour: "slim"): BinaryModule;
  readonly LocalLinter: new (options: { readonly binary: BinaryModule; readonly dialect: number }) => Linter;
}

interface BinaryModule {
  setup(): Promise<void>;
}

interface Linter {
  getDefaultLintConfig(): Promise<Record<string, boolean | null>>;
  setLintConfig(rules: Record<string, boolean | null>): Promise<void>;
  lint(text: string, options: { readonly language: "plaintext" }): Promise<Lint[]>;
}

interface Lint {
  /** In UTF-16 units. */
  span(): { readonly start: number; readonly end: number; free(): void };
  lint_kind(): string;
  suggestions(): { kind(): number; get_replacement_text(): string; free(): void }[];
  free(): void;
}

type FindMistakes = (text: string) => Promise<Mistake[]>;

interface Part extends Span {
  readonly beginsWithinSentence: boolean;
}

const americanDialect = 0;
/** The package's numbers of the other dialects. */
const dialects: readonly (readonly [RegExp, number])[] = [
  [/-(?:GB|IE|NZ|ZA)\b/i, 1],
  [/-AU\b/i, 2],
  [/-CA\b/i, 3],
  [/-IN\b/i, 4],
];
/** Matters of style, and spelling, which the dictionary checks. */
const ignoredKinds = new Set(["Enhancement", "Readability", "Redundancy", "Regionalism", "Spelling", "Style"]);
/** The package drops mistakes that overlap another one, so `LongSentences` would hide all mistakes in a sentence of more than 40 words. */
const disabledRules = { SpellCheck: false, LongSentences: false };
/** The package's numbers of two kinds of suggestions. The other kind replaces the text. */
const [remove, insertAfter] = [1, 2];
// In the worst case, the time of a call grows with the square of the length of its text. No rule looks beyond a sentence.
const charactersPerCall = 2_000;
// The rules expect words, and a run of this length is not a word.
const longRun = /\S{80,}/gu;

export const grammar = createTextEngine({
  task: "text/spell_check",
  packages: [harperPackage, ...spellCheckPackages],
  group: "grammar",
  timeLimit: "media",
  lane: "heavy",
  models: ["harper"],
  englishOnly: "checks",
  maxCharacters: 50_000,
  async load() {
    const { findMisspellings, keepsSpelling } = await loadSpellCheck();
    const createLinter = await loadHarper();
    const linters = new Map<number, FindMistakes>();

    return async (text, { input }) => {
      const misspellings = findMisspellings(text);
      const mistakes = await checkGrammar(text, toDialect(input.language));
      const all = mergeMistakes(misspellings, mistakes.flatMap(dropMisspeltSuggestions));
      return {
        output: { text, items: toSpellCheckItems(text, all) },
        original: { engine: "harper.js, nspell, dictionary-en" },
      };
    };

    /** Drops the mistake if all suggestions are misspelt, because the rule has then probably misread the sentence. */
    function dropMisspeltSuggestions(mistake: Mistake): Mistake[] {
      const suggestions = mistake.suggestions.filter(({ suggestion }) => keepsSpelling(mistake.text, suggestion));
      return suggestions.length === 0 && mistake.suggestions.length > 0 ? [] : [{ ...mistake, suggestions }];
    }

    async function checkGrammar(text: string, dialect: number): Promise<Mistake[]> {
      try {
        const findMistakes = linters.get(dialect) ?? (await createLinter(dialect));
        linters.set(dialect, findMistakes);
        return await findMistakes(text);
      } catch (error) {
        // The WebAssembly module is unusable after a trap and cannot be loaded twice, so the next call needs a new process.
        console.error(error);
        process.exit(1);
      }
    }
  },
});

/** Returns a function that creates the linter of a dialect. All linters share one WebAssembly module. */
async function loadHarper(): Promise<(dialect: number) => Promise<FindMistakes>> {
  const { LocalLinter, createBinaryModuleFromUrl } = await importPackage<Harper>(harperPackage);
  const { bytes } = await readModelFile(harperPackage, "dist/harper_wasm_slim_bg.wasm");
  // The URL refers to the verified bytes in memory, so the package reads neither a file nor the network.
  // The cast excludes shared memory, which `Blob` does not accept and `readFile` does not allocate.
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/wasm" }));
  const binary = createBinaryModuleFromUrl(url, "slim");
  await binary.setup();
  URL.revokeObjectURL(url);

  return async (dialect) => {
    const linter = new LocalLinter({ binary, dialect });
    await linter.setLintConfig({ ...(await linter.getDefaultLintConfig()), ...disabledRules });
    return async (text) => {
      const mistakes: Mistake[] = [];
      for (const part of splitText(text)) {
        for (const lint of await linter.lint(part.text, { language: "plaintext" })) {
          const mistake = toMistake(lint, text, part);
          // Lints are allocated in the memory of the WebAssembly module, which is not garbage-collected.
          lint.free();
          if (mistake !== null && !isAtSplit(mistake, part)) mistakes.push(mistake);
        }
      }
      return mistakes;
    };
  };
}

/** Each part has as many sentences as fit into a call. Longer sentences are split between words, and long runs are replaced by spaces. */
function splitText(text: string): Part[] {
  const blanked = text.replace(longRun, (run) => " ".repeat(run.length));
  const parts: Part[] = [];
  let nextStart = 0;
  const addParts = (end: number) => {
    for (let start = nextStart; start < end; ) {
      const rest = blanked.slice(start, end);
      const part = rest.length > charactersPerCall ? dropLastWord(rest.slice(0, charactersPerCall)) : rest;
      parts.push({ text: part, start, beginsWithinSentence: start > nextStart });
      start += part.length;
    }
    nextStart = end;
  };
  for (const sentence of splitSentences(blanked))
    if (sentence.start + sentence.text.length - nextStart > charactersPerCall) addParts(sentence.start);
  addParts(blanked.length);
  return parts;
}

/** The last word may be incomplete. There is a space before it, because long runs have been replaced. */
function dropLastWord(text: string): string {
  return text.slice(0, text.search(/\S*$/));
}

/** The rules take the first word of a part for the start of a sentence, and would demand a capital letter or a comma. */
function isAtSplit({ start }: Mistake, part: Part): boolean {
  return part.beginsWithinSentence && start <= part.start + part.text.search(/\p{L}/u);
}

function toMistake(lint: Lint, text: string, part: Part): Mistake | null {
  const type = lint.lint_kind();
  const span = lint.span();
  const checked = part.text.slice(span.start, span.end);
  const [start, end] = [part.start + span.start, part.start + span.end];
  span.free();
  const wrong = text.slice(start, end);
  // Spaces are a matter of layout. A span that differs from the text contains spaces that replaced a long run.
  if (ignoredKinds.has(type) || wrong.trim() === "" || checked !== wrong) return null;
  const suggestions = lint.suggestions().map((suggestion) => {
    const [kind, replacement] = [suggestion.kind(), suggestion.get_replacement_text()];
    suggestion.free();
    if (kind === remove) return { suggestion: "", score: null };
    return { suggestion: kind === insertAfter ? wrong + replacement : replacement, score: null };
  });
  return { text: wrong, type, start, suggestions };
}

function toDialect(language: string | null): number {
  const tag = language?.replace("_", "-") ?? "";
  return dialects.find(([region]) => region.test(tag))?.[1] ?? americanDialect;
}
