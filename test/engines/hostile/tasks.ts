// The local tasks that read text, and how each is given one.

type Members = Readonly<Record<string, unknown>>;

export interface HostileTask {
  readonly task: string;
  readonly model: string | null;
  /** The longest text that it takes. */
  readonly mostCharacters: number;
}

export const hostileTasks: readonly HostileTask[] = [
  { task: "translation/language_detection", model: null, mostCharacters: 250_000 },
  { task: "text/sentiment_analysis", model: null, mostCharacters: 250_000 },
  { task: "text/topic_extraction", model: null, mostCharacters: 250_000 },
  { task: "text/named_entity_recognition", model: null, mostCharacters: 250_000 },
  { task: "text/syntax_analysis", model: null, mostCharacters: 100_000 },
  { task: "text/keyword_extraction", model: null, mostCharacters: 250_000 },
  { task: "text/spell_check", model: null, mostCharacters: 250_000 },
  { task: "text/moderation", model: "obscenity", mostCharacters: 250_000 },
  { task: "text/anonymization", model: null, mostCharacters: 250_000 },
  { task: "text/summarize", model: null, mostCharacters: 250_000 },
  { task: "audio/tts", model: null, mostCharacters: 10_000 },
  { task: "text/spell_check", model: "harper", mostCharacters: 50_000 },
  { task: "text/embeddings", model: "all-minilm-l6-v2", mostCharacters: 200_000 },
  { task: "text/search", model: "all-minilm-l6-v2", mostCharacters: 200_000 },
  { task: "text/custom_classification", model: "all-minilm-l6-v2", mostCharacters: 200_000 },
  { task: "text/question_answer", model: "all-minilm-l6-v2", mostCharacters: 200_000 },
  { task: "text/keyword_extraction", model: "minilm", mostCharacters: 100_000 },
  { task: "text/moderation", model: "minilm", mostCharacters: 100_000 },
  { task: "text/summarize", model: "minilm", mostCharacters: 100_000 },
];

/** English is stated, or most of these texts would be refused before anything is computed. */
export function toHostileInput(task: string, text: string): Members {
  switch (task) {
    case "translation/language_detection":
      return { text };
    case "text/embeddings":
      return { texts: [text] };
    case "text/search":
      return { texts: [text], query: "What does it cost?" };
    case "text/question_answer":
      return { texts: [text], question: "What does it cost?" };
    case "text/custom_classification":
      return { texts: [text], labels: ["travel", "cooking"] };
    case "text/summarize":
      return { text, language: "en", output_sentences: 3 };
    default:
      return { text, language: "en" };
  }
}
