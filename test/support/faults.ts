// The faults of test/support/fault-table.ts as a vendor commits them, in the chat format and in Anthropic's.

import {
  answer,
  chatChunk,
  completion,
  event,
  fin,
  hang,
  headOf,
  httpChunk,
  lastHttpChunk,
  rst,
  type Script,
  type Step,
  stream,
  streamHead,
  until,
  wait,
  write,
} from "./answers.ts";
import { claudeAnswer, claudeBegun, claudeError, claudeEvent, claudeMessage } from "./anthropic.ts";
import type { FaultName } from "./fault-table.ts";

export const wires = ["openai", "anthropic"] as const;
export type Wire = (typeof wires)[number];

interface Format {
  readonly healthy: (text: string, isStream: boolean) => Script;
  readonly whole: (text: string) => unknown;
  /** A stream up to some content. */
  readonly begun: (text: string) => readonly Step[];
  readonly errorEvent: Step;
  readonly errorBody: unknown;
}

const overloaded = { error: { message: "overloaded", type: "server_error" } };

const formats: Readonly<Record<Wire, Format>> = {
  openai: {
    healthy: (text, isStream) => (isStream ? stream([text]) : answer(200, completion(text))),
    whole: completion,
    begun: (text) => [
      streamHead(),
      event(chatChunk({ role: "assistant", content: "" })),
      event(chatChunk({ content: text })),
    ],
    errorEvent: event(overloaded),
    errorBody: overloaded,
  },
  anthropic: {
    healthy: claudeAnswer,
    whole: claudeMessage,
    begun: (text) => claudeBegun([text]),
    errorEvent: claudeEvent(claudeError("overloaded_error", "Overloaded")),
    errorBody: claudeError("overloaded_error", "Overloaded"),
  },
};

export function healthyScript(wire: Wire, isStream: boolean, text = "all well"): Script {
  return formats[wire].healthy(text, isStream);
}

// Lets what was written arrive: a reset discards what is still on its way.
const settled = wait(50);
const page = "<html><body>Bad gateway</body></html>";

interface Fault {
  readonly wire: Wire;
  readonly isStream: boolean;
  /** Fulfilled when the caller has content: a stream is broken only then. */
  readonly seen: Promise<unknown>;
}

/** Null: nobody listens. */
export function faultScript(fault: FaultName, { wire, isStream, seen }: Fault): Script | null {
  const format = formats[wire];
  const broken = (...then: readonly Step[]): Script =>
    isStream ? [...format.begun("so far"), until(seen), ...then] : [...halfAnswer(format), settled, ...then];
  switch (fault) {
    case "refused":
      return null;
    case "reset before an answer":
      return [rst];
    case "reset in mid-answer":
      return broken(rst);
    case "429, Retry-After 7":
      return answer(429, format.errorBody, { "retry-after": "7" });
    case "429, Retry-After 1":
      return answer(429, format.errorBody, { "retry-after": "1" });
    case "500":
      return answer(500, format.errorBody);
    case "529":
      return answer(529, format.errorBody);
    case "no first byte in time":
      return [hang];
    case "stall in mid-answer":
      return broken(hang);
    case "cut in mid-answer":
      return isStream ? broken(lastHttpChunk) : broken(fin);
    case "a page instead of an answer":
      return answer(200, page, { "content-type": "text/html" });
    case "nonsense in mid-answer":
      if (isStream) return broken(httpChunk('data: {"choices":[{"delta"\n\n'), lastHttpChunk);
      return answer(200, `${JSON.stringify(format.whole("so far")).slice(0, -20)}]]`, {
        "content-type": "application/json",
      });
    case "an error as the first event":
      return isStream ? [streamHead(), format.errorEvent, lastHttpChunk] : answer(200, format.errorBody);
    case "an error in mid-answer":
      return isStream ? broken(format.errorEvent, lastHttpChunk) : answer(200, format.errorBody);
    default:
      return fault satisfies never;
  }
}

function halfAnswer(format: Format): Step[] {
  const text = JSON.stringify(format.whole("so far"));
  const head = headOf(200, { "content-type": "application/json", "content-length": String(text.length) });
  return [write(head), write(text.slice(0, text.length / 2))];
}
