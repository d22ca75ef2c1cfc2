// `/v3/upload` over real HTTP: whose files they are, their limits, and what is left when something goes wrong.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileList, fileObject } from "../../src/contract/files.ts";
import { startFileSweeper } from "../../src/files/sweeper.ts";
import { moveStorage } from "../../src/storage/storage.ts";
import { createEngines, createFolders, quiet, usePostgres } from "../contracts/engines.ts";
import { describeFileStore } from "../contracts/file-store.ts";
import { type FileServer, type FileServerOptions, openFileServer } from "../support/file-server.ts";
import { whyNoPostgres } from "../support/postgres.ts";
import { openConnection } from "../support/raw-http.ts";
import {
  type Answer,
  boundary,
  callsOf,
  filePart,
  filesBelow,
  formOf,
  formType,
  megabyte,
} from "../support/uploads.ts";
import { inParallel, waitFor } from "../support/wait.ts";
import { watchMemory } from "../support/watch.ts";

const day = 86_400_000;

function uploadHead(key: string, length: number): string {
  return `POST /v3/upload HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: ${formType}\r\ncontent-length: ${length}\r\n\r\n--${boundary}\r\n${filePart("").head}\r\n\r\n`;
}

for (const place of ["folder", "s3"] as const) for (const engine of createEngines()) describeFileStore(engine, place);

