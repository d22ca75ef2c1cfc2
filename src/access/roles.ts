// On whose behalf something is changed: a caller, a command, or the gateway itself.

import { hostname, userInfo } from "node:os";
import type { Actor } from "../storage/audit.ts";
import type { Caller } from "./caller.ts";

export const gatewayActor: Actor = {
  kind: "gateway",
  id: null,
  name: "gateway",
  role: "administrator",
  team: null,
  address: null,
  requestId: null,
};

/** Whoever runs a command has the files and the database of the gateway, and may do everything. */
export function commandActor(): Actor {
  return { ...gatewayActor, kind: "command", name: findUserName(), address: hostname() };
}

export interface Origin {
  /** The address of the client. */
  readonly address: string | null;
  readonly requestId: string;
}

export function toActor({ keyId, name, role, team, session }: Caller, { address, requestId }: Origin): Actor {
  if (role === null) throw new TypeError("Only callers with a role change something");
  const subject = session?.subject ?? null;
  const who = subject === null ? { kind: "key" as const, id: keyId } : { kind: "user" as const, id: subject };
  return { ...who, name, role, team, address, requestId };
}

/** The account of a container may have no name. */
function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return "command";
  }
}
