import type { JsonObject } from "../dialect.ts";
import { asCount, asNumber, asScore, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { textOf } from "../shapes/inputs.ts";
import { refuseOverlaps } from "../shapes/personal-data.ts";
import type { ProviderTask } from "../task.ts";
import { kindOf } from "./labels.ts";

const anonymize: ProviderTask = {
  task: "text/anonymization",
  docs: "https://docs.private-ai.com/reference/latest/operation/process_text_v3_process_text_post",
  unsupported: ["language"],
  toRequest: (call) => ({
    path: "/v3/process/text",
    body: {
      kind: "json",
      value: { text: [textOf(call)], entity_detection: { accuracy: "high", return_entity: true } },
    },
  }),
  fromResponse({ json }, call) {
    const document = at(json, 0);
    const processed = at(document, "processed_text");
    if (typeof processed !== "string") throw new TypeError("there is no text in the answer");
    const entities = objectsIn(at(document, "entities")).flatMap(toEntity);
    const billed = asCount(at(document, "characters_processed"));
    return {
      // A caller who says how the text should be written gets it as the vendor wrote it.
      output: {
        result: call.providerParams["processed_text"] === undefined ? hide(textOf(call), entities) : processed,
        entities,
      },
      units: { char: billed || [...textOf(call)].length, request: 1 },
    };
  },
};

interface Entity {
  readonly offset: number;
  readonly length: number;
  readonly category: string;
  readonly subcategory: string;
  readonly original_label: string;
  readonly content: string;
  readonly confidence_score: number | null;
}

function toEntity(entity: JsonObject): Entity[] {
  const start = asNumber(at(entity, "location", "stt_idx"));
  const end = asNumber(at(entity, "location", "end_idx"));
  // Without a position the gateway cannot hide the entity: the text would look anonymous and would not be.
  if (start === null || end === null) throw new TypeError("there is personal data without a position in the answer");
  const offset = Math.max(0, Math.round(start));
  const length = Math.round(end) - offset;
  const label = asText(entity["best_label"]);
  const content = asText(entity["text"]);
  if (label === null || content === null || length <= 0) return [];
  const [category, subcategory] = kindOf(label);
  return [
    {
      offset,
      length,
      category,
      subcategory,
      original_label: label,
      content,
      confidence_score: asScore(at(entity, "labels", label)),
    },
  ];
}

/** The text with every character of what was found as a star. Positions count characters, not UTF-16 units. */
function hide(text: string, entities: readonly Entity[]): string {
  const characters = [...text];
  refuseOverlaps(entities, characters.length);
  for (const { offset, length } of entities) characters.fill("*", offset, Math.min(characters.length, offset + length));
  return characters.join("");
}

export const privateai: ProviderRow = {
  name: "privateai",
  title: "Private AI",
  docs: "https://docs.private-ai.com",
  baseUrl: "https://api.private-ai.com/cloud",
  auth: { kind: "header", name: "x-api-key" },
  tasks: [anonymize],
};
