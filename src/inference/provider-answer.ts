// Reads a provider's answers as JSON objects, and names what is wrong with an answer that is not one.

import { GatewayError } from "../errors.ts";
import type { Provider } from "../providers/configure.ts";

export function readObject(text: string, provider: Provider): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badAnswer(provider, "answered with something that is not JSON", cause);
  }
  if (typeof value !== "object" || value === null) throw badAnswer(provider, "did not answer with an object");
  return value as Record<string, unknown>;
}

export function badAnswer(provider: Provider, what: string, cause?: unknown): GatewayError {
  return new GatewayError("provider_bad_response", `The provider '${provider.name}' ${what}.`, { cause });
}

/** A stream that closes without its end marker is incomplete, even when the connection closes cleanly. */
export function incompleteStream(provider: Provider): GatewayError {
  return new GatewayError(
    "provider_disconnected",
    `The provider '${provider.name}' closed the stream before it was complete.`,
  );
}

/** Fills in the model where the provider's path contains it. */
export function fillModel(path: string, model: string): string {
  return path.includes("{model}") ? path.replaceAll("{model}", encodeURIComponent(model)) : path;
}
