// Speech that a vendor made: bytes, told by an address.

import type { TaskDraft } from "../../contract/tasks.ts";
import type { TaskCall } from "../task.ts";
import { refuseInput, TaskFailure, type TaskResponse, type TaskResult } from "../task.ts";
import { countCharacters, textOf } from "./inputs.ts";

/** The result of `audio/tts`. */
export function toSpeech(answer: TaskResponse, call: TaskCall, mediaType: string): TaskResult<TaskDraft<"audio/tts">> {
  if (answer.mediaType.endsWith("json")) throw new TaskFailure(502, "The provider did not answer with audio");
  if (answer.bytes.length === 0) throw new TypeError("there is no audio in the answer");
  return {
    output: {},
    units: { char: countCharacters(textOf(call)), request: 1 },
    binaries: [{ base64Path: null, urlPath: ["audio_resource_url"], bytes: answer.bytes, mediaType }],
    original: null,
  };
}

/** What the vendor calls the wanted format. */
export function formatOf<T>({ input }: TaskCall, formats: Readonly<Record<string, T>>): T {
  const wanted = String(input["audio_format"] ?? "mp3").toLowerCase();
  const format = Object.hasOwn(formats, wanted) ? formats[wanted] : undefined;
  if (format === undefined)
    refuseInput("audio_format", `This provider has the formats ${Object.keys(formats).join(", ")}`, "literal_error");
  return format;
}

export function voiceOf({ input }: TaskCall): string | null {
  const { voice } = input as { readonly voice?: unknown };
  return typeof voice === "string" && voice !== "" ? voice : null;
}
