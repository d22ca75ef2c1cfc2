// Text: what a language model reads out of a text. Scores are the model's own estimates.

import { findTask, type JsonSchema } from "../../../contract/tasks.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import { choice, listOfEach, objectOf, schemaAt, score, text, toAnswerSchema } from "../answer-schema.ts";
import { AnswerProblem, listIn, type TaskDefinition, textOf } from "../definition.ts";
import { createOffsets, createQuotes, type Span } from "../quotes.ts";
import { toLikelihood, worstScore } from "./moderation.ts";

export const textTasks: readonly TaskDefinition[] = [
  {
    task: "text/moderation",
    reads: "text",
    instructions:
      "Judge whether the text is unsafe. List each kind of unsafe content that you find, with a label of your own (a word or two), " +
      "the category and subcategory that fit best, and likelihood_score: how likely the text is of that kind. " +
      "An empty list says that the text is safe.",
    unasked: ["nsfw_likelihood", "nsfw_likelihood_score", "items.likelihood"],
    finish: (answer) => {
      const items = listIn(answer, "items").map((item) => ({ ...item, likelihood: toLikelihood(item) }));
      return { ...worstScore(items), items };
    },
  },
  {
    task: "text/named_entity_recognition",
    reads: "text",
    instructions:
      "List the named things in the text: people, places, organisations, dates, amounts, products, events and others. entity is quoted " +
      "as the text writes it; category is one word such as Person, Location, Organization, Date, Money; importance says how much " +
      "the text is about it. Each entity once.",
    finish: (answer, input) => ({ items: onlyQuoted(listIn(answer, "items"), textOf(input)) }),
  },
  {
    task: "text/topic_extraction",
    reads: "text",
    instructions:
      "Name the topics of the text, the most fitting first, at most ten. category is a general topic such as Sports or Personal Finance, in " +
      "English; importance says how much the text is about it.",
  },
  {
    task: "text/spell_check",
    reads: "text",
    instructions:
      "Find the mistakes of spelling and grammar in the text, in the order of the text. text is the mistake as the text writes it, as " +
      "short as possible; context is a longer quotation of the text that holds the mistake, with the words around it; type is spelling, " +
      "grammar or punctuation; suggestions are corrections, the best first. What is right is not listed.",
    asks: () => {
      const asked = toAnswerSchema(findTask("text/spell_check").outputSchema, ["text", "items.offset", "items.length"]);
      const { properties } = schemaAt(asked, "items")["items"] as { properties: Record<string, JsonSchema> };
      return objectOf({ items: listOfEach(objectOf({ context: text, ...properties })) });
    },
    finish: (answer, input) => ({ text: textOf(input), items: placeMistakes(listIn(answer, "items"), textOf(input)) }),
  },
  {
    task: "text/anonymization",
    reads: "text",
    instructions:
      "Find everything in the text by which a person could be identified, or that is secret: names, addresses, phone numbers, e-mail " +
      "addresses, dates of birth, account and identity numbers, passwords and the like. content is quoted as the text writes it, each " +
      "different writing once; original_label is a word for it such as NAME or PHONE_NUMBER. Miss nothing.",
    unasked: ["result", "entities.offset", "entities.length"],
    finish: (answer, input) => redact(listIn(answer, "entities"), textOf(input)),
  },
  {
    task: "text/sentiment_analysis",
    reads: "text",
    instructions:
      "Judge the sentiment of the text: general_sentiment for all of it, and general_sentiment_rate, how strong it is. items holds the same for " +
      "each sentence or clause that says something of its own; segment is quoted as the text writes it.",
  },
  {
    task: "text/keyword_extraction",
    reads: "text",
    instructions:
      "Pick the keywords and key phrases that tell best what the text is about, as the text writes them, the most telling first, at most " +
      "twenty. importance says how telling each is.",
  },
  {
    task: "text/entity_sentiment",
    reads: "text",
    instructions:
      "List the named things that the text speaks of, with the sentiment that it expresses about each. text is quoted as the text writes it; type is " +
      "one word in capitals such as PERSON, LOCATION, ORGANIZATION, PRODUCT, EVENT, OTHER.",
    unasked: ["items.begin_offset", "items.end_offset"],
    finish: (answer, input) => ({ items: placeEntities(listIn(answer, "items"), textOf(input)) }),
  },
  {
    task: "text/emotion_detection",
    reads: "text",
    instructions:
      "Score the emotions that the text expresses, each from 0 (not there) to 100 (as strong as can be). List those that are there.",
    unasked: ["text"],
    finish: (answer, input) => ({ text: textOf(input), items: answer["items"] }),
  },
  {
    task: "text/summarize",
    reads: "text",
    instructions:
      "Summarize the text in as many sentences as output_sentences says, in the language of the text unless `language` names another. Say only " +
      "what the text says.",
  },
  {
    task: "text/question_answer",
    reads: "text",
    instructions:
      "Answer the question from the texts, in the language of the question. examples are pairs of a question and an answer about " +
      "examples_context, and show the style that is wanted. answers holds one answer, or none when the texts do not say.",
  },
  {
    task: "text/syntax_analysis",
    reads: "text",
    instructions:
      "Split the text into its words and punctuation marks, all of them in their order, as the text writes them. tag is the part of speech; " +
      "lemma is the form that a dictionary lists, or null for punctuation.",
    // Each word comes back as an object of some twenty tokens.
    maxCharacters: 10_000,
    asks: () =>
      objectOf({
        items: listOfEach(objectOf({ word: text, tag: choice(partsOfSpeech), lemma: { type: ["string", "null"] } })),
      }),
    finish: (answer, input) => ({ items: checkWords(listIn(answer, "items"), textOf(input)) }),
  },
  {
    task: "text/custom_classification",
    reads: "text",
    instructions:
      "Put each of the texts into one of the labels. examples are pairs of a text and its label. number is the place of the text in the " +
      "list, from 1; every text has exactly one entry; confidence says how sure the label is.",
    asks: (input) => {
      const count = (input["texts"] as readonly string[]).length;
      const one = objectOf({
        number: { type: "integer" },
        label: choice(input["labels"] as string[]),
        confidence: score,
      });
      return objectOf({ classifications: listOfEach(one, count) });
    },
    finish: (answer, input) => {
      const findNumber = byNumber(listIn(answer, "classifications"));
      return {
        classifications: (input["texts"] as readonly string[]).map((one, at) => {
          const found = findNumber(at + 1);
          return { input: one, label: found["label"], confidence: found["confidence"] };
        }),
      };
    },
  },
  {
    task: "text/custom_named_entity_recognition",
    reads: "text",
    instructions:
      "Find what belongs to the types that `entities` names, and nothing else. entity is quoted as the text writes it; category is the type. " +
      "examples show what is wanted.",
    asks: (input) => {
      const one = objectOf({ entity: text, category: choice(input["entities"] as string[]) });
      return objectOf({ items: listOfEach(one) });
    },
    finish: (answer, input) => ({ items: onlyQuoted(listIn(answer, "items"), textOf(input)) }),
  },
];

