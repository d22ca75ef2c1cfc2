// The sandbox provider: requests that it refuses, and the faults that a model name asks for.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sandboxModels } from "../../src/providers/sandbox/index.ts";
import { readEvents } from "../support/events.ts";
import { assemble, type Body, clock, completeOne, hello, send, stream, url } from "../support/sandbox-chat.ts";
import { waitFor, within } from "../support/wait.ts";

async function readError(response: Response) {
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  expect(Object.keys(error).toSorted()).toEqual(["code", "message", "param", "type"]);
  return { status: response.status, ...error } as {
    status: number;
    message: string;
    type: string;
    param: unknown;
    code: unknown;
  };
}

describe("refused requests", () => {
  const cases: readonly (readonly [title: string, body: string | Body, status: number, param: string | null])[] = [
    ["broken JSON", '{"model":', 400, null],
    ["bytes that are no object", "[]", 400, null],
    ["no messages", { model: "echo" }, 400, "messages"],
    ["empty messages", { model: "echo", messages: [] }, 400, "messages"],
    ["an unknown role", { model: "echo", messages: [{ role: "robot", content: "" }] }, 400, "messages[0].role"],
    ["no model", { messages: hello }, 400, "model"],
    ["an unknown model", { model: "oracle", messages: hello }, 404, "model"],
    ["a status out of range", { model: "error-600", messages: hello }, 404, "model"],
    ["top_logprobs alone", { model: "echo", messages: hello, top_logprobs: 2 }, 400, "top_logprobs"],
    ["a tool choice without tools", { model: "echo", messages: hello, tool_choice: "auto" }, 400, "tool_choice"],
    [
      "a tool choice that is not offered",
      { model: "echo", messages: hello, tools: [clock], tool_choice: { type: "function", function: { name: "x" } } },
      400,
      "tool_choice",
    ],
    [
      "a schema that refers into nowhere",
      {
        model: "echo",
        messages: hello,
        response_format: { type: "json_schema", json_schema: { name: "x", schema: { $ref: "#/$defs/x" } } },
      },
      400,
      "response_format",
    ],
    ["a stream of an unknown model", { model: "oracle", messages: hello, stream: true }, 404, "model"],
  ];
  for (const [title, body, status, param] of cases) {
    test(title, async () => {
      const error = await readError(await send(body));
      expect(error).toMatchObject({ status, param, type: "invalid_request_error" });
      if (title === "an unknown role") expect(error.code).toBe("invalid_value");
    });
  }

  test("an unknown model is answered with the list of models", async () => {
    const { message } = await readError(await send({ model: "oracle", messages: hello }));
    for (const { name } of sandboxModels) expect(message).toContain(name);
  });

  test("another path or method", async () => {
    expect((await send("", { method: "GET" })).status).toBe(404);
    expect((await send("", { url: "http://sandbox.invalid/v1/images/generations" })).status).toBe(404);
  });
});

