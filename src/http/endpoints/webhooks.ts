// `/v3/webhooks/…`: the public keys with which receivers check callbacks. Receivers need no key of the gateway.

import { createDocument, type Document } from "../../catalogue/document.ts";
import { webhookKeySet } from "../../contract/async-jobs.ts";
import {
  type PublishedKey,
  publishedKeysMaxAgeSeconds,
  toKeySet,
  toPem,
  type WebhookKeys,
} from "../../jobs/webhook-keys.ts";
import { defineRoute, type Route } from "../route.ts";
import { documentAnswers, documentHeaders, sendDocument } from "../send-document.ts";

const common = { tag: "Jobs", method: "GET", key: "none", headers: documentHeaders } as const;
const pemType = "application/x-pem-file";
const keySetType = "application/jwk-set+json";
const cacheHeaders = { "cache-control": `public, max-age=${publishedKeysMaxAgeSeconds}` };

export function webhookRoutes(keys: Pick<WebhookKeys, "published">): Route[] {
  return [
    defineRoute("retrieveWebhookKey", "Retrieve the current webhook key", {
      ...common,
      description: "The RSA public key of `X-Service-Signature`, in PEM.",
      path: "/v3/webhooks/public-key",
      answers: documentAnswers({ description: "The public key.", contentType: pemType }),
      run: async (call) => sendDocument(call, toCurrentPem(await keys.published()), cacheHeaders),
    }),
    defineRoute("listWebhookKeys", "List all webhook keys", {
      ...common,
      description: "A JSON Web Key Set: RSA for `X-Service-Signature`, Ed25519 for the Standard Webhooks headers.",
      path: "/v3/webhooks/keys",
      answers: documentAnswers({ description: "The keys.", schema: webhookKeySet, contentType: keySetType }),
      run: async (call) => sendDocument(call, toKeySetDocument(await keys.published()), cacheHeaders),
    }),
  ];
}

function toCurrentPem(keys: readonly PublishedKey[]): Document {
  const current = keys.filter(({ state }) => state === "current");
  return createDocument(current.map(({ rsa }) => toPem(rsa)).join(""), pemType);
}

function toKeySetDocument(keys: readonly PublishedKey[]): Document {
  return createDocument(JSON.stringify(toKeySet(keys)), keySetType);
}
