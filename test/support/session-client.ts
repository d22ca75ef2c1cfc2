// A browser as far as sessions are concerned: it keeps cookies, and sends the CSRF token when it is told to.

export interface SignedIn {
  readonly csrf_token: string;
  readonly name: string;
  readonly role: string;
  readonly team: string | null;
  readonly team_name: string | null;
  readonly expires_at: string;
  readonly idle_timeout_seconds: number;
}

export type SessionClient = ReturnType<typeof createSessionClient>;

export function createSessionClient(url: string) {
  const cookies = new Map<string, string>();
  let csrfToken = "";

  async function send(method: string, path: string, { body, headers = {} }: RequestOptions = {}): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(path.startsWith("http") ? path : `${url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(cookie === "" ? {} : { cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || line.includes("Max-Age=0;")) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }

  return {
    cookies,
    send,
    /** With the CSRF token, as the dashboard sends a change. */
    change: (method: string, path: string, body?: unknown) =>
      send(method, path, {
        body,
        headers: { "x-switchyard-csrf": csrfToken, origin: url, "sec-fetch-site": "same-origin" },
      }),
    async signIn(key: string): Promise<SignedIn> {
      const response = await send("POST", "/v3/manage/session", { body: { key } });
      if (response.status !== 200) throw new Error(`The sign-in answered ${response.status}: ${await response.text()}`);
      return this.use((await response.json()) as SignedIn);
    },
    use(session: SignedIn): SignedIn {
      csrfToken = session.csrf_token;
      return session;
    },
  };
}

interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function errorCodeOf(response: Response): Promise<string> {
  const { error, detail } = (await response.json()) as { error: { code: string; message: string }; detail: unknown };
  if (detail !== error.message) throw new Error("The two forms of the error differ");
  return error.code;
}
