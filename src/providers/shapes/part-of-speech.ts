// The tags of Universal Dependencies, which most vendors use, as `text/syntax_analysis` names them. `Adjactive` is misspelt in its schema.

import { lookUp } from "../../lib/look-up.ts";

export const universalTags: Readonly<Record<string, string>> = {
  ADJ: "Adjactive",
  ADP: "Adposition",
  ADV: "Adverb",
  AUX: "Auxiliary",
  CCONJ: "Coordinating_Conjunction",
  CONJ: "Coordinating_Conjunction",
  DET: "Determiner",
  INTJ: "Interjection",
  NOUN: "Noun",
  NUM: "Cardinal_number",
  PART: "Particle",
  PRON: "Pronoun",
  PROPN: "Proper_noun",
  PRT: "Particle",
  PUNCT: "Punctuation",
  SCONJ: "Subordinating_Conjunction",
  SYM: "Symbol",
  VERB: "Verb",
  AFFIX: "Affix",
};

export function toTag(tag: unknown): string {
  return lookUp(universalTags, String(tag)) ?? "Other";
}
