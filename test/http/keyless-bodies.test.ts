// Bodies of requests without a key: anyone can send them, so little of them is read.

import { expect, test } from "bun:test";
import { openConnection, type RawConnection, type RawResponse, requestBytes } from "../support/raw-http.ts";
import { createSessionClient } from "../support/session-client.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor });
const path = "/v3/manage/session";
const maxBytes = 16_384;

async function beginSignIn(framing: Record<string, string>): Promise<RawConnection> {
  const connection = await openConnection(gateway.url);
  const host = new URL(gateway.url).host;
  connection.send(requestBytes({ path, headers: { host, "content-type": "application/json", ...framing } }));
  return connection;
}

async function expectTooLarge(connection: RawConnection): Promise<void> {
  const response: RawResponse = await connection.receive();
  expect(response.status).toBe(413);
  expect(response.headers["connection"]?.toLowerCase()).toBe("close");
  const message = `The body may hold at most ${maxBytes} bytes.`;
  expect(JSON.parse(response.body.toString())).toMatchObject({
    error: { code: "payload_too_large", message },
    detail: message,
  });
  await connection.waitForClose();
}

test("a sign-in that declares a long body is refused before the body is sent", async () => {
  await expectTooLarge(await beginSignIn({ "content-length": "1000000" }));
});

test("a sign-in of undeclared length is refused as soon as its body is too long", async () => {
  const connection = await beginSignIn({ "transfer-encoding": "chunked" });
  const piece = `1000\r\n${" ".repeat(4_096)}\r\n`;
  connection.send(piece.repeat(maxBytes / 4_096));
  // No last chunk follows.
  connection.send("1\r\n \r\n");
  await expectTooLarge(connection);
});

test("a sign-in of the longest permitted size is read, and requests with a key may be longer", async () => {
  const body = JSON.stringify({ key: gateway.adminKey }).padEnd(maxBytes, " ");
  const connection = await beginSignIn({ "content-length": String(maxBytes) });
  connection.send(body);
  expect((await connection.receive()).status).toBe(200);
  connection.leave();
  const client = createSessionClient(gateway.url);
  const headers = { authorization: `Bearer ${gateway.adminKey}` };
  const long = await client.send("POST", "/v3/manage/keys", { body: { name: "a".repeat(maxBytes) }, headers });
  expect(long.status).toBe(422);
});
