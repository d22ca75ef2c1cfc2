import { languageOf, textOf } from "../shapes/inputs.ts";
import type { TaskCall } from "../task.ts";

/** The vendor takes variants of a target language (EN-GB, PT-BR, ZH-HANS), and the bare language of a source. */
export function languagesOf(call: TaskCall): { target_lang: string; source_lang?: string } {
  const source = languageOf(call, "source_language");
  return {
    target_lang: textOf(call, "target_language").replaceAll("_", "-").toUpperCase(),
    ...(source !== null && { source_lang: (source.split(/[-_]/)[0] ?? source).toUpperCase() }),
  };
}