const partsOfSpeech = [
  "Adjective",
  "Adposition",
  "Adverb",
  "Auxiliary",
  "Conjunction",
  "Determiner",
  "Interjection",
  "Noun",
  "Number",
  "Particle",
  "Pronoun",
  "ProperNoun",
  "Punctuation",
  "Symbol",
  "Verb",
  "Other",
];

/** What the text does not say was made up. */
function onlyQuoted(items: readonly JsonObject[], whole: string): JsonObject[] {
  const { findAll } = createQuotes(whole);
  return items.filter(({ entity }) => findAll(String(entity)).length > 0);
}

/** Finds the entry that an answer numbers so. */
export function byNumber(entries: readonly JsonObject[]): (number: number) => JsonObject {
  const groups = Map.groupBy(entries, (entry) => entry["number"]);
  return (number) => {
    const found = groups.get(number) ?? [];
    if (found.length !== 1) throw new AnswerProblem(`number ${number} should have one entry, and has ${found.length}`);
    return found[0] as JsonObject;
  };
}

function placeMistakes(mistakes: readonly JsonObject[], whole: string): JsonObject[] {
  const toOffset = createOffsets(whole);
  const { findFrom } = createQuotes(whole);
  let from = 0;
  return mistakes.flatMap(({ context, ...mistake }) => {
    const around = findFrom(String(context), from);
    const written = String(mistake["text"]);
    const inside = around === null ? null : createQuotes(whole.slice(around.start, around.end)).findFrom(written, 0);
    const span = around !== null && inside !== null ? shift(inside, around.start) : findFrom(written, from);
    if (span === null) return [];
    from = span.end;
    return [{ ...mistake, text: whole.slice(span.start, span.end), ...toOffset(span) }];
  });
}

