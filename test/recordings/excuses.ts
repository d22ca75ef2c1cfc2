// Differences that are meant to be, each with its reason. One that applies and is needed by no recording fails the suite.

import type { Member } from "./outcome.ts";
import type { Recording } from "./recording.ts";

export type Door = "chat" | "messages";

export interface Excuse {
  readonly door: Door;
  readonly members: readonly Member[];
  readonly why: string;
  applies(recording: Recording): boolean;
}

export const excuses: readonly Excuse[] = [
  {
    door: "messages",
    members: ["calls", "finish"],
    why: "`function_call` answers the old `functions`, into which the gateway turns no tool of a Messages request",
    applies: ({ kind, body }) => kind === "chat" && /"finish_reason":\s*"function_call"/.test(body.toString()),
  },
];
