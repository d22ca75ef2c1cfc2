// text/moderation by a list of English bad words, which are found in altered spellings ("sh1t"), too. It does not understand meaning, so it
// misses threats and hatred in polite words.

import { importPackage } from "../resolve-package.ts";
import { createTextEngine } from "./text-engine.ts";

export const badWordsPackage = "obscenity";

/** The parts of the package that we call. */
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

/** The words of each kind. Medical terms have a lower score. The package's other words are slurs against a group. */
const kinds: readonly (Kind & { readonly words: string })[] = [
  {
    category: "Sexual",
    subcategory: "Sexual",
    score: 0.4,
    words: "anal,anus,ejaculate,incest,masturbate,orgasm,penis,rape,semen,sex,vagina",
  },
  {
    category: "Sexual",
    subcategory: "SexualActivity",
    score: 0.8,
    words:
      "bestiality,blowjob,boob,buttplug,cock,cum,deepthroat,dildo,doggystyle,double penetration,felch,fellatio,finger bang,fisting,gangbang,handjob,hentai,hooker,jerk off,jizz,lubejob,orgy,porn,pussy,tit,wank",
  },
  { category: "Toxic", subcategory: "Insult", score: 0.8, words: "bastard,bitch,cuck,cunt,dick,prick,slut,twat,whore" },
  { category: "Toxic", subcategory: "Profanity", score: 0.7, words: "arse,ass,bollocks,fuck,piss,scat,shit,turd" },
];
const slur: Kind = { category: "HateAndExtremism", subcategory: "Hate", score: 0.9 };
const kindsByWord = new Map(
  kinds.flatMap(({ words, ...kind }) => words.split(",").map((word): [string, Kind] => [word, kind])),
);

export interface ModerationItem extends Kind {
  readonly label: string;
}

export const moderation = createTextEngine({
  task: "text/moderation",
  packages: [badWordsPackage],
  models: ["obscenity"],
  englishOnly: "moderates",
  maxCharacters: 1_000_000,
  lightCharacters: 10_000,
  async load() {
    const findBadWords = await loadBadWords();
    return (text) => {
      const { items, counts } = findBadWords(text);
      const note = "assistive: a list of words. That nothing was found does not mean that a text is harmless";
      return {
        output: toModerationOutput(items),
        original: { engine: badWordsPackage, note, words: Object.fromEntries(counts) },
      };
    };
  },
});

/** The returned function finds each bad word once, and counts its occurrences. */
export async function loadBadWords() {
  const { RegExpMatcher, englishDataset, englishRecommendedTransformers } =
    await importPackage<Obscenity>(badWordsPackage);
  const matcher = new RegExpMatcher({ ...englishDataset.build(), ...englishRecommendedTransformers });
  return (text: string) => {
    const counts = new Map<string, number>();
    for (const match of matcher.getAllMatches(text, true)) {
      const word = englishDataset.getPayloadWithPhraseMetadata(match).phraseMetadata?.originalWord ?? "word";
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const items = [...counts.keys()].map(
      (word): ModerationItem => ({ label: word, ...(kindsByWord.get(word) ?? slur) }),
    );
    return { items, counts };
  };
}

export function toModerationOutput(found: readonly ModerationItem[]) {
  // The likelihood has five steps, and 0 for a score of 0.
  const items = found.map(({ score, ...item }) => ({
    ...item,
    likelihood: Math.ceil(score * 5),
    likelihood_score: score,
  }));
  return {
    nsfw_likelihood: Math.max(0, ...items.map(({ likelihood }) => likelihood)),
    nsfw_likelihood_score: Math.max(0, ...items.map(({ likelihood_score }) => likelihood_score)),
    items,
  };
}
