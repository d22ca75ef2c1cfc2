// The vendors' own clients. They are installed only where there are recordings, so nothing of them, types included, can be
// imported in the usual way: each reader declares the little that it uses.

import { join } from "node:path";

import type { JsonObject } from "./recording.ts";

export type ClientClass<Client> = new (options: JsonObject) => Client;
export type Ask = (request: JsonObject) => Promise<JsonObject>;
export type AskStream = (request: JsonObject) => Promise<AsyncIterable<JsonObject>>;

const folder = join(import.meta.dir, "../tools/recordings");

export async function loadClient<Module>(name: string): Promise<Module> {
  return (await import(Bun.resolveSync(name, folder))) as Module;
}
