// Turns a request into a WebSocket, after the same checks as for other requests with a key.

import type { LongBodies } from "../access/long-bodies.ts";
import { GatewayError } from "../errors.ts";
import type { Admission } from "./admission.ts";
import { checkKind } from "./admit-caller.ts";
import type { Authenticator } from "./authenticate.ts";
import type { Drain } from "./drain.ts";
import { overloaded } from "./error-reply.ts";
import type { Exchange } from "./exchange.ts";
import type { ListenerHandover } from "./handover.ts";
import { spellingsOf } from "./router.ts";
import { type BunServer, type OpenSockets, SocketConnection, type SocketRoute } from "./socket.ts";

interface SocketUpgradeOptions {
  readonly socketRoutes: readonly SocketRoute[];
  readonly authenticator: Authenticator;
  readonly admission: Admission;
  readonly longBodies: LongBodies;
  readonly openSockets: OpenSockets;
  readonly drain: Drain;
  readonly handover: ListenerHandover | undefined;
}

export type SocketUpgrade = ReturnType<typeof createSocketUpgrade>;

export function createSocketUpgrade(options: SocketUpgradeOptions) {
  const { authenticator, admission, longBodies, openSockets, drain, handover } = options;
  const byPath = new Map(options.socketRoutes.flatMap((route) => spellingsOf(route).map((path) => [path, route])));

  return {
    /** Undefined for a request that does not ask for a WebSocket of a known path. */
    findRoute({ method, headers }: Request, path: string | null): SocketRoute | undefined {
      if (method !== "GET" || headers.get("upgrade")?.toLowerCase() !== "websocket") return undefined;
      return byPath.get(path ?? "");
    },

    async upgrade(exchange: Exchange, server: BunServer, route: SocketRoute): Promise<undefined> {
      const { request, requestId, client } = exchange;
      const authorization = request.headers.get("authorization");
      // Repeated for every message, because a key may be revoked while its connection is open. Limits count messages, not connections.
      const identify = async () => {
        const caller = await authenticator.authenticate(authorization, () => client);
        checkKind(caller, "inference");
        const load = admission.begin(caller.keyId, performance.now());
        if (load === null) {
          admission.noteRefusal();
          throw overloaded(admission.chooseRetryAfter());
        }
        admission.answered(load, 0, false);
        longBodies.noteRequest(caller.keyId, performance.now());
        return caller;
      };
      const caller = await identify();
      const reserve = (bytes: number) => {
        const turn = longBodies.waitForTurn(caller.keyId, bytes);
        admission.countBytes(caller.keyId, bytes);
        return turn;
      };
      if (drain.isDraining || handover?.isActive === false)
        throw new GatewayError("draining", "The gateway is shutting down; connect again.");
      const data = new SocketConnection(route, requestId, { caller, identify, reserve });
      openSockets.add(data);
      if (server.upgrade(request, { data, headers: { "x-request-id": requestId } })) return;
      openSockets.remove(data);
      throw new GatewayError("malformed_request", "The request to open a WebSocket is not valid.", {
        headers: { "sec-websocket-version": "13" },
      });
    },
  };
}
