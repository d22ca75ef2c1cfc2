// Prices as vendors published them on a day, and the invoices that were worked by hand from them (test/cases/invoices.json). They stand beside the
// catalogue, so that a vendor's new price does not change what was worked out.

import { createPriceBook, type Price, type PriceFile } from "../../src/catalogue/prices.ts";
import cases from "../cases/invoices.json" with { type: "json" };

type PricedModel = PriceFile["providers"][string]["models"][number];

export interface Published extends Pick<PricedModel, "price" | "fee" | "free"> {
  readonly page: string;
  readonly date: string;
  readonly audioAsText?: true;
  /** The vendor bills the cost that its answer states. */
  readonly billsAsStated?: true;
}

interface Worked {
  readonly title: string;
  /** Sums of products, in millionths of a dollar. */
  readonly work?: string;
  readonly usd: number | null;
  /** Why the amount cannot be known. */
  readonly reason?: string;
}

export interface ModelInvoice extends Worked {
  readonly model: string;
  /** The vendor's format of the usage. Absent: the chat format. */
  readonly format?: "messages" | "responses" | "generateContent" | "converse" | "cohere";
  readonly usage: unknown;
  readonly answer?: Readonly<Record<string, unknown>>;
  readonly webSearches?: number;
  readonly tier?: string;
  readonly at?: string;
}

export interface TaskInvoice extends Worked {
  readonly task: string;
  /** `<provider>[/<model>]` */
  readonly offer: string;
  readonly page: string;
  readonly listPrice: { readonly price: number; readonly quantity: number; readonly unit: string } | null;
  readonly units: Readonly<Record<string, number>>;
}

const invoices = cases.invoices as unknown as readonly (ModelInvoice | TaskInvoice)[];
export const modelInvoices = invoices.filter((invoice): invoice is ModelInvoice => "model" in invoice);
export const taskInvoices = invoices.filter((invoice): invoice is TaskInvoice => "task" in invoice);
export const published = cases.published as unknown as Readonly<Record<string, Published>>;

export const publishedFile: PriceFile = {
  format: 1,
  version: "test",
  sources: Object.values(published).map(({ page, date }) => ({ url: page, date })),
  providers: Object.fromEntries(
    Object.entries(published).map(([id, { price, fee, free, audioAsText }], source) => [
      toProvider(id),
      {
        source,
        ...(audioAsText === true ? { audio_as_text: true as const } : {}),
        models: [{ ids: [id], ...(price && { price }), ...(fee && { fee }), ...(free && { free }) }],
      },
    ]),
  ),
};
const book = createPriceBook(publishedFile);

/** Every model its own provider, since the rules of providers differ. */
function toProvider(id: string): string {
  return `of-${id}`;
}

export function findPublished(model: string): Price | null {
  return book.find(toProvider(model), model);
}
