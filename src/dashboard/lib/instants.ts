// The period of a page as two instants, for lists whose days are not those of a time zone.

import type { Period } from "../components/period-picker.tsx";
import { addDays } from "./days.ts";

const dayForm = /^\d{4}-\d{2}-\d{2}$/;

/** Days are those of the viewer. The last one is included. */
export function toInstants({ from, to }: Pick<Period, "from" | "to">): { readonly from: string; readonly to: string } {
  return { from: toInstant(from, 0), to: toInstant(to, 1) };
}

function toInstant(text: string, addedDays: number): string {
  if (!dayForm.test(text)) return text;
  return addDays(new Date(`${text}T00:00`), addedDays).toISOString();
}
