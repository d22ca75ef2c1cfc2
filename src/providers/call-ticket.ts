/**
 * Every call of a provider needs one. Whoever creates a ticket has passed the limits and writes a line of the ledger about its calls: an attempt
 * (inference/attempt.ts), the run of an engine (inference/universal-ai/account-run.ts), and the free probe of a provider. scripts/arrows.ts refuses
 * other places.
 */
export class CallTicket {
  /** Never set. With it, an object that merely has the same members is not a ticket for the compiler. */
  protected declare readonly isTicket: true;
  /** A request was sent to a provider. */
  isUsed = false;
  /** The record of the attempt that the calls belong to; null without one. */
  attempt: { wasSent: boolean } | null = null;
  /** Header lines of every call, such as those that continue a trace. */
  headerLines = "";

  /** Called when a request is sent. */
  use(): void {
    this.isUsed = true;
    if (this.attempt !== null) this.attempt.wasSent = true;
  }
}