describe("faults", () => {
  /** Every fault in both ways of answering. */
  const ask = (model: string, isStream: boolean, signal?: AbortSignal) =>
    send({ model, messages: hello, stream: isStream }, signal === undefined ? {} : { signal });

  test("error-<status> answers with that status and an error body", async () => {
    for (const status of [400, 401, 404, 418, 429, 500, 503, 599]) {
      for (const isStream of [false, true]) {
        const response = await ask(`error-${status}`, isStream);
        expect(response.headers.get("retry-after")).toBe(status === 429 ? "1" : null);
        expect((await readError(response)).status).toBe(status);
      }
    }
  });

  for (const isStream of [false, true]) {
    const way = isStream ? "in a stream" : "as a whole";

    test(`cut breaks the connection ${way}`, async () => {
      const response = await ask("cut", isStream);
      const reader = response.body?.getReader();
      if (reader === undefined) throw new Error("no body");
      for (let piece = 0; piece < 3; piece++) expect((await reader.read()).done).toBe(false);
      const broken = reader.read();
      await expect(broken).rejects.toBeInstanceOf(TypeError);
      await expect(broken).rejects.toMatchObject({ code: "ECONNRESET" });
      await expect((await ask("cut", isStream)).text()).rejects.toMatchObject({ code: "ECONNRESET" });
    });

    test(`stall sends a little and then nothing, until it is aborted, ${way}`, async () => {
      const controller = new AbortController();
      const response = await ask("stall", isStream, controller.signal);
      const reader = response.body?.getReader();
      if (reader === undefined) throw new Error("no body");
      for (let piece = 0; piece < 3; piece++) expect((await reader.read()).done).toBe(false);
      let isSettled = false;
      const next = reader.read();
      next
        .catch(() => {})
        .finally(() => {
          isSettled = true;
        });
      await Bun.sleep(20);
      expect(isSettled).toBe(false);
      controller.abort();
      await expect(within(60_000, "the aborted read", next)).rejects.toMatchObject({ name: "AbortError" });
    });

    test(`hang never answers, until it is aborted, ${way}`, async () => {
      const controller = new AbortController();
      const answer = ask("hang", isStream, controller.signal);
      controller.abort(new Error("enough"));
      await expect(within(60_000, "the aborted call", answer)).rejects.toThrow("enough");
    });

    test(`garbage is a 200 that is neither JSON nor events, ${way}`, async () => {
      const response = await ask("garbage", isStream);
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(() => JSON.parse(text)).toThrow();
      expect(readEvents(text).events).toEqual([]);
    });

    test(`slow takes its time between pieces ${way}`, async () => {
      const startedAt = performance.now();
      const response = await ask("slow-10", isStream);
      const text = await response.text();
      expect(performance.now() - startedAt).toBeGreaterThan(7 * 9);
      expect(text).toContain("sandbox");
    });

    test(`slow-start takes its time before the answer ${way}`, async () => {
      const startedAt = performance.now();
      const response = await ask("slow-start-40", isStream);
      expect(performance.now() - startedAt).toBeGreaterThan(38);
      expect(await response.text()).toContain("sandbox");
    });
  }

  test("no-done ends a complete stream without the end mark", async () => {
    const { chunks, isDone } = await stream({ model: "no-done" });
    expect([assemble(chunks).finishes, isDone]).toEqual([["stop"], false]);
    expect((await completeOne({ model: "no-done" })).finish_reason).toBe("stop");
  });

  test("error-in-stream is an error object after two chunks, and no end mark", async () => {
    const { events } = readEvents(await (await ask("error-in-stream", true)).text());
    expect(events).toHaveLength(3);
    expect(Object.keys(JSON.parse(events[2]?.data ?? ""))).toEqual(["error"]);
    const whole = await ask("error-in-stream", false);
    expect([whole.status, Object.keys((await whole.json()) as object)]).toEqual([200, ["error"]]);
  });

  test("garbage-in-stream is an event that is not JSON after two chunks", async () => {
    const { events } = readEvents(await (await ask("garbage-in-stream", true)).text());
    expect(events).toHaveLength(4);
    expect(() => JSON.parse(events[2]?.data ?? "")).toThrow();
    await expect((await ask("garbage-in-stream", false)).json()).rejects.toThrow();
  });

  test("a call that was aborted before it started is rejected", async () => {
    await expect(send({ model: "echo", messages: hello }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  test("an abort reaches a stream in the middle, read or not", async () => {
    for (const model of ["echo", "slow-60000", "flood-1000"]) {
      const controller = new AbortController();
      const unread = await ask(model, true, controller.signal);
      const response = await ask(model, true, controller.signal);
      const reader = response.body?.getReader();
      await reader?.read();
      const next = model === "slow-60000" ? reader?.read() : undefined;
      controller.abort();
      const after = within(60_000, "the read after the abort", Promise.resolve(next ?? reader?.read()));
      await expect(after).rejects.toMatchObject({ name: "AbortError" });
      await expect(unread.text()).rejects.toMatchObject({ name: "AbortError" });
    }
  });

  test("an aborted or cancelled answer leaves no timer that keeps the process alive, and no unhandled rejection", async () => {
    const script = `
      import { sandbox } from ${JSON.stringify(join(import.meta.dir, "../../src/providers/sandbox/index.ts"))};
      const ask = (model, signal) => sandbox.transport(${JSON.stringify(url)}, { method: "POST", signal,
        body: new TextEncoder().encode(JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "hi" }] })) });
      for (const model of ["slow-600000", "stall", "echo"]) {
        for (const leave of ["cancel", "abort"]) {
          const controller = new AbortController();
          const reader = (await ask(model, controller.signal)).body.getReader();
          await reader.read();
          const pending = reader.read().catch(() => {});
          if (leave === "cancel") await reader.cancel();
          else controller.abort();
          await pending;
        }
      }
      for (const model of ["hang", "slow-start-600000"]) {
        const controller = new AbortController();
        const answer = ask(model, controller.signal).catch(() => {});
        controller.abort();
        await answer;
      }
      const dropped = new AbortController();
      await ask("slow-600000", dropped.signal);
      dropped.abort();
      console.log("left");
    `;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
    try {
      await within(60_000, "the process to end", child.exited);
    } finally {
      child.kill();
    }
    expect([await child.stdout.text(), await child.stderr.text(), child.exitCode]).toEqual(["left\n", "", 0]);
  });

  test("a finished answer no longer listens to its signal", async () => {
    const controller = new AbortController();
    const counted = { added: 0, removed: 0 };
    const signal = new Proxy(controller.signal, {
      get(target, name) {
        if (name === "addEventListener") counted.added++;
        if (name === "removeEventListener") counted.removed++;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    await (await ask("slow-1", true, signal)).text();
    await waitFor("the listener to go", () => counted.removed === counted.added && counted.added > 0);
  });
});
