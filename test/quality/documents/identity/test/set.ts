// The test split of identity documents: no rule is tuned on it.

import type { LabelledDocument } from "../../labelled-document.ts";

export function identityToTest(): LabelledDocument[] {
  return [];
}
