// Writes the log to standard output. The processes of a gateway share it: where it is a pipe, the kernel mixes writes of more than 4 KB with
// those of others, and a line of JSON would be torn apart. Bun's own stream joins writes while the reader is slow, so the pipe is written
// here, in parts that the kernel keeps whole.

import { constants, fstatSync, openSync, writeSync } from "node:fs";

const outputFd = 1;
// PIPE_BUF of Linux.
const atomicBytes = 4_096;
const retryMs = 5;
const lastAttemptsMs = 1_000;
// While the reader does not read, this much is kept.
const maxWaitingBytes = 16_777_216;

/** `onLost` is called with the number of bytes that were lost, when the reader reads again. */
export function openStandardOutput(onLost: (bytes: number) => void): (lines: string) => void {
  const fd = openPipe();
  if (fd === null) return (lines) => void process.stdout.write(lines);
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let lostBytes = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;

  /** False while the reader does not read. */
  function drain(): boolean {
    timer = null;
    for (let part = waiting[0]; part !== undefined; part = waiting[0]) {
      const written = tryWrite(fd as number, part);
      waitingBytes -= written;
      if (written === part.length) waiting.shift();
      // A line of more than 4 KB can be written in part.
      else if (written > 0) waiting[0] = part.subarray(written);
      else return false;
    }
    const lost = lostBytes;
    lostBytes = 0;
    if (lost > 0) onLost(lost);
    return true;
  }

  process.on("exit", () => {
    const giveUpAt = performance.now() + lastAttemptsMs;
    while (!drain() && performance.now() < giveUpAt) Bun.sleepSync(retryMs);
  });
  return (lines) => {
    for (const part of toParts(lines)) {
      if (waitingBytes + part.length > maxWaitingBytes) lostBytes += part.length;
      else {
        waiting.push(part);
        waitingBytes += part.length;
      }
    }
    if (timer === null && !drain()) timer = setTimeout(retry, retryMs);
  };

  function retry(): void {
    if (!drain()) timer = setTimeout(retry, retryMs);
  }
}

/** A description of the pipe of its own, so that writing can fail instead of blocking this process. Null for other outputs. */
function openPipe(): number | null {
  try {
    if (!fstatSync(outputFd).isFIFO()) return null;
    return openSync(`/proc/self/fd/${outputFd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}

/** How many bytes were written. */
function tryWrite(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    // Without a reader, the line is lost; the gateway goes on.
    return code === "EAGAIN" ? 0 : bytes.length;
  }
}

/** Whole lines, as many as fit. */
function toParts(lines: string): Buffer[] {
  const bytes = Buffer.from(lines);
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const fits = bytes.lastIndexOf(0x0a, from + atomicBytes - 1);
    const longLine = bytes.indexOf(0x0a, from);
    const last = fits >= from ? fits : longLine >= 0 ? longLine : bytes.length - 1;
    parts.push(bytes.subarray(from, last + 1));
    from = last + 1;
  }
  return parts;
}
