// Adapts one request to one candidate: the call that is sent, and the reading of its answer.

import type { Accounting, AddedMembers } from "./attempt.ts";
import type { ChunkSource } from "./chunk-source.ts";
import type { Charge } from "./pricing.ts";

export interface ChatAdapter {
  readonly path: string;
  readonly body: string;
  readonly headerLines: string;
  /** Parameters that the provider's format cannot express. */
  readonly dropped: readonly string[];
  /** How many calls make up one answer: more than one for a provider that returns a single choice per call. */
  readonly calls: number;
  /** The answer with the gateway's members added. Throws when the text is not an answer, or reports a failure. */
  readWhole(text: string, accounting: Accounting): WholeAnswer;
  createSource(contentType: string): ChunkSource;
}

export interface WholeAnswer {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly charge: Charge;
  /** The gateway's members, which `text` contains and `value` may lack. */
  readonly added: AddedMembers;
}
