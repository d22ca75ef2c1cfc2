// Parts that the layouts of both splits share.

import type { Sum } from "../sheet.ts";
import { formatDate, type Invoice, type Line, type Party } from "./invoice.ts";

export const bold = { font: "bold" } as const;

export function addressOf({ name, street, place }: Party): string[] {
  return [name, street, place];
}

/** Description, quantity, price and amount. */
export function cellsOf(item: Line, format: (value: number) => string): string[] {
  return [item.description, String(item.quantity), format(item.unitPrice), format(item.amount)];
}

/** A sum for each tax rate. */
export function taxSums<Labels>(
  { taxes }: Invoice<Labels>,
  label: (rate: number, base: number) => string,
  format: (value: number) => string,
): Sum[] {
  return taxes.map(({ rate, base, tax }) => [label(rate, base), format(tax)]);
}

export function discountSum<Labels>({ discount }: Invoice<Labels>, label: string, format: (value: number) => string) {
  return discount > 0 ? [[label, format(-discount)] as const] : [];
}

/** The date of the invoice and the day until which it is to be paid, each with its label. */
export function datesOf<Labels>({ date, due, locale }: Invoice<Labels>, labels: { date: string; due: string }) {
  return [[labels.date, formatDate(date, locale)] as const, [labels.due, formatDate(due, locale)] as const];
}
