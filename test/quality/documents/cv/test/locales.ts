// Words, people and employers of the test split. Everything is invented. Do not tune rules on it.

import type { CvLocale } from "../resume.ts";
import data from "./locales.json";

export interface TestCvLabels {
  readonly about: string;
  readonly reach: string;
  readonly career: string;
  readonly studies: string;
  readonly abilities: string;
  readonly tongues: string;
  readonly leisure: string;
  readonly born: string;
  /** Period, position, employer. */
  readonly columns: readonly [string, string, string];
}

export type TestCvLocale = CvLocale<TestCvLabels>;

// The type of the file has neither tuples nor literals.
const locales = data as unknown as Readonly<Record<keyof typeof data, TestCvLocale>>;

export const { en, de, fr, es, it, pl, pt, sv, cs } = locales;
