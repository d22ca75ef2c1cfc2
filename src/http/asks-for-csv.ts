/** Of JSON and CSV, the first type that the `Accept` header names counts. */
export function asksForCsv(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  const types = accept.split(",").map((part) => part.split(";")[0]?.trim().toLowerCase());
  return types.find((type) => type === "text/csv" || type === "application/json") === "text/csv";
}
