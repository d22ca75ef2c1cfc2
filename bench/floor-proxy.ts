// The least that a proxy on our runtime costs: Bun.serve and our HTTP client, without a key, JSON, limits, a ledger or a log. bench/floor.ts
// measures it. Arguments: the port to listen at, and the port of the vendor.

import { createTicker } from "../src/lib/ticker.ts";
import { HttpClient } from "../src/providers/http-client.ts";

const [port, vendorPort] = process.argv.slice(2).map(Number) as [number, number];
const client = new HttpClient(createTicker(100));
const vendor = { hostname: "127.0.0.1", port: vendorPort, isTls: false };
const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${vendorPort}\r\ncontent-type: application/json\r\n`;
const headers = { "content-type": "application/json" };

Bun.serve({
  hostname: "127.0.0.1",
  port,
  development: false,
  routes: { "/v1/chat/completions": answer },
  fetch: () => new Response(null, { status: 404 }),
});

async function answer(request: Request): Promise<Response> {
  const exchange = client.send(vendor, head, await request.bytes());
  await exchange.open();
  const pieces: Uint8Array[] = [];
  for (;;) {
    const piece = exchange.take();
    if (piece === null) break;
    if (piece === undefined) await exchange.wait();
    else pieces.push(piece);
  }
  const [only] = pieces;
  const body = only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces);
  return new Response(body as Uint8Array<ArrayBuffer>, { status: exchange.status, headers });
}
