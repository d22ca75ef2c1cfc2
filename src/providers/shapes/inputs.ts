// Reads the members that many tasks have in common from a call, and builds the requests and units that many vendors have in common.

import { lookUp } from "../../lib/look-up.ts";
import { type FormPart, type InputFile, refuseInput, type TaskCall, type TaskRequest } from "../task.ts";

/** Null: the caller did not name a language. */
export function languageOf({ input }: TaskCall, member = "language"): string | null {
  const language = input[member];
  return typeof language === "string" && language !== "" ? language : null;
}

/** The model that the caller named, or the default model that the task declares. */
export function modelOf({ model }: TaskCall): string {
  if (model === null) throw new Error("the call has no model");
  return model;
}

export function fileOf({ files }: TaskCall, member = "file"): InputFile {
  const file = files[member];
  if (file === undefined) throw new Error(`the call has no file ${member}`);
  return file;
}

export async function filePart(name: string, file: InputFile): Promise<FormPart> {
  return { name, fileName: file.name, mediaType: file.mediaType, bytes: await file.read() };
}

export async function readBase64(file: InputFile): Promise<string> {
  return Buffer.from(await file.read()).toString("base64");
}

export async function dataUrlOf(file: InputFile): Promise<string> {
  return `data:${file.mediaType};base64,${await readBase64(file)}`;
}

export function postJson(path: string, value: unknown, more: Omit<TaskRequest, "path" | "body"> = {}): TaskRequest {
  return { path, body: { kind: "json", value }, ...more };
}

/** The units of a task that is billed by the characters of its text, when the text was sent `requests` times. */
export function textUnits({ input }: TaskCall<{ text: string }>, requests = 1) {
  return { char: requests * countCharacters(input.text), request: requests };
}

/** The units of a task on one image. */
export const oneImage = { image: 1, file: 1, request: 1 } as const;

/** Characters as vendors bill them: code points, not UTF-16 units. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Refuses members that this vendor has no parameter for, unless their value requests nothing: null, 0, false, or an empty list. */
export function refuseMembers({ input }: TaskCall, members: readonly string[]): void {
  for (const member of members) {
    const value = input[member];
    const isEmpty = !value || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) refuseInput(member, "This provider has no such parameter", "unsupported_parameter");
  }
}

/** The vendor's value for the name that the caller chose. */
export function chooseFrom<T>(choices: Readonly<Record<string, T>>, wanted: string, member: string): T {
  return (
    lookUp(choices, wanted) ??
    refuseInput(member, `This provider supports ${Object.keys(choices).join(", ")}`, "literal_error")
  );
}
