// `/v3/webhooks/…`: the public keys with which receivers check callbacks. For everybody: a receiver need not have a key of the gateway.

import { createDocument, type Document } from "../../catalogue/document.ts";
import {
  type PublishedKey,
  publishedKeysMaxAgeSeconds,
  toKeySet,
  toPem,
  type WebhookKeys,
} from "../../jobs/webhook-keys.ts";
import { sendDocument } from "../openapi/send-document.ts";
import type { Reply } from "../reply.ts";
import type { Call, Route } from "../route.ts";

interface Dependencies {
  readonly keys: Pick<WebhookKeys, "published">;
}

const headers = { "cache-control": `public, max-age=${publishedKeysMaxAgeSeconds}` };

export function webhookRoutes({ keys }: Dependencies): Route[] {
  return [
    { method: "GET", path: "/v3/webhooks/public-key", key: "none", run: (call) => send(call, toCurrentPem) },
    { method: "GET", path: "/v3/webhooks/keys", key: "none", run: (call) => send(call, toKeySetDocument) },
  ];

  async function send(call: Call, toDocument: (keys: readonly PublishedKey[]) => Document): Promise<Reply> {
    return sendDocument(call, toDocument(await keys.published()), headers);
  }
}

/** The one that signs now; the list of keys has the others. */
function toCurrentPem(keys: readonly PublishedKey[]): Document {
  return createDocument(
    keys
      .filter(({ state }) => state === "current")
      .map(({ rsa }) => toPem(rsa))
      .join(""),
    "application/x-pem-file",
  );
}

function toKeySetDocument(keys: readonly PublishedKey[]): Document {
  return createDocument(JSON.stringify(toKeySet(keys)), "application/jwk-set+json");
}
