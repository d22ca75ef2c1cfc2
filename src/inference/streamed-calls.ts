// The tool calls of a streamed chat completion, assembled from their pieces. Pieces of several calls may arrive interleaved.

import type { ChatDelta } from "../contract/chat-format.ts";
import { asArguments } from "../providers/lenient.ts";
import type { ExtraContent } from "./reasoning-state.ts";

export type CallDelta = NonNullable<ChatDelta["tool_calls"]>[number];

export interface StreamedCall {
  /** The provider's number; several calls may share it and differ only in their ids. */
  readonly number: number;
  id: string;
  name: string;
  arguments: string;
  extraContent: ExtraContent | null;
}

export class StreamedCalls {
  /** Calls that may still grow, in their order. */
  open: StreamedCall[] = [];
  readonly closed: StreamedCall[] = [];

  /** Adds the piece to its call, or to a new one; `piece` is its part of the arguments. Null: the piece belongs to a closed call. */
  add(delta: CallDelta): { readonly call: StreamedCall; readonly piece: string } | null {
    if (this.#isLatePiece(delta)) return null;
    const call = this.#find(delta);
    const piece = asArguments(delta.function?.arguments);
    call.arguments += piece;
    return { call, piece };
  }

  #find(delta: CallDelta): StreamedCall {
    const number = delta.index ?? 0;
    const known = this.open.findLast((call) => call.number === number);
    if (known !== undefined && !isNewCall(delta, known)) {
      known.id ||= delta.id ?? "";
      known.name ||= delta.function?.name ?? "";
      return known;
    }
    const { id = "", function: { name = "" } = {} } = delta;
    const call = { number, id: id ?? "", name: name ?? "", arguments: "", extraContent: null };
    this.open.push(call);
    return call;
  }

  close(call: StreamedCall): void {
    this.open = this.open.filter((other) => other !== call);
    this.closed.push(call);
  }

  /** Some providers end a call with an empty piece after the next call has begun. */
  #isLatePiece(delta: CallDelta): boolean {
    const number = delta.index ?? 0;
    const isNamed = Boolean(delta.function?.name);
    if (delta.id) return this.closed.some(({ id, ...call }) => id === delta.id && (!isNamed || call.number === number));
    if (isNamed || this.open.some((call) => call.number === number)) return false;
    return this.closed.some((call) => call.number === number);
  }
}

/** Some providers give all calls the same number: another id, or another name after a complete call, starts the next call. */
function isNewCall(delta: CallDelta, known: StreamedCall): boolean {
  if (delta.id) return known.id !== "" && known.id !== delta.id;
  return Boolean(delta.function?.name) && known.name !== "" && hasWholeArguments(known);
}

/** Arguments that are a whole JSON object do not grow any further. */
export function hasWholeArguments(call: Pick<StreamedCall, "arguments">): boolean {
  const text = call.arguments.trimEnd();
  if (!text.endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
