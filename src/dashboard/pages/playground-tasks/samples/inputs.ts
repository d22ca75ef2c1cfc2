// Example inputs, so that a newcomer can press Run at once. Files are drawn by files.ts.

import { lookUp } from "../../../../lib/look-up.ts";

type Input = Readonly<Record<string, unknown>>;

export interface InputExample {
  readonly title: string;
  readonly input: Input;
}

const story =
  "Ada Fleming moved from Bristol to Berlin in March 2024 to lead the research team of Northwind Robotics. " +
  "Together with Kenji Watanabe she presented a walking robot at the Hannover Messe.";
const review =
  "The room was bright and the staff were wonderful. Breakfast, however, was cold and far too expensive. We would come back anyway.";
const personal =
  "My name is Jordan Avery. Call me on +44 20 7946 0958 or write to jordan.avery@example.com. " +
  "My card is 4111 1111 1111 1111, and I live at 7 Mill Lane, York.";
const mistakes = "Teh meeting starts at nine, and I definately recieve the invitation tommorow.";
const article =
  "Tidal power turns the movement of the sea into electricity. Unlike wind and sun, tides can be predicted for decades. " +
  "The first large plant was built at the Rance estuary in France in 1966 and still runs. New turbines stand on the sea floor " +
  "and are invisible from the coast. They are expensive to build and to service, because salt water attacks every part. " +
  "Engineers hope that larger numbers will lower the price, as happened with wind power.";
const mixed: readonly InputExample[] = [
  { title: "Story", input: { text: story } },
  { title: "Article", input: { text: article } },
];
const opinions: readonly InputExample[] = [
  { title: "Hotel review", input: { text: review } },
  { title: "Praise", input: { text: "What a great day. Thank you, I love this place!" } },
];
const places = [
  "The ferry to the island leaves at eight.",
  "The museum opens at ten.",
  "Bread is baked before sunrise.",
];

/** By task; file members are left to the samples of files. */
const examples: Readonly<Record<string, readonly InputExample[]>> = {
  "text/ai_detection": mixed,
  "text/moderation": [
    { title: "Harmless", input: { text: "What a lovely morning. Shall we walk to the harbour?" } },
    { title: "Insult", input: { text: "You are an idiot, and I hate you." } },
  ],
  "text/named_entity_recognition": mixed,
  "text/topic_extraction": [{ title: "Article", input: { text: article } }],
  "text/spell_check": [{ title: "With mistakes", input: { text: mistakes } }],
  "text/plagia_detection": [{ title: "Article", input: { text: article, title: "Tidal power" } }],
  "text/anonymization": [{ title: "Personal data", input: { text: personal } }],
  "text/sentiment_analysis": opinions,
  "text/keyword_extraction": [{ title: "Article", input: { text: article } }],
  "text/entity_sentiment": [
    { title: "Comparison", input: { text: "I love Berlin, but the trains of Northwind Rail are awful." } },
  ],
  "text/emotion_detection": opinions,
  "text/summarize": [{ title: "Article", input: { text: article, output_sentences: 2 } }],
  "text/embeddings": [{ title: "Three sentences", input: { texts: places } }],
  "text/question_answer": [
    { title: "Question", input: { texts: [article], question: "Where was the first large plant built?" } },
  ],
  "text/search": [{ title: "Search", input: { texts: places, query: "When does the boat go?" } }],
  "text/syntax_analysis": [{ title: "Sentence", input: { text: "The old ferry slowly crosses the bay." } }],
  "text/custom_classification": [
    {
      title: "Support tickets",
      input: {
        texts: ["I was charged twice this month.", "The app closes when I open a picture."],
        labels: ["billing", "bug"],
        examples: [
          ["Where is my refund?", "billing"],
          ["My invoice is wrong.", "billing"],
          ["The page does not load.", "bug"],
          ["An error appears when I log in.", "bug"],
        ],
      },
    },
  ],
  "text/custom_named_entity_recognition": [
    { title: "Story", input: { text: story, entities: ["Person", "Company", "City"] } },
  ],
  "translation/automatic_translation": [
    { title: "To French", input: { text: "Good morning. Where is the harbour?", target_language: "fr" } },
    { title: "To English", input: { text: "Guten Morgen. Wo ist der Hafen?", target_language: "en" } },
  ],
  "translation/language_detection": [
    { title: "German", input: { text: "Der Zug nach Berlin fährt um neun Uhr ab." } },
    { title: "Portuguese", input: { text: "O comboio para Lisboa parte às nove horas." } },
  ],
  "translation/document_translation": [{ title: "To French", input: { target_language: "fr" } }],
  "audio/tts": [
    {
      title: "Announcement",
      input: { text: "Good morning. The train to the harbour leaves at nine from platform four." },
    },
    { title: "As WAV", input: { text: "This is a test of the gateway.", audio_format: "wav" } },
  ],
  "image/generation": [
    { title: "Lighthouse", input: { text: "A lighthouse on a cliff at dusk, watercolour", num_images: 1 } },
  ],
  "image/question_answer": [{ title: "Question", input: { question: "When is the museum open?" } }],
  "image/embeddings": [{ title: "As a document", input: { representation: "document" } }],
  "video/generation_async": [{ title: "Waves", input: { text: "Waves roll onto a beach in slow motion" } }],
  "video/question_answer_async": [{ title: "Question", input: { text: "What moves in this clip?" } }],
  "ocr/custom_document_parsing_async": [
    {
      title: "Questions",
      input: {
        queries: [
          { query: "What is the total?", pages: "1-*" },
          { query: "Who is the customer?", pages: "1-*" },
        ],
      },
    },
  ],
  "web/search": [{ title: "Query", input: { query: "tidal power plants in Europe", max_results: 3 } }],
  "web/scraping": [{ title: "Page", input: { url: "https://example.com/" } }],
  "web/map": [{ title: "Site", input: { url: "https://example.com/" } }],
  "web/crawl_async": [{ title: "Site", input: { url: "https://example.com/" } }],
  "web/batch_scrape_async": [{ title: "Two pages", input: { urls: ["https://example.com/", "https://example.org/"] } }],
  "web/structured_extraction_async": [
    { title: "Title", input: { urls: ["https://example.com/"], prompt: "What is the title of the page?" } },
  ],
  "web/research_async": [{ title: "Question", input: { prompt: "Which tidal power plants run in Europe?" } }],
};

export function examplesFor(task: string): readonly InputExample[] {
  return lookUp(examples, task) ?? [];
}
