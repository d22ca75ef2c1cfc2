// The period of a page as two instants, for lists whose days are not those of a time zone.

import { addDays } from "./days.ts";

const dayForm = /^\d{4}-\d{2}-\d{2}$/;

interface Days {
  readonly from: string;
  readonly to: string;
}

/** Days are those of the viewer. The last one is included. */
export function toInstants({ from, to }: Days): Days {
  return { from: toInstant(from, 0), to: toInstant(to, 1) };
}

function toInstant(text: string, addedDays: number): string {
  if (!dayForm.test(text)) return text;
  const start = new Date(`${text}T00:00`);
  // The gateway refuses a day that does not exist, and says so.
  if (start.getDate() !== Number(text.slice(-2))) return text;
  return addDays(start, addedDays).toISOString();
}
