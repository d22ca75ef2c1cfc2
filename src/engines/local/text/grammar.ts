// text/spell_check with grammar by Harper's rules. The spelling is checked by our own dictionary, which knows British and American English and
// has better suggestions: its findings are the same as without the rules, and no rule may replace a word by one that the dictionary does not have.

import { readModelFile } from "../checksums.ts";
import { importPackage } from "../resolve-package.ts";
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
  message(): string;
  suggestions(): { kind(): number; get_replacement_text(): string; free(): void }[];
  free(): void;
}

type FindMistakes = (text: string) => Promise<Mistake[]>;

/** The numbers of the package's dialects; American is 0. */
const dialects: readonly (readonly [RegExp, number])[] = [
  [/-(?:GB|IE|NZ|ZA)\b/i, 1],
  [/-AU\b/i, 2],
  [/-CA\b/i, 3],
  [/-IN\b/i, 4],
];
/** Matters of style, and spelling, which our own dictionary checks. */
const ignoredKinds = new Set(["Enhancement", "Readability", "Redundancy", "Regionalism", "Spelling", "Style"]);
/** The package's numbers of two kinds of suggestions. All others replace the text. */
const [remove, insertAfter] = [1, 2];
// In the worst case, the time grows with the square of the length of one call. No rule looks further than a sentence.
const charactersPerCall = 2_000;
// The rules were made for words, and a run of this length is not a word.
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
      const found = await check(text, dialectOf(input.language));
      const mistakes = found.flatMap((mistake) => withRightSpelling(mistake));
      const all = [
        ...misspellings.map((one) => addSuggestions(one, mistakes)),
        ...mistakes.filter((one) => !misspellings.some((other) => overlap(one, other))),
      ].sort((a, b) => a.start - b.start);
      return {
        output: { text, items: toSpellCheckItems(text, all) },
        original: { engine: "harper.js, nspell, dictionary-en" },
      };
    };

    /** Without a suggestion that is spelt correctly, the rule has probably misread the sentence. */
    function withRightSpelling(mistake: Mistake): Mistake[] {
      const suggestions = mistake.suggestions.filter(({ suggestion }) => keepsSpelling(mistake.text, suggestion));
      return suggestions.length === 0 && mistake.suggestions.length > 0 ? [] : [{ ...mistake, suggestions }];
    }

    async function check(text: string, dialect: number): Promise<Mistake[]> {
      const findMistakes = linters.get(dialect) ?? (await createLinter(dialect));
      linters.set(dialect, findMistakes);
      try {
        return await findMistakes(text);
      } catch (error) {
        // The WebAssembly module is unusable after a trap and cannot be loaded twice, so the next call needs a new process.
        console.error(error);
        process.exit(1);
      }
    }
  },
});

/** One copy of the rules serves all dialects. */
async function loadHarper(): Promise<(dialect: number) => Promise<FindMistakes>> {
  const { LocalLinter, createBinaryModuleFromUrl } = await importPackage<Harper>(harperPackage);
  const { bytes } = await readModelFile(harperPackage, "dist/harper_wasm_slim_bg.wasm");
  // The URL refers to the verified bytes in memory, so the package reads neither a file nor the network.
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/wasm" }));
  const binary = createBinaryModuleFromUrl(url, "slim");
  await binary.setup();
  URL.revokeObjectURL(url);

  return async (dialect) => {
    const linter = new LocalLinter({ binary, dialect });
    await linter.setLintConfig({ ...(await linter.getDefaultLintConfig()), SpellCheck: false });
    return async (text) => {
      const mistakes: Mistake[] = [];
      for (const part of splitText(text)) {
        for (const lint of await linter.lint(part.text, { language: "plaintext" })) {
          const mistake = toMistake(lint, text, part.start);
          // It is allocated in the memory of the module, which is not garbage-collected.
          lint.free();
          if (mistake !== null) mistakes.push(mistake);
        }
      }
      return mistakes;
    };
  };
}

/** As many sentences per call as fit. Long runs without a space are replaced by spaces. */
function splitText(text: string): Span[] {
  const blanked = text.replace(longRun, (run) => " ".repeat(run.length));
  const parts: Span[] = [];
  let start = 0;
  const close = (end: number) => {
    for (let at = start; at < end; at += charactersPerCall)
      parts.push({ text: blanked.slice(at, Math.min(end, at + charactersPerCall)), start: at });
    start = end;
  };
  for (const sentence of splitSentences(blanked))
    if (sentence.start + sentence.text.length - start > charactersPerCall) close(sentence.start);
  close(blanked.length);
  return parts;
}

function toMistake(lint: Lint, text: string, partStart: number): Mistake | null {
  const type = lint.lint_kind();
  const span = lint.span();
  const [start, end] = [partStart + span.start, partStart + span.end];
  span.free();
  const wrong = text.slice(start, end);
  if (ignoredKinds.has(type) || wrong.trim() === "") return null;
  const suggestions = lint.suggestions().map((one) => {
    const [kind, replacement] = [one.kind(), one.get_replacement_text()];
    one.free();
    if (kind === remove) return { suggestion: "", score: null };
    return { suggestion: kind === insertAfter ? wrong + replacement : replacement, score: null };
  });
  return { text: wrong, type, start, suggestions };
}

function dialectOf(language: string | null): number {
  return dialects.find(([tag]) => tag.test((language ?? "").replace("_", "-")))?.[1] ?? 0;
}

/** The suggestions of a rule for the same words follow those of the dictionary. */
function addSuggestions(misspelling: Mistake, mistakes: readonly Mistake[]): Mistake {
  const same = mistakes.filter(({ start, text }) => start === misspelling.start && text === misspelling.text);
  const known = new Set(misspelling.suggestions.map(({ suggestion }) => suggestion));
  const others = same.flatMap(({ suggestions }) => suggestions).filter(({ suggestion }) => !known.has(suggestion));
  return { ...misspelling, suggestions: [...misspelling.suggestions, ...others] };
}

function overlap(a: Mistake, b: Mistake): boolean {
  return a.start < b.start + b.text.length && b.start < a.start + a.text.length;
}
