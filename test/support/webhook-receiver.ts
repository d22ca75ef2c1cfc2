// An https server on loopback that webhooks are sent to, for the name hooks.example.com.

import { join } from "node:path";

const folder = join(import.meta.dir, "tls");

/** What a gateway has to be told by NODE_EXTRA_CA_CERTS to trust it. */
export const webhookCertificate = join(folder, "receivers-certificate.pem");

export interface WebhookReceiver {
  readonly port: number;
  readonly url: string;
  stop(): void;
}

export function startWebhookReceiver(answer: (request: Request) => Response | Promise<Response>): WebhookReceiver {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: Bun.file(webhookCertificate), key: Bun.file(join(folder, "receivers-key.pem")) },
    fetch: answer,
  });
  const port = server.port ?? 0;
  return { port, url: `https://hooks.example.com:${port}/hook`, stop: () => void server.stop(true) };
}
