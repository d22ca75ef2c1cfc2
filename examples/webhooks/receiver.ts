// A receiver of Switchyard's callbacks in TypeScript: Node alone, no package.
//
//   GATEWAY=https://gateway.example.com PORT=8000 node receiver.ts
//
// Both signatures are checked over the bytes that arrived. Put it behind whatever ends TLS for you.

import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";

const gateway = process.env["GATEWAY"] ?? "http://127.0.0.1:8080";
const port = Number(process.env["PORT"] ?? 8000);
const maxBodyBytes = 64 * 1024 * 1024;
const maxAgeSeconds = 300;

interface Keys {
  readonly rsa: readonly KeyObject[];
  readonly ed25519: readonly KeyObject[];
  readonly readAt: number;
}

let keys: Keys | null = null;

async function readKeys(): Promise<Keys> {
  const answer = await fetch(`${gateway}/v3/webhooks/keys`, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status}`);
  const set = (await answer.json()) as { keys: Record<string, string>[] };
  const all = set.keys.map((key) => createPublicKey({ key, format: "jwk" }));
  keys = {
    rsa: all.filter((key) => key.asymmetricKeyType === "rsa"),
    ed25519: all.filter((key) => key.asymmetricKeyType === "ed25519"),
    readAt: Date.now(),
  };
  return keys;
}

async function isAuthentic(headers: IncomingHttpHeaders, body: Buffer): Promise<boolean> {
  const known = keys ?? (await readKeys());
  if (isSigned(headers, body, known)) return true;
  // It may be a key that is newer than ours. Ask again, but not for every forged request.
  if (Date.now() - known.readAt < 2_000) return false;
  return isSigned(headers, body, await readKeys());
}

function isSigned(headers: IncomingHttpHeaders, body: Buffer, { rsa, ed25519 }: Keys): boolean {
  // The text of the body's digest is what RSA signs, and RSA makes a digest of it once more.
  const digest = Buffer.from(createHash("sha256").update(body).digest("hex"));
  const signature = Buffer.from(String(headers["x-service-signature"] ?? ""), "hex");
  if (!rsa.some((key) => verify("sha256", digest, key, signature))) return false;

  const id = String(headers["webhook-id"] ?? "");
  const timestamp = String(headers["webhook-timestamp"] ?? "");
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < maxAgeSeconds)) return false;
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const standard = String(headers["webhook-signature"] ?? "").split(" ");
  return standard.some((one) => {
    const bytes = Buffer.from(one.replace(/^v1a,/, ""), "base64");
    return one.startsWith("v1a,") && bytes.length === 64 && ed25519.some((key) => verify(null, content, key, bytes));
  });
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    parts.push(part as Buffer);
    length += (part as Buffer).length;
    if (length > maxBodyBytes) throw new Error("the body is too long");
  }
  return Buffer.concat(parts);
}

// A callback may come more than once. Keep this in your database, together with what you do about a job.
const done = new Set<string>();

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request);
    if (request.method !== "POST" || !(await isAuthentic(request.headers, body))) {
      response.writeHead(400).end("not a callback of the gateway\n");
      return;
    }
    const { job_id, status } = JSON.parse(body.toString()) as { job_id: string; status: "success" | "fail" };
    console.log(`job ${job_id}: ${status}${done.has(job_id) ? ", seen before" : ""}`);
    done.add(job_id);
    response.writeHead(204).end();
  } catch (error) {
    // 5xx: the gateway tries again. 4xx would be the end of it.
    console.error(error);
    response.writeHead(503).end();
  }
});

server.listen(port, () => {
  const address = server.address();
  console.log(`listening on ${typeof address === "object" ? address?.port : address}`);
});
