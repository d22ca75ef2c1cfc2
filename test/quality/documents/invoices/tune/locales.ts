// Words, companies and goods of the tune split. Everything is invented.

import type { Locale } from "../invoice.ts";
import data from "./locales.json";

export interface TuneLabels {
  readonly invoice: string;
  readonly creditNote: string;
  readonly receipt: string;
  readonly number: string;
  readonly date: string;
  readonly due: string;
  readonly order: string;
  readonly customerNumber: string;
  readonly billTo: string;
  readonly from: string;
  readonly vatId: string;
  readonly page: string;
  readonly carried: string;
  /** Description, quantity, unit price, amount. */
  readonly columns: readonly [string, string, string, string];
  readonly subtotal: string;
  readonly discount: string;
  readonly tax: string;
  readonly total: string;
  readonly due2: string;
  readonly originalInvoice: string;
  readonly terms: string;
  readonly cash: string;
  readonly change: string;
  readonly net: string;
  readonly gross: string;
  readonly thanks: string;
}

export type TuneLocale = Locale<TuneLabels>;

// The type of the file has neither tuples nor literals.
const locales = data as unknown as Readonly<Record<keyof typeof data, TuneLocale>>;

export const { gb, us, de, fr, es, it, nl, pl, pt } = locales;