for (const engine of createEngines()) {
  describe.skipIf(engine.whyNot !== null)(`uploads on ${engine.name}`, () => {
    let door: FileServer;
    let key: string;
    const { call, send, upload } = callsOf(() => door);
    beforeAll(async () => {
      await engine.start();
      door = await openFileServer(await engine.createStore());
      key = await door.createKey();
    });
    afterAll(async () => {
      await door.stop();
      await engine.stop();
    });

    test("an upload is answered with its description, which is then found and listed, and its bytes are kept", async () => {
      const mine = await door.createKey();
      const before = Date.now();
      const sent = await send(
        mine,
        formOf([
          { name: "expires_in_days", content: "3" },
          filePart("Hello, file.\n", "hello.txt"),
          { name: "purpose", content: "ocr" },
          { name: "metadata", content: '{"page":7,"note":"ü","tags":["a",{"b":null}]}' },
          { name: "unknown", content: "is passed over" },
        ]),
      );
      expect(sent.status).toBe(200);
      expect(sent.headers.get("cache-control")).toBe("no-store");
      const file = fileObject.parse(sent.body);
      expect(file).toMatchObject({
        file_name: "hello.txt",
        file_size: 13,
        file_mimetype: "text/plain",
        purpose: "ocr",
        metadata: { page: 7, note: "ü", tags: ["a", { b: null }] },
      });
      expect(Date.parse(file.created_at)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(file.expires_at) - Date.parse(file.created_at)).toBe(3 * day);
      expect((await call(mine, "GET", `/v3/upload/${file.file_id}`)).body).toEqual(file);
      expect((await call(mine, "GET", `/v3/upload/${file.file_id.toUpperCase()}`)).body).toEqual(file);
      const listed = await call(mine, "GET", "/v3/upload");
      expect(fileList.parse(listed.body)).toEqual({ items: [file], total: 1, page: 1, limit: 100, total_pages: 1 });
      expect(await Bun.file(join(door.folder, file.file_id.slice(0, 2), file.file_id)).text()).toBe("Hello, file.\n");
    });

    test("without further fields a file lives 30 days, for general purposes", async () => {
      const { body } = await upload(key, "x");
      expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(30 * day);
      expect(body).toMatchObject({ purpose: "general", metadata: {} });
    });

    test("lists are paged, newest first, and narrowed by purpose", async () => {
      const mine = await door.createKey();
      const ids: string[] = [];
      for (let index = 0; index < 5; index += 1) {
        const { body } = await send(mine, formOf([filePart("x"), { name: "purpose", content: `p${index % 2}` }]));
        ids.unshift(body.file_id);
        await waitFor("the next millisecond", () => Date.now() > Date.parse(body.created_at));
      }
      const idsOf = (answer: Answer) => answer.body.items.map((item: { file_id: string }) => item.file_id);
      const second = await call(mine, "GET", "/v3/upload?page=2&limit=2");
      expect(idsOf(second)).toEqual(ids.slice(2, 4));
      expect(second.body).toMatchObject({ total: 5, page: 2, limit: 2, total_pages: 3 });
      expect(idsOf(await call(mine, "GET", "/v3/upload?purpose=p1"))).toEqual([ids[1], ids[3]]);
      expect((await call(mine, "GET", "/v3/upload?page=9")).body.items).toEqual([]);
      const refused = await call(mine, "GET", "/v3/upload?page=0&limit=1001");
      expect(refused.status).toBe(422);
      expect(refused.body.detail).toMatchObject([
        { loc: ["query", "page"], type: "greater_than_equal" },
        { loc: ["query", "limit"], type: "less_than_equal" },
      ]);
    });

    test("files of others cannot be seen, used or deleted, whatever is tried; keys of one owner share theirs", async () => {
      const owners = ["a", "a", "b", null, null];
      const keys = await Promise.all(owners.map((owner) => door.createKey({ owner })));
      const ids: string[] = [];
      for (const [index, one] of keys.entries()) ids.push((await upload(one, `of ${index}`)).body.file_id);
      const shares = (one: number, other: number) =>
        one === other || (owners[one] !== null && owners[one] === owners[other]);
      const notFound = (await call(key, "GET", `/v3/upload/${crypto.randomUUID()}`)).body;
      for (const [one, mine] of keys.entries()) {
        const listed = (await call(mine, "GET", "/v3/upload")).body;
        const expected = ids.filter((_, other) => shares(one, other));
        expect(listed.items.map((item: { file_id: string }) => item.file_id).toSorted()).toEqual(expected.toSorted());
        for (const [other, id] of ids.entries()) {
          const found = await call(mine, "GET", `/v3/upload/${id}`);
          expect(found.status).toBe(shares(one, other) ? 200 : 404);
          if (!shares(one, other)) expect(found.body).toEqual(notFound);
        }
        const foreign = ids.filter((_, other) => !shares(one, other));
        expect((await call(mine, "POST", "/v3/upload/delete", { file_ids: foreign })).body).toEqual({
          deleted_count: 0,
        });
      }
      // The third deletes all of its own, which touches nobody else's.
      expect((await call(keys[2] ?? "", "DELETE", "/v3/upload")).body).toEqual({ deleted_count: 1 });
      for (const [other, id] of ids.entries()) {
        const status = (await call(keys[other] ?? "", "GET", `/v3/upload/${id}`)).status;
        expect(status).toBe(other === 2 ? 404 : 200);
      }
      expect((await call(keys[0] ?? "", "DELETE", "/v3/upload")).body).toEqual({ deleted_count: 2 });
    });

    test("named files are deleted with their bytes, each counted once; unknown ones are not counted", async () => {
      const mine = await door.createKey();
      const first = (await upload(mine, "1")).body.file_id;
      const second = (await upload(mine, "2")).body.file_id;
      const third = (await upload(mine, "3")).body.file_id;
      const named = { file_ids: [first, first.toUpperCase(), crypto.randomUUID()] };
      expect((await call(mine, "POST", "/v3/upload/delete", named)).body).toEqual({ deleted_count: 1 });
      expect(existsSync(join(door.folder, first.slice(0, 2), first))).toBe(false);
      expect((await call(mine, "GET", `/v3/upload/${first}`)).status).toBe(404);
      // A body that names some is not passed over.
      expect((await call(mine, "DELETE", "/v3/upload", { file_ids: [second] })).body).toEqual({ deleted_count: 1 });
      expect((await call(mine, "GET", `/v3/upload/${third}`)).status).toBe(200);
      const narrowed = await call(mine, "DELETE", `/v3/upload?file_id=${second}`);
      expect(narrowed.status).toBe(422);
      expect(narrowed.body.detail).toMatchObject([{ loc: ["query", "file_id"], type: "extra_forbidden" }]);
      expect((await call(mine, "DELETE", "/v3/upload")).body).toEqual({ deleted_count: 1 });
      expect((await call(mine, "DELETE", "/v3/upload")).body).toEqual({ deleted_count: 0 });
    });

    test("malformed ids are refused with 422", async () => {
      for (const id of ["1", "..%2f..%2fetc", `file_${crypto.randomUUID()}`, "%00"]) {
        const found = await call(key, "GET", `/v3/upload/${id}`);
        expect(found.status).toBe(422);
        expect(found.body.detail).toMatchObject([{ loc: ["path", "file_id"], type: "uuid_parsing" }]);
      }
      const bodies: [unknown, object][] = [
        [{ file_ids: ["x"] }, { loc: ["body", "file_ids", 0], type: "uuid_parsing" }],
        [{ file_ids: [] }, { loc: ["body", "file_ids"], type: "too_short" }],
        [{}, { loc: ["body", "file_ids"], type: "missing" }],
        [{ file_ids: "all" }, { loc: ["body", "file_ids"], type: "list_type" }],
        [{ file_ids: Array(1_001).fill(crypto.randomUUID()) }, { loc: ["body", "file_ids"], type: "too_long" }],
      ];
      for (const [body, problem] of bodies) {
        const refused = await call(key, "POST", "/v3/upload/delete", body);
        expect(refused.status).toBe(422);
        expect(refused.body.detail).toMatchObject([problem]);
      }
    });

    test("fifty uploads at once are all kept whole", async () => {
      const mine = await door.createKey();
      const contents = Array.from({ length: 50 }, (_, index) => Buffer.alloc(300_000, `content ${index} `));
      const ids: string[] = [];
      await inParallel(50, 50, async (index) => {
        const { status, body } = await upload(mine, contents[index] ?? "", `${index}.txt`);
        expect(status).toBe(200);
        ids[index] = body.file_id;
      });
      expect((await call(mine, "GET", "/v3/upload")).body.total).toBe(50);
      for (const [index, id] of ids.entries()) {
        const kept = await Bun.file(join(door.folder, id.slice(0, 2), id)).bytes();
        expect(contents[index]?.equals(kept)).toBe(true);
      }
      expect((await call(mine, "DELETE", "/v3/upload")).body).toEqual({ deleted_count: 50 });
      expect(ids.filter((id) => existsSync(join(door.folder, id.slice(0, 2), id)))).toEqual([]);
    });

    test("the sweeper deletes in the background what has expired", async () => {
      const about = { owner: "x", kind: "upload", name: "x", mediaType: null, purpose: "x", metadata: {} } as const;
      const { id } = await door.files.put(Buffer.from("x"), { ...about, lifetimeMs: 1 });
      const sweeper = startFileSweeper({ store: door.files, log: quiet, everyMs: 20 });
      await waitFor("the bytes to be gone", () => !existsSync(join(door.folder, id.slice(0, 2), id)));
      await sweeper.stop();
    });
  });
}

