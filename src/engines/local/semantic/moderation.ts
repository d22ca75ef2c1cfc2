// text/moderation with the sentence model: bad words, and sentences that a classifier of their vectors takes for harmful. Only assistive: it looks at single
// sentences without their context.

import { round } from "../numbers.ts";
import { badWordsPackage, loadBadWords, type ModerationItem, toModerationOutput } from "../text/moderation.ts";
import { splitSentences } from "../text/sentences.ts";
import { createTextEngine } from "../text/text-engine.ts";
import { type HarmKind, loadClassifier } from "./moderation-classifier.ts";
import { sentenceEngineFacts } from "./sentence-engine.ts";
import { loadSentenceModel, sentenceModelPackages } from "./sentence-model.ts";

const kinds: Readonly<Record<HarmKind, Pick<ModerationItem, "category" | "subcategory">>> = {
  insult: { category: "Toxic", subcategory: "Insult" },
  threat: { category: "Violence", subcategory: "Threatening" },
  violence: { category: "Violence", subcategory: "Violence" },
  hate: { category: "HateAndExtremism", subcategory: "Hate" },
  harassment: { category: "Toxic", subcategory: "Harassment" },
  "self-harm": { category: "Violence", subcategory: "PhysicalViolence" },
  sexual: { category: "Sexual", subcategory: "Sexual" },
};
const minHarm = 0.5;
/** Words of medicine, of animals and of the Bible. They are bad only in a sentence that is not clearly harmless. */
const ambiguousWords = new Set(
  "anal,anus,arse,ass,bastard,bitch,cock,cum,dick,ejaculate,fisting,hooker,incest,masturbate,orgasm,penis,prick,pussy,rape,scat,semen,sex,tit,turd,vagina,whore".split(
    ",",
  ),
);
const minHarmOfAmbiguous = 0.2;

export const moderation = createTextEngine({
  ...sentenceEngineFacts,
  task: "text/moderation",
  packages: [...sentenceModelPackages, badWordsPackage],
  models: ["minilm"],
  englishOnly: "moderates",
  // About 1,000 sentences of 3 ms each.
  maxCharacters: 100_000,
  async load() {
    const model = await loadSentenceModel();
    const findBadWords = await loadBadWords();
    const judge = loadClassifier();

    return async (text, { onProgress }) => {
      const { items } = findBadWords(text);
      const needsContext = items.some(({ label }) => ambiguousWords.has(label));
      const found = new Map<string, ModerationItem>();
      const harmlessWords = new Set<string>();
      const harmfulWords = new Set<string>();
      const sentences = new Set(splitSentences(text).map((sentence) => sentence.text));
      let judged = 0;
      for (const sentence of sentences) {
        const { harm, kind } = judge(await model.toVector(model.toTokens(sentence)));
        if (harm >= minHarm && harm > (found.get(kind)?.score ?? 0))
          found.set(kind, { label: kind, ...kinds[kind], score: round(harm) });
        const words = harm < minHarmOfAmbiguous ? harmlessWords : harmfulWords;
        if (needsContext) for (const { label } of findBadWords(sentence).items) words.add(label);
        onProgress(++judged / sentences.size);
      }
      const words = items.filter(
        ({ label }) => !(ambiguousWords.has(label) && harmlessWords.has(label) && !harmfulWords.has(label)),
      );
      return {
        output: toModerationOutput([...words, ...found.values()]),
        original: {
          engine: "obscenity, all-MiniLM-L6-v2",
          note: "assistive: a list of words, and a classifier of single sentences. A text without findings may still be harmful",
        },
      };
    };
  },
});
