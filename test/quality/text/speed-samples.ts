// The calls whose time and memory are measured, of the engines that the groups for meaning and grammar add.

export interface SpeedSample {
  readonly task: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly model?: string;
}

const prose =
  "The council voted to close the indoor pool because repairs would cost nine million euros. It was built in 1971 and leaks. ";
const question = "What does the repair of the pool cost?";

export const meaningSamples: readonly SpeedSample[] = [
  { task: "text/embeddings", input: { texts: [prose] } },
  { task: "text/embeddings", input: { texts: [prose.repeat(10)] } },
  { task: "text/search", input: { texts: Array.from({ length: 20 }, () => prose), query: question } },
  { task: "text/question_answer", input: { texts: [prose.repeat(4)], question } },
  {
    task: "text/custom_classification",
    input: { texts: [prose], labels: ["sport", "politics"], examples: [["The striker scored twice.", "sport"]] },
  },
  { task: "text/keyword_extraction", input: { text: prose.repeat(4), language: "en" }, model: "minilm" },
  { task: "text/moderation", input: { text: prose.repeat(4), language: "en" }, model: "minilm" },
  { task: "text/summarize", input: { text: prose.repeat(4), language: "en", output_sentences: 2 }, model: "minilm" },
];

export const grammarSamples: readonly SpeedSample[] = [
  { task: "text/spell_check", input: { text: prose.repeat(4), language: "en" }, model: "harper" },
];
