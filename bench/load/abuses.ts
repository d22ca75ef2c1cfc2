// Ways in which one client can misuse a gateway. Each runs until its process is ended. To add one, add an entry to the table.

import { connect, type Socket } from "node:net";
import { hostileFiles } from "../../test/engines/hostile/documents.ts";
import { hostileTexts } from "../../test/engines/hostile/texts.ts";
import { writePdf } from "../../test/quality/ocr/write-pdf.ts";

export type Target = {
  host: string;
  port: number;
  /** The key of the client that misuses the gateway; the normal client has another one. */
  key: string;
  /** A model that answers at once. */
  model: string;
};

type UploadedFile = { name: string; mediaType: string; bytes: Uint8Array };

export type Abuse = {
  title: string;
  /** Returns when the misuse is under way; it goes on afterwards. */
  start: (target: Target) => Promise<void> | void;
};

const jsonHeaders = "host: gateway\r\ncontent-type: application/json\r\n";

export const abuses = {
  pipelining: {
    title: "4 keyless connections pipeline 2 MB of GET /v3/models each and read nothing, again and again",
    start(target) {
      const request = "GET /v3/models HTTP/1.1\r\nhost: gateway\r\n\r\n";
      const bytes = Buffer.from(request.repeat(Math.ceil(2_000_000 / request.length)));
      repeat(4, async () => {
        const socket = await open(target);
        socket.pause();
        socket.write(bytes);
        // A paused socket does not learn of its end: look at what it could send.
        await Promise.race([closed(socket), Bun.sleep(1_000)]);
        socket.destroy();
      });
    },
  },
  flood: {
    title: "64 connections send requests with a wrong key as fast as they are refused",
    start(target) {
      const request = toRequest("/v3/chat/completions", "sk-wrong", "{}");
      repeat(64, async () => {
        const socket = await open(target);
        socket.on("data", () => socket.write(request));
        socket.write(request);
        await closed(socket);
      });
    },
  },
  slow: {
    title: "1,000 connections send one byte of a request's head every second",
    async start(target) {
      const sockets: Socket[] = [];
      repeat(1_000, async () => {
        const socket = await open(target);
        socket.resume();
        sockets.push(socket);
        socket.write("GET /v3/models HTTP/1.1\r\nhost: gateway\r\nx: ");
        const drip = setInterval(() => socket.write("x"), 1_000);
        await closed(socket);
        clearInterval(drip);
      });
      while (sockets.length < 1_000) await Bun.sleep(10);
    },
  },
  bodies: {
    title: "4 connections of one key send chat requests of 19 MB, one after the other",
    start(target) {
      const content = "x".repeat(19_000_000);
      const body = JSON.stringify({ model: target.model, messages: [{ role: "user", content }] });
      const request = toRequest("/v3/chat/completions", target.key, body);
      repeat(4, async () => {
        const socket = await open(target);
        socket.once("data", () => socket.end());
        socket.resume();
        socket.write(request);
        await closed(socket);
      });
    },
  },
  refused: {
    title: "16 connections announce bodies of 500 MB with a wrong key and send as much as they can",
    start(target) {
      const head = `POST /v3/chat/completions HTTP/1.1\r\n${jsonHeaders}authorization: Bearer sk-wrong\r\ncontent-length: 500000000\r\n\r\n`;
      const piece = Buffer.alloc(65_536, "x");
      repeat(16, async () => {
        const socket = await open(target);
        socket.resume();
        socket.write(head);
        const send = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on("drain", send);
        send();
        await Promise.race([closed(socket), Bun.sleep(1_000)]);
        socket.destroy();
      });
    },
  },
  websockets: {
    title: "100 connections of one key ask for WebSockets and send unfinished messages",
    start(target) {
      const handshake = `GET /v3/responses HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${target.key}\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
      // A text frame of 4,000,000 bytes, masked with 0, of which the last byte never comes.
      const frame = Buffer.alloc(14 + 4_000_000 - 1, "x");
      frame.set([0x81, 0xff, 0, 0, 0, 0, 0, 0x3d, 0x09, 0x00, 0, 0, 0, 0]);
      repeat(100, async () => {
        const socket = await open(target);
        socket.resume();
        socket.write(handshake);
        socket.write(frame);
        await Promise.race([closed(socket), Bun.sleep(20_000)]);
        socket.destroy();
        await Bun.sleep(1_000);
      });
    },
  },
  engines: {
    title: "4 connections of one key send hostile texts and a hostile document to local engines, one after the other",
    async start(target) {
      const [document] = hostileFiles;
      if (document === undefined) throw new Error("there is no hostile document");
      const file = await upload(target, document);
      const texts = hostileTexts.map(({ of }) => of(100_000));
      const tasks = ["text/anonymization/local", "text/named_entity_recognition/local", "text/syntax_analysis/local"];
      const inputs = texts.map((text, index) => ({
        model: tasks[index % tasks.length],
        input: { text, language: "en" },
      }));
      const requests = [{ model: "ocr/ocr/local", input: { file } }, ...inputs].map((request) =>
        JSON.stringify(request),
      );
      postInTurn(4, `${addressOf(target)}/universal-ai`, target.key, requests);
    },
  },
  pages: {
    title: "4 connections of one key submit PDFs of 1,000 pages as jobs, and shorter ones as requests",
    async start(target) {
      const toFile = (pages: number) => ({
        name: "long.pdf",
        mediaType: "application/pdf",
        bytes: writeLongPdf(pages),
      });
      const [long, short] = [await upload(target, toFile(1_000)), await upload(target, toFile(200))];
      const job = JSON.stringify({ model: "ocr/ocr_async/local", input: { file: long } });
      postInTurn(2, `${addressOf(target)}/universal-ai/async`, target.key, [job]);
      const request = JSON.stringify({ model: "ocr/ocr/local", input: { file: short } });
      postInTurn(2, `${addressOf(target)}/universal-ai`, target.key, [request]);
    },
  },
  schemas: {
    title:
      "4 connections of one key ask the sandbox for answers to schemas that are expensive to satisfy, one after the other",
    start({ host, port, key }) {
      const names = Array.from({ length: 900 }, (_, index) => `n${index}`);
      const schemas = [
        { type: "string", pattern: "^(a+)+$", minLength: 4_000 },
        { allOf: names.map((name) => ({ type: "string", pattern: `^(${name}|[a-z]{900})$` })) },
        {
          type: "object",
          required: names,
          patternProperties: Object.fromEntries(names.map((name) => [`${name}$`, {}])),
        },
      ];
      const bodies = schemas.map((schema) =>
        JSON.stringify({
          model: "sandbox/echo",
          messages: [{ role: "user", content: "x" }],
          response_format: { type: "json_schema", json_schema: { name: "hostile", schema } },
        }),
      );
      postInTurn(4, `http://${host}:${port}/v3/chat/completions`, key, bodies);
    },
  },
  jobs: {
    title: "8 connections of one key submit jobs as fast as they are accepted",
    start({ host, port, key }) {
      const body = JSON.stringify({ model: "text/moderation/sandbox", input: { text: "x" } });
      postInTurn(8, `http://${host}:${port}/v3/universal-ai/async`, key, [body]);
    },
  },
} satisfies Record<string, Abuse>;

