// Groups of local engines that are added, or refused.

import { expect } from "bun:test";
import { type AddOptions, addGroup } from "../../src/engines/local/add-group.ts";
import { GroupError } from "../../src/engines/local/group-error.ts";
import { type Group, stateOf } from "../../src/engines/local/groups.ts";
import { rejectionOf } from "./thrown.ts";

export async function expectAdded(group: Group, options: AddOptions): Promise<void> {
  expect(stateOf(group)).toBe("absent");
  await addGroup(group, options);
  expect(stateOf(group)).toBe("added");
}

/** The message of the error that `adding` must end with. */
export async function refusalOf(adding: Promise<void>): Promise<string> {
  return (await rejectionOf(adding, GroupError)).message;
}

/** A group that was not there before stays absent when it cannot be added. */
export async function expectRefusal(group: Group, options: AddOptions, reason: string): Promise<void> {
  expect(await refusalOf(addGroup(group, options))).toContain(reason);
  expect(stateOf(group)).toBe("absent");
}
