// Words, people and employers of the tune split. Everything is invented.

import type { CvLocale } from "../resume.ts";
import data from "./locales.json";

export interface CvLabels {
  readonly cv: string;
  readonly profile: string;
  readonly contact: string;
  readonly work: string;
  readonly education: string;
  readonly skills: string;
  readonly languages: string;
  readonly interests: string;
  readonly birth: string;
  readonly phone: string;
  readonly mail: string;
  readonly address: string;
}

export type TuneCvLocale = CvLocale<CvLabels>;

// The type of the file has neither tuples nor literals.
const locales = data as unknown as Readonly<Record<keyof typeof data, TuneCvLocale>>;

export const { en, de, fr, es, it, nl, pl, pt } = locales;
