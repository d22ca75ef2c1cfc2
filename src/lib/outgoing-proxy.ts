// The address of an outgoing proxy as the operator writes it: `http://[user:password@]host[:port]`.

export interface OutgoingProxy {
  readonly host: string;
  readonly port: number;
  /** The value of the header that says who we are; null where nobody asks. */
  readonly authorization: string | null;
}

const usualPort = 80;

/** The error does not repeat what was written: it may hold a password. */
export function readProxy(text: string): OutgoingProxy {
  const url = URL.parse(text.trim());
  if (url === null || url.protocol !== "http:" || url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw new Error("should be an address such as http://user:password@proxy.example:3128");
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const isKnown = user !== "" || password !== "";
  return {
    host: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === "" ? usualPort : Number(url.port),
    authorization: isKnown ? `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` : null,
  };
}

/** Everything about a proxy that must appear in no log. */
export function secretsOfProxy(text: string): string[] {
  const url = URL.parse(text.trim());
  if (url === null || url.password === "") return [];
  const credentials = readProxy(text).authorization?.replace("Basic ", "") ?? "";
  return [url.password, decodeURIComponent(url.password), credentials];
}
