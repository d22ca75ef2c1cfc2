/**
 * Every call of a provider needs one. Whoever creates a ticket writes a line of the ledger about its calls; only an attempt
 * (inference/attempt.ts) and the run of an engine (inference/universal-ai/account-run.ts) do.
 */
export class CallTicket {
  /** A request was sent to a provider. */
  isUsed = false;
  /** Header lines of every call, such as those that continue a trace. */
  headerLines = "";
}
