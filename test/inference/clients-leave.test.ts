// A client that goes away takes its vendor's call with it, at whatever moment: nobody pays for an answer without a
// reader.

import { expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  completion,
  event,
  hang,
  headOf,
  type Script,
  streamHead,
  write,
} from "../support/answers.ts";
import { ask, chatPath, hello } from "../support/chat.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor, type VendorRequest } from "../support/vendor.ts";
import { inParallel, waitFor } from "../support/wait.ts";

const clientsPerWindow = 200;
const atOnce = 50;

interface Window {
  readonly stream: boolean;
  readonly script: Script;
  /** Resolves once the client stands in the window. */
  readonly reached: (connection: RawConnection) => Promise<unknown>;
}

// The gateway shows nothing outside when it has read the vendor's headers: a moment must do.
const aMoment = () => Bun.sleep(30);
const someContent = [
  streamHead(),
  event(chatChunk({ role: "assistant", content: "" })),
  event(chatChunk({ content: "a" })),
];
const halfAnswer = headOf(200, { "content-type": "application/json", "content-length": "5000" });

const windows: Readonly<Record<string, Window>> = {
  "before the vendor's headers": { stream: true, script: [hang], reached: () => Promise.resolve() },
  "after the headers and before the first event": { stream: true, script: [streamHead(), hang], reached: aMoment },
  "in the middle of a stream": {
    stream: true,
    script: [...someContent, hang],
    reached: (connection) => waitFor("content", () => connection.text().includes('"a"')),
  },
  "during a call that is not streamed": {
    stream: false,
    script: [write(`${halfAnswer}{"id":`), hang],
    reached: aMoment,
  },
};

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor });
const key = await gateway.createKey();

for (const [name, window] of Object.entries(windows)) {
  test(`${clientsPerWindow} clients that leave ${name} end ${clientsPerWindow} vendor calls`, async () => {
    vendor.clear();
    const byModel = new Map<string, VendorRequest>();
    await inParallel(clientsPerWindow, atOnce, async (index) => {
      const model = `leave-${index}`;
      vendor.on(model, (request) => {
        byModel.set(model, request);
        return window.script;
      });
      const connection = await openConnection(gateway.url);
      connection.send(chatRequest(`mock/${model}`, window.stream));
      const call = await waitFor(`the call for ${model}`, () => byModel.get(model));
      await window.reached(connection);
      // A laptop that is closed says goodbye; a cut cable does not.
      if (index % 2 === 0) connection.leave();
      else connection.reset();
      await waitFor(`the end of the call for ${model}`, () => call.leftAt);
    });
    expect(byModel.size).toBe(clientsPerWindow);
  });
}

test("afterwards no call is left behind and the next one is served", async () => {
  vendor.clear();
  await waitFor("the vendor's connections to end", () => vendor.openConnections() <= 1);
  vendor.next(answer(200, completion("still here")));
  expect((await ask(gateway.url, key, hello)).status).toBe(200);
});

test("clients that leave are no errors of the gateway", () => {
  const errors = gateway
    .log()
    .split("\n")
    .filter((line) => line.includes('"level":"error"'));
  expect(errors.slice(0, 3)).toEqual([]);
});

function chatRequest(model: string, stream: boolean): Buffer {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return requestBytes({ path: chatPath, headers, body: JSON.stringify({ ...hello, model, stream }) });
}
