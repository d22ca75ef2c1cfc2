// Results that a provider stores elsewhere: a server that stops sending ends the download, long before the time of the job.

import { afterEach, expect, test } from "bun:test";
import { fetchResult } from "../../src/engines/fetch-result.ts";
import { GatewayError } from "../../src/errors.ts";
import { guard } from "../support/egress.ts";
import { createListeners } from "../support/listeners.ts";
import { rejectionOf } from "../support/thrown.ts";

const { answerWith, closeAll } = createListeners();

afterEach(closeAll);

// No download of these tests reaches its deadline: the tests would end before it.
const jobMs = 6 * 3_600_000;
const longMs = 600_000;
const clocks = {
  connectTimeoutMs: longMs,
  firstByteTimeoutMs: longMs,
  idleTimeoutMs: longMs,
  totalTimeoutMs: longMs,
};

function download(url: string, more: Partial<typeof clocks>): Promise<unknown> {
  const limits = { signal: new AbortController().signal, deadline: performance.now() + jobMs };
  return fetchResult(url, limits, {
    egress: guard().egress,
    clocks: { ...clocks, ...more },
    shutdownSignal: new AbortController().signal,
    provider: "tryout",
    isTls: false,
    maxBytes: 1_000,
  });
}

const half = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";

test.each([
  ["does not begin", "", { firstByteTimeoutMs: 100 }],
  ["stalls in the middle", half, { idleTimeoutMs: 100 }],
])("a download that %s is a timeout of the provider, which has performed the task", async (_name, sent, short) => {
  const { url } = await answerWith(sent, false);
  const failure = await rejectionOf(download(url, short), GatewayError);
  expect(failure).toMatchObject({ code: "provider_timeout", details: { mayHaveExecuted: true } });
  expect(failure.message).toContain("100 ms");
});
