// Images: what a model that sees can say of a picture. Where in the picture something is, it cannot say reliably: boxes and outlines
// are null or left out.

import { listOfEach, objectOf, score, text } from "../answer-schema.ts";
import { listIn, type TaskDefinition } from "../definition.ts";
import { toLikelihood, worstScore } from "./moderation.ts";

const latitude = { type: ["number", "null"], minimum: -90, maximum: 90 };
const longitude = { type: ["number", "null"], minimum: -180, maximum: 180 };

export const imageTasks: readonly TaskDefinition[] = [
  {
    task: "image/question_answer",
    reads: "image",
    instructions:
      "Answer the question about the image, in the language of the question; without a question, describe the image. answers holds one answer.",
  },
  {
    task: "image/object_detection",
    reads: "image",
    instructions:
      "List the objects in the image, one entry for each single object, the most prominent first, at most fifty. label is one or two English words; confidence " +
      "says how sure you are.",
    unasked: ["items.x_min", "items.x_max", "items.y_min", "items.y_max"],
  },
  {
    task: "image/explicit_content",
    reads: "image",
    instructions:
      "Judge whether the image is unsafe to show. List each kind of unsafe content that you see, with a label of your own (a word or two), the category and " +
      "subcategory that fit best, and likelihood_score: how likely the image is of that kind. An empty list says that the image is safe.",
    unasked: ["nsfw_likelihood", "nsfw_likelihood_score", "items.likelihood"],
    finish: (answer) => {
      const items = listIn(answer, "items").map((item) => ({ ...item, likelihood: toLikelihood(item) }));
      return { ...worstScore(items), items };
    },
  },
  {
    task: "image/logo_detection",
    reads: "image",
    instructions:
      "List the logos of brands in the image, one entry for each. description is the name of the brand; score says how sure you are. Name only what you recognise.",
    unasked: ["items.bounding_poly"],
  },
  {
    task: "image/landmark_detection",
    reads: "image",
    instructions:
      "Name the well-known places and buildings in the image: description is the name, confidence says how sure you are, latitude and longitude are where it " +
      "stands, in degrees, or null. Name only what you recognise.",
    asks: () =>
      objectOf({ items: listOfEach(objectOf({ description: text, confidence: score, latitude, longitude })) }),
    finish: (answer) => ({
      items: listIn(answer, "items").map((item) => ({
        description: item["description"],
        confidence: item["confidence"],
        locations:
          item["latitude"] === null || item["longitude"] === null
            ? []
            : [{ lat_lng: { latitude: item["latitude"], longitude: item["longitude"] } }],
      })),
    }),
  },
];
