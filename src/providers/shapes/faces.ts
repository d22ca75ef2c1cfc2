// Names of the output of `image/face_detection`.

import type { TaskDraft } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";

type Face = NonNullable<NonNullable<TaskDraft<"image/face_detection">["items"]>[number]>;
export type LandmarkName = keyof NonNullable<Face["landmarks"]>;
export type EmotionName = keyof NonNullable<Face["emotions"]>;

/** Values by their name in the output. A value that is null, or that the output has no name for, is left out. */
export function byName<Name extends string, Value>(
  names: Readonly<Record<string, Name>>,
  found: readonly (readonly [vendorName: unknown, value: Value | null])[],
): Partial<Record<Name, Value>> {
  const named = found.flatMap(([vendorName, value]) => {
    const name = lookUp(names, String(vendorName));
    return name === undefined || value === null ? [] : [[name, value]];
  });
  return Object.fromEntries(named) as Partial<Record<Name, Value>>;
}
