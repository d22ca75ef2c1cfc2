// How one provider is spoken to for one request, whatever its dialect: what is sent, and how the answer is read.

import type { ChunkSource } from "./chunk-source.ts";
import type { Charge, Quote } from "./pricing.ts";

export interface ChatAdapter {
  readonly path: string;
  readonly body: string;
  readonly headerLines: string;
  /** Parameters that find no place. */
  readonly dropped: readonly string[];
  /** How many calls make one answer: more than one where the provider cannot give several choices. */
  readonly calls: number;
  /** The answer with our members added. Throws when it is none, or says that it failed. */
  readWhole(text: string, added: GatewayMembers): WholeAnswer;
  createSource(contentType: string): ChunkSource;
}

/** What the gateway adds to an answer. */
export interface GatewayMembers {
  readonly provider: string;
  readonly quote: Quote;
  /** Seconds. */
  readonly providerTime: number;
  readonly metadata: Record<string, unknown> | null;
}

export interface WholeAnswer {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly charge: Charge;
  /** Our members, which `text` holds and `value` may not. */
  readonly added: AddedMembers;
}

export interface AddedMembers {
  readonly provider: string;
  readonly cost: number | null;
  readonly cost_reason?: string;
  readonly provider_time: number;
  readonly switchyard?: Record<string, unknown>;
}

export function toAdded({ provider, providerTime, metadata }: GatewayMembers, charge: Charge): AddedMembers {
  const { cost, reason } = charge;
  const added: AddedMembers =
    reason === null
      ? { provider, cost, provider_time: providerTime }
      : { provider, cost, cost_reason: reason, provider_time: providerTime };
  return metadata === null ? added : { ...added, switchyard: metadata };
}
