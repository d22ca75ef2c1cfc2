// Words, companies and goods of the test split. Everything is invented. Do not tune rules on it.

import type { Locale } from "../invoice.ts";
import data from "./locales.json";

export interface TestLabels {
  /** The title of the document, and of a credit note. */
  readonly title: string;
  readonly credit: string;
  readonly id: string;
  readonly issued: string;
  readonly payBy: string;
  readonly reference: string;
  readonly client: string;
  readonly clientNumber: string;
  readonly taxNumber: string;
  /** Item, quantity, price, value. */
  readonly item: string;
  readonly quantity: string;
  readonly price: string;
  readonly value: string;
  readonly net: string;
  readonly vat: string;
  readonly gross: string;
  readonly toPay: string;
  readonly includes: string;
  readonly rebate: string;
  readonly bank: string;
  readonly note: string;
}

export type TestLocale = Locale<TestLabels>;

// The type of the file has neither tuples nor literals.
const locales = data as unknown as Readonly<Record<keyof typeof data, TestLocale>>;

export const {
  gb,
  us,
  india,
  australia,
  austria,
  swiss,
  belgium,
  mexico,
  italy,
  flanders,
  poland,
  brazil,
  czechia,
  sweden,
  denmark,
  japan,
} = locales;
