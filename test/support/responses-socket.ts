// A client of /v3/responses over a WebSocket.

import type { Gateway } from "./gateway-settings.ts";
import { type ResponseEvent, responsesPath } from "./responses.ts";
import { waitFor } from "./wait.ts";

export interface Message extends ResponseEvent {
  readonly status?: number;
  readonly error?: { readonly code: string; readonly type: string; readonly param: string | null };
}

export class SocketClient {
  readonly messages: Message[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | null = null;
  #read = 0;

  constructor(of: Pick<Gateway, "url">, withKey: string) {
    const url = `${of.url.replace("http", "ws")}${responsesPath}`;
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${withKey}` } } as unknown as string[]);
    this.socket.onmessage = ({ data }) => void this.messages.push(JSON.parse(String(data)));
    this.socket.onclose = ({ code, reason }) => {
      this.closed = { code, reason };
    };
  }

  async opened(): Promise<this> {
    await waitFor("the connection", () => this.socket.readyState === WebSocket.OPEN);
    return this;
  }

  send(body: object): void {
    this.socket.send(JSON.stringify({ type: "response.create", ...body }));
  }

  /** The messages up to the end of the next response, or up to an error. */
  async next(): Promise<Message[]> {
    const isEnd = ({ type }: Message) => type === "error" || /^response\.(completed|incomplete|failed)$/.test(type);
    await waitFor(`the end of a response: ${JSON.stringify(this.messages.slice(this.#read)).slice(-500)}`, () =>
      this.messages.slice(this.#read).some(isEnd),
    );
    const end = this.messages.findIndex((message, index) => index >= this.#read && isEnd(message)) + 1;
    const taken = this.messages.slice(this.#read, end);
    this.#read = end;
    return taken;
  }

  async ask(body: object): Promise<Message> {
    this.send(body);
    return (await this.next()).at(-1) as Message;
  }

  async waitForClose(): Promise<{ code: number; reason: string }> {
    return await waitFor("the connection to be closed", () => this.closed);
  }
}
