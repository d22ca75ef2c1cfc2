// Grammar by Harper's rules, spelling by our own dictionary, which knows both spellings of English and suggests better.

import { readModelFile } from "../checksums.ts";
import type { LocalEngine } from "../local-engine.ts";
import { importPackage } from "../resolve-package.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";
import { splitSentences } from "./sentences.ts";
import { loadSpellCheck, type Mistake, spellCheckPackages, toMistake, toSpellCheckItems } from "./spell-check.ts";

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

/** How English is written where; American when it is not said. */
const dialects: readonly (readonly [RegExp, number])[] = [
  [/-(?:GB|IE|NZ|ZA)\b/i, 1],
  [/-AU\b/i, 2],
  [/-CA\b/i, 3],
  [/-IN\b/i, 4],
];
/** Matters of taste, and what our own dictionary does. */
const notMistakes: ReadonlySet<string> = new Set([
  "Enhancement",
  "Readability",
  "Redundancy",
  "Regionalism",
  "Spelling",
  "Style",
]);
/** Replace with, take away, put behind: as the package numbers them. */
const [remove, insertAfter] = [1, 2];
const mostCharacters = 50_000;
// Its time grows with the square of what it is given at once in the worst case, and no rule looks further than a sentence.
const charactersAtOnce = 2_000;
// Its rules were made for words; what is longer is none.
const endlessWord = /\S{80,}/gu;

export const engine: LocalEngine = {
  task: "text/spell_check",
  packages: [harperPackage, ...spellCheckPackages],
  group: "grammar",
  timeLimit: "media",
  models: ["harper"],
  async load() {
    const detect = await loadLanguageDetector();
    const findMisspellings = await loadSpellCheck();
    const createLinter = await loadHarper();
    const linters = new Map<number, FindMistakes>();

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "checks");
      const text = textOf(input);
      refuseLonger(text, mostCharacters);
      const grammar = await check(text, dialectOf(input["language"]));
      const spelling = findMisspellings(text).map(toMistake);
      // What a rule of grammar says of a word is said with more knowledge of the words around it.
      const others = spelling.filter((one) => !grammar.some((other) => overlap(one, other)));
      const mistakes = [...grammar, ...others].sort((a, b) => a.start - b.start);
      return {
        output: { text, items: toSpellCheckItems(text, mistakes) },
        original: { engine: "harper.js, nspell, dictionary-en" },
        units: { char: text.length },
      };
    };

    async function check(text: string, dialect: number): Promise<Mistake[]> {
      const linter = linters.get(dialect) ?? (await createLinter(dialect));
      linters.set(dialect, linter);
      try {
        return await linter(text);
      } catch (error) {
        // Its WebAssembly gave up, is of no use any more and cannot be loaded twice: the next call gets a new process.
        console.error(error);
        process.exit(1);
      }
    }
  },
};

/** One copy of the rules serves all dialects. */
async function loadHarper(): Promise<(dialect: number) => Promise<FindMistakes>> {
  const { LocalLinter, createBinaryModuleFromUrl } = await importPackage<Harper>(harperPackage);
  const { bytes } = await readModelFile(harperPackage, "dist/harper_wasm_slim_bg.wasm");
  // From memory: the bytes that were compared, and no way to a file or to the network.
  const address = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/wasm" }));
  const binary = createBinaryModuleFromUrl(address, "slim");
  await binary.setup();
  URL.revokeObjectURL(address);

  return async (dialect) => {
    const linter = new LocalLinter({ binary, dialect });
    await linter.setLintConfig({ ...(await linter.getDefaultLintConfig()), SpellCheck: false });
    return (text) => findMistakes(linter, text);
  };
}

async function findMistakes(linter: Linter, text: string): Promise<Mistake[]> {
  const mistakes: Mistake[] = [];
  for (const { part, from } of cut(text)) {
    for (const lint of await linter.lint(part, { language: "plaintext" })) {
      const mistake = toGrammarMistake(lint, text, from);
      // It lives in the memory of the module, which nothing else would give back.
      lint.free();
      if (mistake !== null) mistakes.push(mistake);
    }
  }
  return mistakes;
}

/** Sentences, as many at once as are read well; endless words are blanked out. */
function cut(text: string): { part: string; from: number }[] {
  const blanked = text.replace(endlessWord, (word) => " ".repeat(word.length));
  const parts: { part: string; from: number }[] = [];
  let from = 0;
  const close = (to: number) => {
    for (let at = from; at < to; at += charactersAtOnce)
      parts.push({ part: blanked.slice(at, Math.min(to, at + charactersAtOnce)), from: at });
    from = to;
  };
  for (const { text: sentence, start } of splitSentences(blanked)) {
    if (start + sentence.length - from > charactersAtOnce) close(start);
  }
  close(blanked.length);
  return parts;
}

function toGrammarMistake(lint: Lint, text: string, from: number): Mistake | null {
  const type = lint.lint_kind();
  const span = lint.span();
  const [start, end] = [from + span.start, from + span.end];
  span.free();
  const wrong = text.slice(start, end);
  if (notMistakes.has(type) || wrong.trim() === "") return null;
  const suggestions = lint.suggestions().map((one) => {
    const [kind, replacement] = [one.kind(), one.get_replacement_text()];
    one.free();
    if (kind === remove) return { suggestion: "", score: null };
    return { suggestion: kind === insertAfter ? wrong + replacement : replacement, score: null };
  });
  return { text: wrong, type, start, suggestions };
}

function dialectOf(language: unknown): number {
  return dialects.find(([tag]) => tag.test(String(language).replace("_", "-")))?.[1] ?? 0;
}

function overlap(a: Mistake, b: Mistake): boolean {
  return a.start < b.start + b.text.length && b.start < a.start + a.text.length;
}
