// Parts of the requests and answers that dialects write.

/** Removes members without a value: some vendors refuse null. */
export function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

export function createId(prefix: string): string {
  return prefix + Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64url");
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