export type AbuseName = keyof typeof abuses;

function repeat(count: number, once: () => Promise<void>): void {
  const lane = async () => {
    for (;;) {
      await once().catch(() => {});
      await Bun.sleep(1);
    }
  };
  for (let index = 0; index < count; index++) void lane();
}

function addressOf({ host, port }: Target): string {
  return `http://${host}:${port}/v3`;
}

/** Returns the id of the file. */
async function upload(target: Target, { name, mediaType, bytes }: UploadedFile): Promise<string> {
  const form = new FormData();
  form.set("file", new File([bytes as Uint8Array<ArrayBuffer>], name, { type: mediaType }));
  const headers = { authorization: `Bearer ${target.key}` };
  const uploaded = await fetch(`${addressOf(target)}/upload`, { method: "POST", headers, body: form });
  const { file_id: file } = (await uploaded.json()) as { file_id: string };
  return file;
}

function writeLongPdf(pages: number): Uint8Array {
  const text = "The quick brown fox jumps over the lazy dog and reads forty lines of text.";
  const marks = Array.from({ length: 40 }, (_, line) => ({
    kind: "text" as const,
    text: `${line + 1}. ${text}`,
    x: 60,
    y: 60 + line * 18,
    size: 11,
    font: "sans" as const,
    align: "start" as const,
  }));
  return writePdf(Array.from({ length: pages }, () => ({ marks })));
}

/** Each connection sends the next body as soon as it has its answer. */
function postInTurn(connections: number, url: string, key: string, bodies: readonly string[]): void {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  let next = 0;
  repeat(connections, async () => {
    const answer = await fetch(url, { method: "POST", headers, body: bodies[next++ % bodies.length] ?? "" });
    await answer.arrayBuffer();
  });
}

function open({ host, port }: Target): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => resolve(socket));
    socket.on("error", reject);
  });
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once("close", () => resolve());
  });
}

function toRequest(path: string, key: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\n${jsonHeaders}authorization: Bearer ${key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
