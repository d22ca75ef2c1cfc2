// A gateway for the audio, image and moderation endpoints, and the official client of OpenAI.

import { beforeEach } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { localEngines } from "../../src/engines/local/list.ts";
import { findPackage } from "../../src/engines/local/resolve-package.ts";
import OpenAI, { APIError, toFile } from "../tools/node_modules/openai/index.mjs";
import { answer } from "./answers.ts";
import { ask, readError } from "./chat.ts";
import { type KeyRequest, providerSecret } from "./gateway-settings.ts";
import { toSilence } from "./silence.ts";
import { sharedGateway } from "./test-gateway.ts";
import { rejectionOf } from "./thrown.ts";
import { startVendor } from "./vendor.ts";

export const maxFileBytes = 200_000;

/** At least this many bytes. */
export function recording(bytes = 16_000): Buffer<ArrayBuffer> {
  return toSilence({ samples: Math.ceil(bytes / 2) });
}

export const wave = () => toFile(recording(), "meeting.wav", { type: "audio/wav" });

export function canHear(): boolean {
  const engine = localEngines.find(({ task }) => task === "audio/speech_to_text_async");
  return engine?.packages.every((name) => findPackage(name) !== null) ?? false;
}

export interface Refusal {
  readonly status: number | undefined;
  readonly code: string | null | undefined;
  readonly param: string | null | undefined;
  readonly message: string;
}

export async function refusalOf(call: PromiseLike<unknown>): Promise<Refusal> {
  const { status, code, param, message } = await rejectionOf<APIError>(call, APIError);
  return { status, code, param, message };
}

/** It stops after the last test of the file. */
export async function openMediaGateway() {
  const vendor = await startVendor(() => answer(404, { error: { message: "no such path" } }));
  const origin = `http://127.0.0.1:${vendor.port}`;
  const gateway = await sharedGateway({
    vendor,
    env: {
      SWITCHYARD_MAX_FILE_BYTES: String(maxFileBytes),
      SWITCHYARD_LOCAL_WORKERS: "1",
      OPENAI_API_KEY: providerSecret,
      OPENAI_BASE_URL: `${origin}/openai/v1`,
    },
    config: {
      providers: {
        inhouse: {
          dialect: "openai",
          base_url: `${origin}/tasks/v1`,
          api_key: providerSecret,
          tasks: ["audio/tts", "audio/speech_to_text_async", "text/moderation"],
        },
      },
    },
  });
  const key = await gateway.createKey();
  const client = clientWith(key);
  beforeEach(() => vendor.clear());
  function clientWith(apiKey: string): OpenAI {
    return new OpenAI({ baseURL: `${gateway.url}/v3`, apiKey, maxRetries: 0, timeout: 100_000 });
  }
  async function keyWith(request: KeyRequest): Promise<OpenAI> {
    return clientWith(await gateway.createKey(request));
  }
  /** Eight thousand samples of silence: a second. */
  /** What the vendor was asked. */
  function asked(): Record<string, unknown> {
    return JSON.parse(vendor.last().body.toString()) as Record<string, unknown>;
  }
  /** Whether the group of packages is there. */
  /** What the client throws. */
  /** Files that are being written, or lent to a request. */
  function unfinished(): string[] {
    const folder = join(gateway.dataFolder, "files", "incoming");
    return existsSync(folder) ? readdirSync(folder) : [];
  }
  async function problemsOf(path: string, body: unknown) {
    const response = await ask(gateway.url, key, body, { path });
    const { detail } = (await response.clone().json()) as { detail: { loc: string[]; type: string }[] };
    const { status } = await readError(response);
    return { status, problems: detail.map(({ loc, type }) => ({ loc, type })) };
  }

  return { vendor, gateway, key, client, keyWith, asked, unfinished, problemsOf };
}
