// Bad words, in English, also in disguise ("sh1t"). It knows words and no meaning: threats and hatred in polite words pass.

import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import type { LocalEngine } from "../local-engine.ts";
import { importPackage } from "../resolve-package.ts";
import { fastTextPackage } from "./fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";

const wordsPackage = "obscenity";

interface Obscenity {
  readonly englishDataset: {
    build(): object;
    getPayloadWithPhraseMetadata(match: Match): { readonly phraseMetadata?: { readonly originalWord: string } };
  };
  readonly englishRecommendedTransformers: object;
  readonly RegExpMatcher: new (options: object) => { getAllMatches(text: string, sorted: boolean): Match[] };
}

interface Match {
  readonly startIndex: number;
  readonly endIndex: number;
}

interface Kind {
  readonly category: string;
  readonly subcategory: string;
  readonly score: number;
}

/** Words that also stand in textbooks are weaker signs than the rest. What is in no list here is a slur against a group. */
const kinds: readonly { readonly kind: Kind; readonly words: ReadonlySet<string> }[] = [
  {
    kind: { category: "Sexual", subcategory: "Sexual", score: 0.4 },
    words: wordsOf("anal anus ejaculate incest masturbate orgasm penis rape semen sex vagina"),
  },
  {
    kind: { category: "Sexual", subcategory: "SexualActivity", score: 0.8 },
    words: wordsOf(
      "bestiality blowjob boob buttplug cock cum deepthroat dildo doggystyle felch fellatio fisting gangbang handjob hentai hooker jizz lubejob orgy porn pussy tit wank",
    ),
  },
  {
    kind: { category: "Toxic", subcategory: "Insult", score: 0.8 },
    words: wordsOf("bastard bitch cuck cunt dick prick slut twat whore"),
  },
  {
    kind: { category: "Toxic", subcategory: "Profanity", score: 0.7 },
    words: wordsOf("arse ass bollocks fuck piss scat shit turd"),
  },
];
const slur: Kind = { category: "HateAndExtremism", subcategory: "Hate", score: 0.9 };
const severalWords: Readonly<Record<string, Kind>> = {
  "double penetration": { category: "Sexual", subcategory: "SexualActivity", score: 0.8 },
  "finger bang": { category: "Sexual", subcategory: "SexualActivity", score: 0.8 },
  "jerk off": { category: "Sexual", subcategory: "SexualActivity", score: 0.8 },
};
const mostCharacters = 1_000_000;
export const moderationPackages = [wordsPackage, fastTextPackage];

export interface ModerationItem extends Kind {
  readonly label: string;
}

export type FindBadWords = (text: string) => { readonly items: ModerationItem[]; readonly counts: Map<string, number> };

export const engine: LocalEngine = {
  task: "text/moderation",
  packages: moderationPackages,
  lane: "light",
  lightCharacters: 10_000,
  async load() {
    const detect = await loadLanguageDetector();
    const findBadWords = await loadBadWords();

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "moderates");
      const text = textOf(input);
      refuseLonger(text, mostCharacters);
      const { items, counts } = findBadWords(text);
      return {
        output: toModerationOutput(items),
        original: {
          engine: wordsPackage,
          note: "assistive: a list of words. That nothing was found does not mean that a text is harmless",
          words: Object.fromEntries(counts),
        },
        units: { char: text.length },
      };
    };
  },
};

export async function loadBadWords(): Promise<FindBadWords> {
  const { RegExpMatcher, englishDataset, englishRecommendedTransformers } =
    await importPackage<Obscenity>(wordsPackage);
  const matcher = new RegExpMatcher({ ...englishDataset.build(), ...englishRecommendedTransformers });
  return (text) => {
    const counts = new Map<string, number>();
    for (const match of matcher.getAllMatches(text, true)) {
      const word = englishDataset.getPayloadWithPhraseMetadata(match).phraseMetadata?.originalWord ?? "word";
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    return { items: [...counts.keys()].map((word) => ({ label: word, ...kindOf(word) })), counts };
  };
}

export function toModerationOutput(found: readonly ModerationItem[]): JsonObject {
  const items = found.map(({ label, category, subcategory, score }) => ({
    label,
    likelihood: toLikelihood(score),
    category,
    subcategory,
    likelihood_score: score,
  }));
  return {
    nsfw_likelihood: Math.max(0, ...items.map(({ likelihood }) => likelihood)),
    nsfw_likelihood_score: Math.max(0, ...items.map(({ likelihood_score }) => likelihood_score)),
    items,
  };
}

function kindOf(word: string): Kind {
  return lookUp(severalWords, word) ?? kinds.find(({ words }) => words.has(word))?.kind ?? slur;
}

/** 0..1 in five steps, and 0 for nothing. */
function toLikelihood(score: number): number {
  return Math.ceil(score * 5);
}

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}
