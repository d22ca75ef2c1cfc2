// Lists that are read page by page.

import { z } from "zod";
import { wholeNumberText } from "./text-values.ts";

export const pageQuery = {
  page: wholeNumberText(1, 1_000_000).default(1).describe("The number of the page, from 1."),
  limit: wholeNumberText(1, 1_000).default(100).describe("Items per page."),
};

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    total: z.int().describe("Items on all pages."),
    page: z.int(),
    limit: z.int(),
    total_pages: z.int(),
  });
}

interface Page {
  readonly page: number;
  readonly limit: number;
}

export function toOffset({ page, limit }: Page): number {
  return (page - 1) * limit;
}

export function toPage<Item>(items: readonly Item[], total: number, { page, limit }: Page) {
  return { items, total, page, limit, total_pages: Math.ceil(total / limit) };
}
