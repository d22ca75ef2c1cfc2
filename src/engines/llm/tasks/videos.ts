// Video tasks for models that read images: they get frames of the video, in the order of time.

import type { TaskDefinitions } from "../definition.ts";

export const videoTasks: TaskDefinitions = {
  "video/question_answer_async": {
    instructions:
      "The images are frames of one video, in the order of time; `frames` says at which second each of them was taken. The sound is not there. Answer the " +
      "question in `text` about the video, in the language of the question. If the frames do not show the answer, say so.",
    omitted: ["finish_reason"],
  },
};
