// Limits the buffer for a line without an end.
const maxLineLength = 8_192;

/** Forwards standard error line by line: plain text of a driver or of the runtime would break a log of JSON lines. */
export async function forwardLines(output: ReadableStream<Uint8Array>, report: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of output) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, maxLineLength);
    for (const line of lines) if (line.trim() !== "") report(line);
  }
  if (rest.trim() !== "") report(rest);
}
