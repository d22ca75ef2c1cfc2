// The memory for files that requests name by their address: what counts, for how long, and how keys share it.

import { afterEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import type { Downloads } from "../../src/egress/download-budget.ts";
import { GatewayError } from "../../src/errors.ts";
import { codeOf, fetchWith, guard } from "../support/egress.ts";
import { createListeners } from "../support/listeners.ts";
import { waitFor } from "../support/wait.ts";

const { listen, answerWith, closers, closeAll } = createListeners();
const maxDownloadBytes = 100_000;

afterEach(closeAll);

function open() {
  const { egress } = guard({}, ["127.0.0.0/8"], { maxDownloadBytes });
  return egress;
}

function refusalOf(downloads: Downloads, bytes: number): string | null {
  try {
    downloads.add(bytes);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.details.retryAfter).toBe(1);
    return error.code;
  }
  downloads.remove(bytes);
  return null;
}

/** What requests of the key hold, found by how much more it may hold. No other key holds anything. */
function heldBy(egress: ReturnType<typeof open>, keyId: string): number {
  using probe = egress.openDownloads(keyId);
  let [fits, tooMuch] = [0, maxDownloadBytes / 2 + 1];
  while (tooMuch - fits > 1) {
    const bytes = Math.floor((fits + tooMuch) / 2);
    if (refusalOf(probe, bytes) === null) fits = bytes;
    else tooMuch = bytes;
  }
  return maxDownloadBytes / 2 - fits;
}

function bodyOf(bytes: Uint8Array, headers = ""): Buffer {
  return Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${headers}content-length: ${bytes.length}\r\n\r\n`), bytes]);
}

describe("the bytes of a file", () => {
  test("count while they arrive, and no longer when the download fails", async () => {
    const egress = open();
    const stalled = await answerWith("HTTP/1.1 200 OK\r\ncontent-length: 40000\r\n\r\n".padEnd(30_000, "x"), false);
    using downloads = egress.openDownloads("a");
    const failure = codeOf(fetchWith(egress, stalled.url, { downloads }));
    await waitFor("the bytes to be counted", () => heldBy(egress, "a") > 29_000);
    for (const close of closers.splice(0)) close();
    expect(await failure).toBe("bad_response");
    expect(heldBy(egress, "a")).toBe(0);
  });

  test("count until the request ends", async () => {
    const egress = open();
    const { url } = await answerWith(bodyOf(Buffer.alloc(30_000)));
    const downloads = egress.openDownloads("a");
    await fetchWith(egress, url, { downloads });
    expect(heldBy(egress, "a")).toBe(30_000);
    downloads[Symbol.dispose]();
    downloads[Symbol.dispose]();
    expect(heldBy(egress, "a")).toBe(0);
  });

  test("count without those of a redirect before them", async () => {
    const egress = open();
    const target = await answerWith(bodyOf(Buffer.alloc(1_000)));
    const moved = `HTTP/1.1 302 Found\r\nlocation: ${target.url}/\r\ncontent-length: 9\r\n\r\nelsewhere`;
    const { url } = await answerWith(moved);
    using downloads = egress.openDownloads("a");
    await fetchWith(egress, url, { downloads, redirects: 1 });
    expect(heldBy(egress, "a")).toBe(1_000);
  });

  test("count as they are decompressed", async () => {
    const egress = open();
    const packed = gzipSync(Buffer.from(crypto.getRandomValues(new Uint8Array(10_000))).toString("hex"));
    const { url } = await answerWith(bodyOf(packed, "content-encoding: gzip\r\n"));
    using downloads = egress.openDownloads("a");
    await fetchWith(egress, url, { downloads, maxBytes: 30_000 });
    expect(heldBy(egress, "a")).toBe(20_000);
  });

  test("are not read on when they do not fit", async () => {
    const egress = open();
    using other = egress.openDownloads("a");
    other.add(40_000);
    const endless = await listen((socket) => {
      socket.once("data", () => void socket.write(`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(30_000)}`));
    });
    using downloads = egress.openDownloads("a");
    const failure = await fetchWith(egress, endless.url, { downloads }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "rate_limit_exceeded", details: { retryAfter: 1 } });
    expect(heldBy(egress, "a")).toBe(40_000);
    await waitFor("the connection to be closed", () => endless.open() === 0);
  });

  test("of one request that needs more than a key may hold are too many at any time", async () => {
    const egress = open();
    const { url } = await answerWith(bodyOf(Buffer.alloc(60_000)));
    using downloads = egress.openDownloads("a");
    expect(await codeOf(fetchWith(egress, url, { downloads }))).toBe("too_large");
  });
});

test("a key that holds all it may leaves memory for the next one", () => {
  const egress = open();
  using first = egress.openDownloads("a");
  first.add(50_000);
  using again = egress.openDownloads("a");
  expect(refusalOf(again, 1)).toBe("rate_limit_exceeded");
  using second = egress.openDownloads("b");
  second.add(25_000);
  using third = egress.openDownloads("c");
  third.add(12_500);
  using fourth = egress.openDownloads("d");
  expect(refusalOf(fourth, 6_250)).toBeNull();
  expect(refusalOf(fourth, 6_251)).toBe("overloaded");
  first[Symbol.dispose]();
  expect(refusalOf(fourth, 31_250)).toBeNull();
});
