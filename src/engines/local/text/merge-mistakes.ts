// Merges the findings of the dictionary and of the rules of grammar, in the order of the text.

import type { Mistake } from "./spell-check.ts";

/** A misspelling takes precedence over every mistake that it overlaps. */
export function mergeMistakes(misspellings: readonly Mistake[], mistakes: readonly Mistake[]): Mistake[] {
  return [
    ...misspellings.map((one) => addSuggestions(one, mistakes)),
    ...mistakes.filter((one) => !misspellings.some((other) => overlap(one, other))),
  ].sort((a, b) => a.start - b.start);
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
