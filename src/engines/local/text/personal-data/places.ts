// Words of countries and cities, which are no names of people.

import { cities } from "./cities.ts";
import { fold } from "./name-words.ts";

export function listPlaces(): ReadonlySet<string> {
  return new Set([...countryNames(), ...cities]);
}

/** Names of countries in the languages of which most texts are. */
function countryNames(): ReadonlySet<string> {
  const names = new Set<string>();
  const alphabet = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  for (const language of ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "tr"]) {
    const display = new Intl.DisplayNames(language, { type: "region", fallback: "none" });
    for (const first of alphabet)
      for (const second of alphabet)
        for (const word of (display.of(first + second) ?? "").split(/[^\p{L}]+/u))
          if (word.length > 3) names.add(fold(word));
  }
  // Countries that are also common as a name.
  for (const name of [
    "jordan",
    "chad",
    "georgia",
    "jersey",
    "martin",
    "maria",
    "barthelemy",
    "pierre",
    "vincent",
    "helena",
    "lucia",
    "kitts",
  ])
    names.delete(name);
  return names;
}
