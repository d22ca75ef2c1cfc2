// The common part of engines that look at one picture.

import type { TaskDraft, TaskName } from "../../../contract/tasks.ts";
import { type AnswerOf, defineEngine, type EngineOf, type LocalCall, type LocalEngine } from "../local-engine.ts";
import { readPixels } from "./pixels.ts";
import { createSampler, type Sampler } from "./sampler.ts";

interface PictureEngine<Name extends TaskName, Output> extends EngineOf<Name> {
  load(): Promise<(picture: Sampler) => Omit<AnswerOf<Name, Output>, "units">>;
}

/** Networks use at most 512 pixels a side, and a window is a quarter of the picture, so more pixels would be wasted. */
const maxPixelsRead = 4_000_000;
/** Returned pictures are scaled down only if they are larger than this. */
export const maxPixelsReturned = 16_000_000;

export const oneImage = { image: 1, file: 1, request: 1 };

export function createPictureEngine<const Name extends TaskName, Output extends TaskDraft<Name>>(
  engine: PictureEngine<Name, Output>,
): LocalEngine {
  return defineEngine<Name, Output>({
    ...engine,
    group: "vision",
    async load() {
      const run = await engine.load();
      return async ({ files }) => {
        const picture = await readPicture(files, "file");
        return { ...run(picture), units: oneImage };
      };
    },
  });
}

/** A file of the call, for networks. */
export async function readPicture(files: LocalCall["files"], member: string): Promise<Sampler> {
  return createSampler(await readPixels(files[member], member, maxPixelsRead));
}
