// What tasks of many vendors read from a call in the same way.

import type { InputFile, TaskCall } from "../task.ts";
import { type FormPart, refuseInput } from "../task.ts";

export function textOf({ input }: TaskCall, member = "text"): string {
  return String(input[member]);
}

/** Null: the caller left it to the provider. */
export function languageOf({ input }: TaskCall, member = "language"): string | null {
  const language = input[member];
  return typeof language === "string" && language !== "" ? language : null;
}

export function fileOf({ files }: TaskCall, member = "file"): InputFile {
  const file = files[member];
  if (file === undefined) throw new Error(`the call has no file ${member}`);
  return file;
}

export async function filePart(name: string, file: InputFile): Promise<FormPart> {
  return { name, fileName: file.name, mediaType: file.mediaType, bytes: await file.read() };
}

export async function dataUrlOf(file: InputFile): Promise<string> {
  return `data:${file.mediaType};base64,${Buffer.from(await file.read()).toString("base64")}`;
}

/** Characters as vendors bill them: code points, not UTF-16 units. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Members that this vendor has no way to express. Null and 0 ask for nothing. */
export function refuseMembers({ input }: TaskCall, members: readonly string[]): void {
  for (const member of members) {
    const value = input[member];
    if (value !== undefined && value !== null && value !== 0)
      refuseInput(member, "This provider has no such parameter", "unsupported_parameter");
  }
}