describe("limits of uploads", () => {
  const folders = createFolders();
  const opened: FileServer[] = [];
  afterAll(async () => {
    for (const door of opened) await door.stop();
    folders.remove();
  });

  async function open(options: Partial<FileServerOptions>) {
    const door = await openFileServer({ databaseUrl: null, dataDir: folders.create(), ...options });
    opened.push(door);
    return { door, key: await door.createKey(), ...callsOf(() => door) };
  }

  async function expectNothingKept(door: FileServer, key: string): Promise<void> {
    const { call } = callsOf(() => door);
    expect((await call(key, "GET", "/v3/upload")).body.total).toBe(0);
    await waitFor("the unfinished file to be gone", () => filesBelow(door.folder).length === 0);
  }

  test("a file of the largest size is taken; one byte more is 413, with and without a declared length", async () => {
    const { door, key, send, call } = await open({ limits: { maxFileBytes: megabyte } });
    const fits = await send(key, formOf([filePart(Buffer.alloc(megabyte))]));
    expect([fits.status, fits.body.file_size]).toEqual([200, megabyte]);
    await call(key, "DELETE", "/v3/upload");
    const larger = formOf([filePart(Buffer.alloc(megabyte + 1))]);
    const declared = await send(key, larger);
    expect([declared.status, declared.body.error.code]).toEqual([413, "payload_too_large"]);
    const chunked = await send(key, new Response(new Uint8Array(larger)).body as ReadableStream);
    expect([chunked.status, chunked.body.error.code]).toEqual([413, "payload_too_large"]);
    await expectNothingKept(door, key);
  });

  test("a declared length that is too large is refused before the body is read", async () => {
    const { door, key } = await open({ limits: { maxFileBytes: megabyte } });
    const client = await openConnection(door.url);
    client.send(
      `POST /v3/upload HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: ${formType}\r\ncontent-length: 1000000000\r\n\r\n`,
    );
    const refused = await client.receive();
    expect([refused.status, refused.headers["connection"]]).toEqual([413, "close"]);
    expect(existsSync(join(door.folder, "incoming"))).toBe(false);
    client.leave();
  });

  test("a body without end is cut off at the limit, wherever in the form its bytes are", async () => {
    const { door, key } = await open({ limits: { maxFileBytes: megabyte } });
    const end = formOf([filePart("x")]).toString("latin1");
    const field = 'Content-Disposition: form-data; name="unknown"';
    for (const begun of [`--${boundary}\r\n${filePart("").head}\r\n\r\n`, `--${boundary}\r\n${field}\r\n\r\n`, end]) {
      const client = await openConnection(door.url);
      client.send(
        `POST /v3/upload HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: ${formType}\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      client.send(`${begun.length.toString(16)}\r\n${begun}\r\n`);
      const piece = `10000\r\n${"x".repeat(65_536)}\r\n`;
      for (let sent = 0; sent < 40 && !client.isClosed(); sent += 1) {
        client.send(piece);
        await Bun.sleep(1);
      }
      expect((await client.receive()).status).toBe(413);
      client.leave();
      await expectNothingKept(door, key);
    }
  });

  test("one owner's files together have a limit: 413 says so, and deleting makes room", async () => {
    const { key, upload, call } = await open({ maxOwnerBytes: 1_000 });
    const first = await upload(key, "x".repeat(600));
    expect(first.status).toBe(200);
    const second = await upload(key, "x".repeat(600));
    expect([second.status, second.body.error.code]).toEqual([413, "payload_too_large"]);
    expect(second.body.detail).toContain("storage quota of 1000 bytes");
    expect((await upload(key, "x".repeat(400))).status).toBe(200);
    expect((await upload(key, "x")).status).toBe(413);
    await call(key, "POST", "/v3/upload/delete", { file_ids: [first.body.file_id] });
    expect((await upload(key, "x".repeat(600))).status).toBe(200);
  });

  test("a client that leaves in the middle leaves nothing behind", async () => {
    const { door, key } = await open({});
    for (const leave of ["leave", "reset"] as const) {
      const client = await openConnection(door.url);
      client.send(uploadHead(key, 10_000_000));
      client.send("x".repeat(200_000));
      await waitFor("the file to be begun", () => filesBelow(door.folder).length > 0);
      client[leave]();
      await expectNothingKept(door, key);
    }
  });

  test("a client that falls silent is answered with 408, and nothing is left", async () => {
    const { door, key } = await open({ limits: { idleTimeoutMs: 200 } });
    const client = await openConnection(door.url);
    client.send(uploadHead(key, 10_000_000));
    client.send("x".repeat(200_000));
    const answer = await client.receive();
    expect([answer.status, answer.headers["connection"]]).toEqual([408, "close"]);
    client.leave();
    await expectNothingKept(door, key);
  });

  test("a client that drips is given up after a while", async () => {
    const { door, key } = await open({ limits: { idleTimeoutMs: 5_000, totalTimeoutMs: 400 } });
    const client = await openConnection(door.url);
    client.send(uploadHead(key, 10_000_000));
    const drip = setInterval(() => client.send("x"), 20);
    const answer = await client.receive();
    clearInterval(drip);
    expect(answer.status).toBe(408);
    client.leave();
    await expectNothingKept(door, key);
  });

  test("a disk without room is a 503 that says so, and nothing is left", async () => {
    const { door, key, upload } = await open({ reservedBytes: 2 ** 60 });
    const refused = await upload(key, "x");
    expect([refused.status, refused.body.error.code]).toEqual([503, "dependency_unavailable"]);
    expect(refused.body.detail).toContain("storage is full");
    await expectNothingKept(door, key);
  });

  test("a folder that cannot be written is a 503 and no bug, and a line in the log", async () => {
    const { door, key, upload } = await open({});
    mkdirSync(door.folder, { recursive: true });
    writeFileSync(join(door.folder, "incoming"), "a file where a folder should be");
    const refused = await upload(key, "x");
    expect([refused.status, refused.body.error.code]).toEqual([503, "dependency_unavailable"]);
    expect(refused.body.detail).not.toContain(door.folder);
    expect(door.lines.join("\n")).toContain("could not be created");
    rmSync(join(door.folder, "incoming"));
    expect((await upload(key, "x")).status).toBe(200);
  });
});

describe("a process of its own", () => {
  const folders = createFolders();
  afterAll(() => folders.remove());

  async function startChild(options: FileServerOptions) {
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "../support/file-server.ts"), JSON.stringify(options)],
      {
        stdout: "pipe",
        stderr: "inherit",
        stdin: "ignore",
      },
    );
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    return { child, ...(JSON.parse(new TextDecoder().decode(value)) as { url: string; key: string }) };
  }

  test("takes a hundred megabytes while its memory grows by thirty at most", async () => {
    const { child, url, key } = await startChild({ databaseUrl: null, dataDir: folders.create() });
    const { upload, call } = callsOf(() => ({ url }) as FileServer);
    try {
      for (let warm = 0; warm < 3; warm += 1) await upload(key, Buffer.alloc(100_000));
      const watch = watchMemory(child.pid);
      await watch.started;
      const pieces = 100;
      const piece = Buffer.alloc(megabyte, "some content ");
      const [start, end] = formOf([filePart("")])
        .toString("latin1")
        .split("\r\n\r\n\r\n");
      let sent = 0;
      const body = new ReadableStream<Uint8Array>({
        type: "direct" as never,
        async pull(controller: { write(bytes: Uint8Array | string): void; flush(): Promise<void>; close(): void }) {
          controller.write(`${start}\r\n\r\n`);
          for (; sent < pieces; sent += 1) {
            controller.write(piece);
            await controller.flush();
          }
          controller.write(`\r\n${end}`);
          controller.close();
        },
      } as never);
      const response = await fetch(`${url}/v3/upload`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": formType },
        body,
        signal: AbortSignal.timeout(100_000),
      });
      const grown = await watch.stop();
      expect(await response.json()).toMatchObject({ file_size: pieces * megabyte, file_mimetype: "text/plain" });
      expect((await call(key, "GET", "/v3/upload")).body.total).toBe(4);
      expect(grown).toBeLessThan(30);
    } finally {
      child.kill();
      await child.exited;
    }
  });

  test("killed in the middle of an upload leaves nothing listed, and what is left of it is swept", async () => {
    const dataDir = folders.create();
    const first = await startChild({ databaseUrl: null, dataDir });
    const calls = callsOf(() => ({ url: first.url }) as FileServer);
    const kept = (await calls.upload(first.key, "kept")).body.file_id;
    const client = await openConnection(first.url);
    client.send(uploadHead(first.key, 10_000_000));
    client.send("x".repeat(500_000));
    const incoming = join(dataDir, "files", "incoming");
    await waitFor("bytes on the disk", () => {
      const [name] = readdirSync(incoming);
      return name !== undefined && Bun.file(join(incoming, name)).size >= 65_536;
    });
    first.child.kill("SIGKILL");
    await first.child.exited;
    client.leave();
    expect(readdirSync(incoming)).toHaveLength(1);

    // Another process takes over. What is young may be somebody's who still writes; what is old is swept.
    const patient = await openFileServer({ databaseUrl: null, dataDir });
    expect(await patient.files.sweepOrphans()).toBe(0);
    await patient.stop();
    const door = await openFileServer({ databaseUrl: null, dataDir, orphanAfterMs: 0 });
    try {
      const { call } = callsOf(() => door);
      const listed = await call(first.key, "GET", "/v3/upload");
      expect(listed.body.items).toMatchObject([{ file_id: kept }]);
      expect(await door.files.sweepOrphans()).toBe(1);
      expect(filesBelow(door.folder)).toEqual([kept]);
    } finally {
      await door.stop();
    }
  });
});

describe.skipIf(whyNoPostgres() !== null)("moving to PostgreSQL", () => {
  const { folders, server } = usePostgres();

  test("takes every upload along, and results keep their addresses", async () => {
    const dataDir = folders.create();
    const before = await openFileServer({ databaseUrl: null, dataDir });
    const key = await before.createKey();
    const calls = callsOf(() => before);
    await calls.upload(key, "content", "kept \u{1f5bc}.txt");
    const listed = (await calls.call(key, "GET", "/v3/upload")).body;
    const url = await before.resources.publish(Buffer.from("result"), "text/plain", "x", { base: before.url });
    await before.files.sweepOrphans();
    await before.stop();
    const to = await server().createDatabase();
    await moveStorage({ dataDir, to, log: quiet });
    const after = await openFileServer({ databaseUrl: to, dataDir, orphanAfterMs: 0 });
    expect((await callsOf(() => after).call(key, "GET", "/v3/upload")).body).toEqual(listed);
    expect(await after.files.sweepOrphans()).toBe(0);
    expect(after.lines.join("\n")).not.toContain("another database");
    expect(await (await fetch(url.replace(before.url, after.url))).text()).toBe("result");
    await after.stop();
  });
});
