// Reads the events of a streamed answer.

import { ApiError } from "../api/client.ts";

export type StreamEvent = Readonly<Record<string, unknown>>;

const maxEventLength = 32_000_000;

/** The JSON of each event. Throws an ApiError when the stream reports an error, or ends without the mark that completes it. */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent> {
  const requestId = response.headers.get("x-request-id");
  const fail = (message: string, code: string) => new ApiError(message, { status: response.status, code, requestId });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) throw fail("The answer was cut off before it was complete.", "cut_off");
      const lines = (rest + part.value).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > maxEventLength) throw fail("The answer has an event that is too large.", "too_large");
      for (const line of lines) {
        if (!line.startsWith("data:")) continue;
        const data = line.slice(5).trim();
        if (data === "[DONE]") return;
        const event = JSON.parse(data) as StreamEvent;
        const { error, type } = event;
        // In the format of responses, errors are events like others, and the failed response follows.
        if (type === undefined && isErrorObject(error)) throw fail(error.message, error.code ?? "error");
        yield event;
      }
    }
  } finally {
    // When the reader is cancelled, the gateway cancels the call to the provider.
    await reader?.cancel().catch(() => {});
  }
}

function isErrorObject(value: unknown): value is { readonly message: string; readonly code?: string } {
  return typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";
}
