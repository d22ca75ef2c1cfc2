// The tune split of CVs.

import type { LabelledDocument } from "../../labelled-document.ts";
import { toCvs } from "../resume.ts";
import { centred, leftColumn, oneColumn, rightColumn, table } from "./layouts.ts";
import { de, en, es, fr, it, nl, pl, pt } from "./locales.ts";

export function cvsToTune(): LabelledDocument[] {
  return [
    ...toCvs("one-column", oneColumn, "one", [[en], [fr, { jobs: 2 }], [es], [nl, { hasEnded: true }]]),
    ...toCvs("left-column", leftColumn, "left", [
      [en],
      [de, { jobs: 2 }],
      [es],
      [pl],
      [it, { jobs: 2, hasEnded: true }],
      [fr],
    ]),
    ...toCvs("right-column", rightColumn, "right", [[en, { jobs: 4 }], [fr], [nl], [pt, { jobs: 2 }], [de], [it]]),
    ...toCvs("table", table, "table", [[de], [pl], [it, { jobs: 2 }], [pt]]),
    ...toCvs("centred", centred, "centre", [[en], [pt], [es, { jobs: 2 }], [pl, { hasEnded: true }]]),
  ];
}
