// The tune split of CVs.

import type { LabelledDocument } from "../../labelled-document.ts";
import { inventResume, toCv } from "../resume.ts";
import { centred, leftColumn, oneColumn, rightColumn, table } from "./layouts.ts";
import { de, en, es, fr, it, nl, pl, pt } from "./locales.ts";

export function cvsToTune(): LabelledDocument[] {
  return [
    toCv("one-column", oneColumn, inventResume(en, "one 1")),
    toCv("one-column", oneColumn, inventResume(fr, "one 2", { jobs: 2 })),
    toCv("one-column", oneColumn, inventResume(es, "one 3")),
    toCv("one-column", oneColumn, inventResume(nl, "one 4", { hasEnded: true })),
    toCv("left-column", leftColumn, inventResume(en, "left 1")),
    toCv("left-column", leftColumn, inventResume(de, "left 2", { jobs: 2 })),
    toCv("left-column", leftColumn, inventResume(es, "left 3")),
    toCv("left-column", leftColumn, inventResume(pl, "left 4")),
    toCv("left-column", leftColumn, inventResume(it, "left 5", { jobs: 2, hasEnded: true })),
    toCv("left-column", leftColumn, inventResume(fr, "left 6")),
    toCv("right-column", rightColumn, inventResume(en, "right 1", { jobs: 4 })),
    toCv("right-column", rightColumn, inventResume(fr, "right 2")),
    toCv("right-column", rightColumn, inventResume(nl, "right 3")),
    toCv("right-column", rightColumn, inventResume(pt, "right 4", { jobs: 2 })),
    toCv("right-column", rightColumn, inventResume(de, "right 5")),
    toCv("right-column", rightColumn, inventResume(it, "right 6")),
    toCv("table", table, inventResume(de, "table 1")),
    toCv("table", table, inventResume(pl, "table 2")),
    toCv("table", table, inventResume(it, "table 3", { jobs: 2 })),
    toCv("table", table, inventResume(pt, "table 4")),
    toCv("centred", centred, inventResume(en, "centre 1")),
    toCv("centred", centred, inventResume(pt, "centre 2")),
    toCv("centred", centred, inventResume(es, "centre 3", { jobs: 2 })),
    toCv("centred", centred, inventResume(pl, "centre 4", { hasEnded: true })),
  ];
}
