// How one candidate is called for one request: what is sent, and how its answer is read.

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
  /** The answer with the gateway's members added. Throws when the text is no answer, or reports a failure. */
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
