// An item of an invoice or receipt.

import type { Word } from "./page.ts";
import type { Cell } from "./rows.ts";

/** An item with the member names of the task's output. */
export interface Item {
  readonly description: string;
  readonly quantity: number | null;
  readonly unit_price: number | null;
  readonly amount_line: number | null;
  readonly tax_rate: number | null;
  readonly tax: number | null;
  readonly discount_rate: number | null;
  readonly discount_amount: number | null;
  readonly product_code: string | null;
  readonly unit_type: string | null;
  readonly words: readonly Word[];
  /** Quantity and price were printed and do not multiply to the amount. */
  readonly contradicts: boolean;
}

export interface ItemLines {
  readonly items: readonly Item[];
  /** The cells of the items, including the heads of their tables. Other cells can stand beside the table. */
  readonly cells: ReadonlySet<Cell>;
}
