// Image tasks for models that read images. Such a model cannot locate things reliably, so boxes and outlines are null or left out.

import { listOfEach, objectOf, score, string } from "../answer-schema.ts";
import { listIn, type TaskDefinitions } from "../definition.ts";
import { moderation } from "./moderation.ts";

const latitude = { type: ["number", "null"], minimum: -90, maximum: 90 };
const longitude = { type: ["number", "null"], minimum: -180, maximum: 180 };

export const imageTasks: TaskDefinitions = {
  "image/question_answer": {
    instructions:
      "Answer the question about the image, in the language of the question; without a question, describe the image. answers holds one answer.",
  },
  "image/object_detection": {
    instructions:
      "List the objects in the image, one entry for each single object, the most prominent first, at most fifty. label is one or two English words; confidence " +
      "says how sure you are.",
    omitted: ["items.x_min", "items.x_max", "items.y_min", "items.y_max"],
  },
  "image/explicit_content": {
    instructions:
      "Judge whether the image is unsafe to show. List each kind of unsafe content that you see, with a label of your own (a word or two), the category and " +
      "subcategory that fit best, and likelihood_score: how likely the image is of that kind. An empty list says that the image is safe.",
    ...moderation,
  },
  "image/logo_detection": {
    instructions:
      "List the logos of brands in the image, one entry for each. description is the name of the brand; score says how sure you are. Name only what you recognise.",
    omitted: ["items.bounding_poly"],
  },
  "image/landmark_detection": {
    instructions:
      "Name the well-known places and buildings in the image: description is the name, confidence says how sure you are, latitude and longitude are where it " +
      "stands, in degrees, or null. Name only what you recognise.",
    answerSchema: () =>
      objectOf({ items: listOfEach(objectOf({ description: string, confidence: score, latitude, longitude })) }),
    toOutput: (answer) => ({
      items: listIn(answer, "items").map(({ latitude, longitude, description, confidence }) => ({
        description,
        confidence,
        locations: latitude === null || longitude === null ? [] : [{ lat_lng: { latitude, longitude } }],
      })),
    }),
  },
};
