// The last response of each WebSocket connection, with its conversation, so that it can be continued even when it is not stored. What one
// connection and all connections of a key remember is bounded.

import { cannotContinue, type LocalTurns } from "../../inference/responses/responses-input.ts";

/** As much as a stored conversation may have. */
const maxConversationLength = 32 * 1_048_576;
/** Of all connections of a key in this process. */
const maxKeyLength = 128 * 1_048_576;

interface Remembered {
  readonly id: string;
  /** The items as JSON: as objects, small items would occupy many times their length. Empty if they are not remembered. */
  readonly text: string;
  /** Why the response cannot be continued. */
  readonly refusal: string | null;
}

export interface ConnectionMemory extends LocalTurns {
  /** The length of the conversation that a request with this `previous_response_id` continues. */
  lengthOf(id: unknown): number;
  /** Does nothing if another response is the last one. */
  forget(id: unknown): void;
}

/** Opens the memory of a connection, which is released when the signal fires. */
export type OpenConnectionMemory = (keyId: string, signal: AbortSignal) => ConnectionMemory;

export function createConnectionMemories(): OpenConnectionMemory {
  const lengths = new Map<string, number>();

  return (keyId, signal) => {
    let last: Remembered | null = null;

    function replace(next: Remembered | null): void {
      const length = (lengths.get(keyId) ?? 0) - (last?.text.length ?? 0) + (next?.text.length ?? 0);
      if (length === 0) lengths.delete(keyId);
      else lengths.set(keyId, length);
      last = next;
    }

    function findRefusal({ length }: string): string | null {
      if (length > maxConversationLength) return "The conversation is too long to be continued.";
      if ((lengths.get(keyId) ?? 0) + length > maxKeyLength)
        return "The WebSockets of this key remember too much, so the response cannot be continued. Close some of them.";
      return null;
    }

    signal.addEventListener("abort", () => replace(null), { once: true });
    return {
      find(id) {
        if (last?.id !== id) return null;
        if (last.refusal !== null) throw cannotContinue(last.refusal);
        return last.text === "" ? null : JSON.parse(last.text);
      },
      remember(id, items) {
        // A stream may end after its client has left.
        if (signal.aborted) return;
        replace(null);
        const text = items === null ? "" : JSON.stringify(items);
        const refusal = findRefusal(text);
        replace({ id, text: refusal === null ? text : "", refusal });
      },
      lengthOf: (id) => (last?.id === id ? (last?.text.length ?? 0) : 0),
      forget(id) {
        if (last?.id === id) replace(null);
      },
    };
  };
}
