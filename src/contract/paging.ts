// What lists and ids have in common: numbers and UUIDs that arrive as text, and the page around the items.

import { z } from "zod";

/** A whole number of a query or a form, with the same words as a number in a body has. */
export function wholeNumberText(min: number, max: number) {
  return z.string().transform((text, context) => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : null;
    const refuse = (type: string, message: string) => {
      context.addIssue({ code: "custom", message, params: { type } });
      return z.NEVER;
    };
    if (value === null) return refuse("int_parsing", "Input should be a valid integer");
    if (value < min) return refuse("greater_than_equal", `Input should be greater than or equal to ${min}`);
    if (value > max) return refuse("less_than_equal", `Input should be less than or equal to ${max}`);
    return value;
  });
}

/** Any UUID by its form: which versions we make is not the caller's business. Ours are in lower case. */
export const uuidText = z.string().transform((text, context) => {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  context.addIssue({ code: "custom", message: "Input should be a valid UUID", params: { type: "uuid_parsing" } });
  return z.NEVER;
});

export const pageQuery = {
  page: wholeNumberText(1, 1_000_000).default(1),
  limit: wholeNumberText(1, 1_000).default(100),
};

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    total: z.int(),
    page: z.int(),
    limit: z.int(),
    total_pages: z.int(),
  });
}
