// What tasks of many vendors read from a call in the same way.

import type { EngineCall, EngineFile } from "../task.ts";
import { type FormPart, refuseInput } from "../task.ts";

export function textOf({ input }: EngineCall, member = "text"): string {
  return String(input[member]);
}

/** Null: the caller left it to the provider. */
export function languageOf({ input }: EngineCall, member = "language"): string | null {
  const language = input[member];
  return typeof language === "string" && language !== "" ? language : null;
}

export function fileOf({ files }: EngineCall, member = "file"): EngineFile {
  const file = files[member];
  if (file === undefined) throw new Error(`the call has no file ${member}`);
  return file;
}

export async function filePart(name: string, file: EngineFile): Promise<FormPart> {
  return { name, fileName: file.name, mediaType: file.mediaType, bytes: await file.read() };
}

export async function dataUrlOf(file: EngineFile): Promise<string> {
  return `data:${file.mediaType};base64,${Buffer.from(await file.read()).toString("base64")}`;
}

/** Characters as vendors bill them: code points, not UTF-16 units. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Members that this vendor has no way to express. Null and 0 ask for nothing. */
export function refuseMembers({ input }: EngineCall, members: readonly string[]): void {
  for (const member of members) {
    const value = input[member];
    if (value !== undefined && value !== null && value !== 0)
      refuseInput(member, "This provider has no such parameter", "unsupported_parameter");
  }
}