function shift({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end + by };
}

/** The same words listed again are the next place where they stand. */
function placeEntities(entities: readonly JsonObject[], whole: string): JsonObject[] {
  const toOffset = createOffsets(whole);
  const { findFrom } = createQuotes(whole);
  const used = new Map<string, number>();
  return entities.map((entity) => {
    const written = String(entity["text"]);
    const span = findFrom(written, used.get(written) ?? 0);
    if (span === null) return { ...entity, begin_offset: null, end_offset: null };
    used.set(written, span.end);
    const { offset, length } = toOffset(span);
    return { ...entity, begin_offset: offset, end_offset: offset + length };
  });
}

interface Found {
  readonly entity: JsonObject;
  readonly span: Span;
}

/** Every place of everything that was found; of two that overlap the longer one. */
function redact(entities: readonly JsonObject[], whole: string): JsonObject {
  const { findAll } = createQuotes(whole);
  const seen = new Set<unknown>();
  const all = entities.flatMap((entity) => {
    // The same content again stands at the same places.
    if (seen.has(entity["content"])) return [];
    seen.add(entity["content"]);
    const spans = findAll(String(entity["content"]));
    // What cannot be found would stay in the text.
    if (spans.length === 0) throw new AnswerProblem(`the text does not hold ${JSON.stringify(entity["content"])}`);
    return spans.map((span): Found => ({ entity, span }));
  });
  const hidden = new Uint8Array(whole.length);
  const kept: Found[] = [];
  for (const found of all.toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const { start, end } = found.span;
    if (hidden.subarray(start, end).includes(1)) continue;
    hidden.fill(1, start, end);
    kept.push(found);
  }
  kept.sort((one, other) => one.span.start - other.span.start);

  const toOffset = createOffsets(whole);
  let result = "";
  let at = 0;
  for (const { span } of kept) {
    result += `${whole.slice(at, span.start)}${toStars(whole.slice(span.start, span.end))}`;
    at = span.end;
  }
  return {
    result: result + whole.slice(at),
    entities: kept.map(({ entity, span }) => {
      return { ...entity, content: whole.slice(span.start, span.end), ...toOffset(span) };
    }),
  };
}

function lengthOf({ span }: Found): number {
  return span.end - span.start;
}

/** As many as there were characters, so that the offsets hold in the result too. */
function toStars(hidden: string): string {
  return "*".repeat(Array.from(hidden).length);
}

/** All words of the text, in its order: otherwise some were invented or left out. */
function checkWords(items: readonly JsonObject[], whole: string): JsonObject[] {
  let at = 0;
  for (const { word } of items) {
    const written = String(word);
    const found = whole.indexOf(written, at);
    if (found < 0 || /\S/.test(whole.slice(at, found)))
      throw new AnswerProblem(
        `the words should be all of the text's, in its order; ${JSON.stringify(written)} is not next`,
      );
    at = found + written.length;
  }
  if (/\S/.test(whole.slice(at))) throw new AnswerProblem("the last words of the text are missing");
  return items.map((item) => ({ ...item, importance: null }));
}
