import type { TaskDefinition } from "../definition.ts";
import { documentTasks } from "./documents.ts";
import { imageTasks } from "./images.ts";
import { textTasks } from "./text.ts";
import { translationTasks } from "./translation.ts";

export const definitions: readonly TaskDefinition[] = [
  ...textTasks,
  ...translationTasks,
  ...documentTasks,
  ...imageTasks,
];
