// One client of a load test: it sends one request after the other until the test ends.

import { openConnection, type RawConnection } from "./raw-http.ts";

export interface Lane {
  readonly url: string;
  /** Whether the client keeps its connection or opens one for every request. */
  readonly keeps: boolean;
  readonly pauseMs: number;
  isRunning(): boolean;
  /** Sends one request, and returns whether the connection can carry another. */
  once(connection: RawConnection, isKept: boolean): Promise<boolean>;
  onError(message: string): void;
}

export async function runLane({ url, keeps, pauseMs, isRunning, once, onError }: Lane): Promise<void> {
  let connection: RawConnection | null = null;
  while (isRunning()) {
    try {
      // A connection that was closed while idle, or announced to close, is replaced as every client does it.
      const usable: RawConnection = connection?.isClosed() === false ? connection : await openConnection(url);
      const mayStay = await once(usable, usable === connection);
      connection = keeps && mayStay ? usable : null;
      if (connection === null) usable.leave();
    } catch (error) {
      onError(String(error));
      connection = null;
    }
    await Bun.sleep(pauseMs);
  }
  connection?.leave();
}
