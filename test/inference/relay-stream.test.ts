// A stream that is made of two calls of a provider. The test checks the timeouts itself, with the time that it chooses.

import { afterAll, expect, test } from "bun:test";
import { builtInPrices, createPriceBook } from "../../src/catalogue/prices.ts";
import { GatewayError } from "../../src/errors.ts";
import { ChatChunkWriter, ChatRelay } from "../../src/inference/chat-relay.ts";
import { PlainSource } from "../../src/inference/chunk-source.ts";
import { ParallelSource } from "../../src/inference/parallel-choices.ts";
import { createPricing } from "../../src/inference/pricing.ts";
import { RelayStream } from "../../src/inference/relay-stream.ts";
import { createTicker } from "../../src/lib/ticker.ts";
import { ProviderCall } from "../../src/providers/call.ts";
import { CallTicket } from "../../src/providers/call-ticket.ts";
import { configureProviders, type Provider } from "../../src/providers/configure.ts";
import type { Deployment } from "../../src/providers/deployment.ts";
import { HttpClient } from "../../src/providers/http-client.ts";
import { rows } from "../../src/providers/index.ts";
import {
  chatChunk,
  doneText,
  event,
  httpChunk,
  lastHttpChunk,
  type Step,
  streamHead,
  until,
} from "../support/answers.ts";
import { thrownBy } from "../support/thrown.ts";
import { startVendor } from "../support/vendor.ts";

const hourMs = 3_600_000;
const idleTimeoutMs = 2_000;

const vendor = await startVendor();
const settings = { own: { dialect: "openai", base_url: vendor.url, api_key: "k" } };
const provider = configureProviders(rows, settings, () => null).get("own") as Provider;
// It does not tick while a test runs.
const ticker = createTicker(hourMs);
const http = new HttpClient(ticker);
afterAll(() => {
  http.close();
  ticker.close();
  return vendor.stop();
});

const words = (content: string): Step => event(chatChunk({ content }));
const ending: readonly Step[] = [event(chatChunk({}, "stop")), httpChunk(doneText), lastHttpChunk];

async function openStream() {
  const address = provider.deployments[0] as Deployment;
  const never = new AbortController().signal;
  const clocks = { connectTimeoutMs: hourMs, firstByteTimeoutMs: hourMs, idleTimeoutMs, totalTimeoutMs: hourMs };
  const calls: ProviderCall[] = [];
  for (let index = 0; index < 2; index++) {
    const ticket = new CallTicket();
    const request = { ticket, provider, address, path: "/chat/completions", body: "{}", wantsStream: true };
    const limits = { connection: { signal: never }, shutdownSignal: never, clocks, deadline: Number.POSITIVE_INFINITY };
    const call = new ProviderCall({ ...request, ...limits, ticker, http });
    await call.open();
    calls.push(call);
  }
  const quote = createPricing(createPriceBook(builtInPrices, {})).quote(provider, "echo");
  const source = new ParallelSource([new PlainSource(provider), new PlainSource(provider)], quote);
  const relay = new ChatRelay({ source, writer: new ChatChunkWriter(false), quote, metadata: null });
  const stream = new RelayStream(calls, relay, () => {});
  await stream.open();

  let text = "";
  /** Reads until the text contains `wanted`, or to the end. */
  async function read(wanted: string | null): Promise<string> {
    while (wanted === null || !text.includes(wanted)) {
      const frames = stream.take();
      if (frames === null) break;
      if (frames === undefined) await stream.wait();
      else text += Buffer.concat(frames).toString();
    }
    return text;
  }

  /** More than the idle timeout passes. */
  function passTime(): void {
    for (const call of calls) call.check(ticker.now + idleTimeoutMs + 1);
  }

  return { stream, read, passTime };
}

test("the idle timeout of no call runs while the caller does not read", async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  vendor.next([streamHead(), words("one "), until(first.promise), words("two "), ...ending]);
  vendor.next([streamHead(), words("three "), until(second.promise), words("four "), ...ending]);
  const { read, passTime } = await openStream();
  await read("one ");
  passTime();
  await read("three ");
  const reading = read("two ");
  first.resolve();
  await reading;
  passTime();
  second.resolve();
  expect(await read(null)).toContain("four ");
});

test("a provider that is silent on all calls while the caller reads times out", async () => {
  const never = new Promise<void>(() => {});
  for (const word of ["one ", "two "]) vendor.next([streamHead(), words(word), until(never)]);
  const { stream, read, passTime } = await openStream();
  await read("one ");
  await read("two ");
  expect(stream.take()).toBeUndefined();
  const waiting = stream.wait();
  passTime();
  await waiting;
  expect(thrownBy(() => stream.take(), GatewayError).code).toBe("provider_timeout");
});
