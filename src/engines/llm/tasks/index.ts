import type { TaskDefinitions } from "../definition.ts";
import { documentTasks } from "./documents.ts";
import { imageTasks } from "./images.ts";
import { textTasks } from "./text.ts";
import { videoTasks } from "./videos.ts";

export const definitions: TaskDefinitions = { ...textTasks, ...documentTasks, ...imageTasks, ...videoTasks };
