// Signature Version 4. The first signatures are those of the test suite that AWS publishes
// (https://docs.aws.amazon.com/general/latest/gr/signature-v4-test-suite.html); the rest is checked by a server that computes
// the signature of what it received on its own.

import { expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { type AwsCredentials, createAwsAuthorizer } from "../../src/providers/authorize/aws.ts";

const suite = {
  region: "us-east-1",
  service: "service",
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};
const suiteTime = () => new Date("2015-08-30T12:36:00Z");
const plain = { method: "POST", host: "example.amazonaws.com", path: "/", body: "", headers: {} };
const scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request";

test.each([
  ["get-vanilla", { ...plain, method: "GET" }, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  ["post-vanilla", plain, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
  [
    "get-vanilla-query-order-key-case",
    { ...plain, method: "GET", path: "/?Param2=value2&Param1=value1" },
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  ],
])("signs %s as the published suite does", async (_name, request, signature) => {
  const headers = await createAwsAuthorizer(suite, suiteTime).authorize(request);

  expect(headers).toEqual({
    "x-amz-date": "20150830T123600Z",
    authorization: `${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  });
});

test("the content type is part of the signature, as in post-x-www-form-urlencoded", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded", "user-agent": "not signed" };
  const signed = await createAwsAuthorizer(suite, suiteTime).authorize({ ...plain, headers, body: "Param1=value1" });

  expect(signed["authorization"]).toBe(
    `${scope}, SignedHeaders=content-type;host;x-amz-date, ` +
      "Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
  );
});

const own: AwsCredentials = {
  region: "eu-central-1",
  service: "bedrock",
  accessKeyId: "AKIDLOCAL",
  secretAccessKey: "a local secret/with+signs",
};
const profile = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2c3";

test.each([
  ["a model id with a colon", `/model/${encodeURIComponent("eu.amazon.nova-lite-v1:0")}/converse`, own],
  ["an ARN with slashes", `/model/${encodeURIComponent(profile)}/converse-stream`, own],
  ["a path of a proxy before it", "/proxy/v1/model/zai.glm-5/converse", own],
  ["credentials that run out", "/model/zai.glm-5/converse", { ...own, sessionToken: "token//with==signs" }],
])("a server that computes the signature itself accepts %s", async (_name, path, credentials) => {
  const { status, answer } = await callServer(credentials, path);

  expect(answer).toBe("the signature is right");
  expect(status).toBe(200);
});

test("a body that was changed on the way is not accepted", async () => {
  const { status } = await callServer(own, "/model/zai.glm-5/converse", '{"changed":true}');

  expect(status).toBe(403);
});

/** Signs a request, sends it, perhaps with another body, and gives back what the server says of it. */
async function callServer(credentials: AwsCredentials, path: string, sentBody?: string) {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const problem = findProblem(request, body, credentials);
    response.writeHead(problem === null ? 200 : 403).end(problem ?? "the signature is right");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const host = `127.0.0.1:${port}`;
    const body = JSON.stringify({ messages: [{ role: "user", content: [{ text: "é 東京" }] }] });
    const headers = { "content-type": "application/json" };
    const signed = await createAwsAuthorizer(credentials).authorize({ method: "POST", host, path, body, headers });
    return await send({ port, path, headers: { ...headers, ...signed, host }, body: sentBody ?? body });
  } finally {
    server.close();
  }
}

interface Sent {
  readonly port: number;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

function send({ body, ...options }: Sent): Promise<{ status: number; answer: string }> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      { hostname: "127.0.0.1", method: "POST", timeout: 5_000, ...options },
      async (response) => {
        const pieces = await Array.fromAsync(response as AsyncIterable<Buffer>);
        resolve({ status: response.statusCode ?? 0, answer: Buffer.concat(pieces).toString() });
      },
    );
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.end(body);
  });
}

/** What is wrong with a request that arrived; null when nothing is. */
function findProblem({ method, url = "", headers }: IncomingMessage, body: Buffer, credentials: AwsCredentials) {
  const sent = /SignedHeaders=([^,]+), Signature=(\w+)$/.exec(headers.authorization ?? "");
  if (sent === null) return "there is no signature";
  const [, names = "", signature = ""] = sent;
  if (credentials.sessionToken !== undefined && !names.includes("x-amz-security-token"))
    return "the token is not signed";
  // Of all services but one, each step of the path is encoded once more than on the wire.
  const path = url.split("/").map(encodeURIComponent).join("/");
  const lines = names.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const hash = createHash("sha256").update(body).digest("hex");
  const canonical = [method, path, "", lines.join(""), names, hash].join("\n");
  const date = String(headers["x-amz-date"]);
  if (Math.abs(Date.now() - Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)/, "$1-$2-$3:$4:"))) > 60_000)
    return `the time is not now: ${date}`;
  const steps = [date.slice(0, 8), credentials.region, credentials.service, "aws4_request"];
  const start: Buffer | string = `AWS4${credentials.secretAccessKey}`;
  const key = steps.reduce<Buffer | string>((last, step) => createHmac("sha256", last).update(step).digest(), start);
  const digest = createHash("sha256").update(canonical).digest("hex");
  const toSign = ["AWS4-HMAC-SHA256", date, steps.join("/"), digest].join("\n");
  const right = createHmac("sha256", key).update(toSign).digest("hex");
  return right === signature ? null : `the signature is wrong for ${canonical}`;
}
