// Days of the viewer's calendar.

/** The beginning of the day that is `days` after the one of `date`. Usually midnight: where clocks skip midnight, the day begins at 01:00. */
export function addDays(date: Date, days: number): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days);
}
