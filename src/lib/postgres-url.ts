// The address of a PostgreSQL database, `postgres://user:password@host:5432/database`.

import { decodePercent } from "./percent-decoding.ts";

export const postgresForm = "should have the form postgres://user:password@host:5432/database";

/** The error completes the name of the address, and does not quote the address, which may contain a password. */
export function parsePostgresUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) throw new Error(postgresForm);
  if ([url.username, url.password, url.pathname].some((part) => decodePercent(part) === null))
    throw new Error("has a '%' that begins no valid escape in its user, password or database; write % as %25");
  return url;
}

/** The password of an address must not appear in a log, with or without escapes. */
export function secretsOfPostgres(text: string): string[] {
  const password = URL.parse(text)?.password ?? "";
  return [password, decodePercent(password) ?? ""];
}
