// Credentials that are made for each request, or that expire.

export interface Authorizer {
  /** Headers to add. A promise only when they have to be waited for. */
  authorize(request: OutgoingRequest): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly host: string;
  /** As it goes over the wire. */
  readonly path: string;
  readonly body: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}
