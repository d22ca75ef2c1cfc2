// The test split of pages.

import type { LabelledPage } from "../page.ts";

export function pagesToTest(): LabelledPage[] {
  return [];
}
