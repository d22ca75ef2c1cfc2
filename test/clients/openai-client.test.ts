// The official client of the chat format, unchanged: only its base address and key are ours.

import { beforeEach, describe, expect, test } from "bun:test";
import { z } from "zod";
import { answer, chatChunk, event, fin, hang, streamHead, until } from "../support/answers.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { rejectionOf } from "../support/thrown.ts";
import { awayFromMinuteEnd } from "../support/wait.ts";
import { zodResponseFormat } from "../tools/node_modules/openai/helpers/zod.mjs";
import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from "../tools/node_modules/openai/index.mjs";

const gateway = await sharedGateway();
const { vendor } = gateway;
const client = clientWith(await gateway.createKey());

beforeEach(() => vendor.clear());

function clientWith(apiKey: string, maxRetries = 0): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v3`, apiKey, maxRetries, timeout: 110_000 });
}

const question = { role: "user" as const, content: "What is a switchyard?" };

for (const model of ["sandbox/echo", "mock/echo"]) {
  describe(model, () => {
    test("answers a call", async () => {
      const completion = await client.chat.completions.create({ model, messages: [question] });
      expect(completion.object).toBe("chat.completion");
      expect(completion.choices[0]?.message.content).toContain("switchyard");
      expect(completion.usage?.total_tokens).toBe(
        (completion.usage?.prompt_tokens ?? 0) + (completion.usage?.completion_tokens ?? 0),
      );
      expect(completion._request_id).toBeTruthy();
    });

    test("streams an answer", async () => {
      const stream = await client.chat.completions.create({ model, messages: [question], stream: true });
      let text = "";
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
      expect(text).toContain("switchyard");
    });

    test("streams usage to those who ask", async () => {
      const asked = { model, messages: [question], stream_options: { include_usage: true } };
      const completion = await client.chat.completions.stream(asked).finalChatCompletion();
      expect(completion.choices[0]?.finish_reason).toBe("stop");
      expect(completion.usage?.completion_tokens).toBeGreaterThan(0);
    });

    test("streams to several readers of the same words", async () => {
      const stream = await client.chat.completions.create({ model, messages: [question], stream: true });
      const [left, right] = stream.tee();
      async function read(from: typeof left): Promise<string> {
        let text = "";
        for await (const chunk of from) text += chunk.choices[0]?.delta.content ?? "";
        return text;
      }
      const [first, second] = await Promise.all([read(left), read(right)]);
      expect(first).toBe(second);
    });
  });
}

describe("tools and schemas", () => {
  const weather = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };

  test("a tool is called and its result answered", async () => {
    const called: string[] = [];
    const runner = client.chat.completions.runTools({
      model: "sandbox/echo",
      messages: [{ role: "user", content: "How is the weather?" }],
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "The weather of a city",
            parameters: weather,
            parse: (text: string) => JSON.parse(text) as { city: string },
            function: ({ city }: { city: string }) => {
              called.push(city);
              return `sunny in ${city}`;
            },
          },
        },
      ],
    });
    const text = await runner.finalContent();
    expect(called).toHaveLength(1);
    expect(called[0]).toBeString();
    expect(text).toBeString();
  });

  test("a streamed tool call arrives whole", async () => {
    const stream = client.chat.completions.stream({
      model: "sandbox/echo",
      messages: [question],
      tools: [{ type: "function", function: { name: "get_weather", parameters: weather, strict: true } }],
    });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    const [call] = choices[0]?.message.tool_calls ?? [];
    if (call?.type !== "function") throw new Error("no function was called");
    expect(call.function.name).toBe("get_weather");
    expect(JSON.parse(call.function.arguments)).toHaveProperty("city");
  });

  test("an answer in a schema is parsed by it", async () => {
    const shape = z.object({ title: z.string(), steps: z.array(z.string()), rating: z.number() });
    const completion = await client.chat.completions.parse({
      model: "sandbox/echo",
      messages: [question],
      response_format: zodResponseFormat(shape, "plan"),
    });
    const parsed = completion.choices[0]?.message.parsed;
    expect(shape.safeParse(parsed).success).toBe(true);
  });

  test("a schema reaches a vendor as the client wrote it", async () => {
    const response_format = zodResponseFormat(z.object({ title: z.string() }), "plan");
    const messages = [{ role: "user" as const, content: '{"title":"from the vendor"}' }];
    const completion = await client.chat.completions.parse({ model: "mock/echo", messages, response_format });
    expect(completion.choices[0]?.message.parsed).toEqual({ title: "from the vendor" });
    const sent = JSON.parse(vendor.last().body.toString());
    expect(sent.response_format).toEqual(JSON.parse(JSON.stringify(response_format)));
  });
});

describe("leaving", () => {
  test("an aborted call ends at the vendor", async () => {
    vendor.on("slow", [hang]);
    const abort = new AbortController();
    const call = client.chat.completions.create({ model: "mock/slow", messages: [question] }, { signal: abort.signal });
    const outcome = call.then(
      () => null,
      (error: unknown) => error,
    );
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    abort.abort();
    expect(await outcome).toBeInstanceOf(APIUserAbortError);
    await vendor.waitFor("the call's end", (requests) => requests[0]?.leftAt !== null);
  });

  test("a stream that is left in the middle ends at the vendor", async () => {
    vendor.on("slow", [streamHead(), event(chatChunk({ content: "one" })), event(chatChunk({ content: "two" })), hang]);
    const stream = await client.chat.completions.create({ model: "mock/slow", messages: [question], stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === "one") break;
    await vendor.waitFor("the call's end", (requests) => requests[0]?.leftAt !== null);
  });
});

describe("errors have the classes that programs catch", () => {
  type ErrorClass = abstract new (...parameters: never[]) => Error;

  const failureOf = (call: PromiseLike<unknown>) => rejectionOf<APIError>(call, APIError);

  function create(model: string, using: OpenAI = client): PromiseLike<unknown> {
    return using.chat.completions.create({ model, messages: [question] });
  }

  const vendorStatuses: Readonly<Record<number, { error: ErrorClass; status: number; code: string }>> = {
    400: { error: BadRequestError, status: 400, code: "provider_rejected_request" },
    401: { error: InternalServerError, status: 502, code: "provider_auth_failed" },
    404: { error: NotFoundError, status: 404, code: "model_not_found" },
    429: { error: RateLimitError, status: 429, code: "provider_rate_limited" },
    500: { error: InternalServerError, status: 502, code: "provider_error" },
  };
  for (const [status, expected] of Object.entries(vendorStatuses)) {
    test(`a vendor's ${status} is a ${expected.error.name}`, async () => {
      vendor.on("broken", answer(Number(status), { error: { message: "no" } }));
      const failure = await failureOf(create("mock/broken"));
      expect(failure).toBeInstanceOf(expected.error);
      expect(failure).toMatchObject({ status: expected.status, code: expected.code });
      expect(failure.requestID).toBeTruthy();
    });
  }

  test("a wrong key is an AuthenticationError", async () => {
    const failure = await failureOf(create("mock/echo", clientWith("sk-sy-nobody-has-this-key")));
    expect(failure).toBeInstanceOf(AuthenticationError);
    expect(failure).toMatchObject({ code: "invalid_api_key", type: "authentication_error" });
  });

  test("a missing permission is a PermissionDeniedError", async () => {
    const limited = clientWith(await gateway.createKey({ allowed_models: ["mock2/*"] }));
    const failure = await failureOf(create("mock/echo", limited));
    expect(failure).toBeInstanceOf(PermissionDeniedError);
    expect(failure.code).toBe("model_not_allowed");
  });

  test("a wrong parameter is an UnprocessableEntityError that names it", async () => {
    const failure = await failureOf(
      client.chat.completions.create({ model: "mock/echo", messages: [question], temperature: 3 }),
    );
    expect(failure).toBeInstanceOf(UnprocessableEntityError);
    expect(failure).toMatchObject({ code: "less_than_equal", param: "temperature" });
  });

  test("our own rate limit is a RateLimitError", async () => {
    const limited = clientWith(await gateway.createKey({ rate_limit: { requests_per_minute: 1 } }));
    await awayFromMinuteEnd();
    await create("mock/echo", limited);
    const failure = await failureOf(create("mock/echo", limited));
    expect(failure).toBeInstanceOf(RateLimitError);
    expect(failure.code).toBe("rate_limit_exceeded");
    expect(failure.headers?.get("retry-after")).toMatch(/^\d+$/);
  });

  test("a provider without a key is not tried again by the client", async () => {
    let calls = 0;
    const patient = clientWith(await gateway.createKey(), 3).withOptions({
      fetch: (...request: Parameters<typeof fetch>) => {
        calls += 1;
        return fetch(...request);
      },
    });
    const failure = await failureOf(create("openai/gpt-4o", patient));
    expect(failure).toMatchObject({ status: 503, code: "provider_not_configured" });
    expect(calls).toBe(1);
  });

  test("a failure that may pass is tried again by the client", async () => {
    vendor.next(answer(500, { error: { message: "once" } }));
    vendor.on("later", (request) =>
      answer(200, {
        id: "x",
        object: "chat.completion",
        model: request.model,
        choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
      }),
    );
    const patient = clientWith(await gateway.createKey(), 3);
    const completion = await patient.chat.completions.create({ model: "mock/later", messages: [question] });
    expect(completion.choices[0]?.message.content).toBe("ok");
    expect(vendor.requests.length).toBeGreaterThanOrEqual(2);
  });

  test("a stream that breaks is an error and not the end of the answer", async () => {
    const seen = Promise.withResolvers<void>();
    const half = event(chatChunk({ role: "assistant", content: "half" }));
    vendor.on("cut", [streamHead(), half, until(seen.promise), fin]);
    let text = "";
    const failure = await failureOf(
      (async () => {
        const stream = await client.chat.completions.create({ model: "mock/cut", messages: [question], stream: true });
        for await (const chunk of stream) {
          text += chunk.choices[0]?.delta.content ?? "";
          seen.resolve();
        }
      })(),
    );
    expect(text).toBe("half");
    expect(failure.code).toBe("provider_disconnected");
  });
});

test("the models are listed, and one can be looked at", async () => {
  const ids: string[] = [];
  for await (const model of client.models.list({ query: { include: "sandbox" } })) ids.push(model.id);
  expect(ids).toContain("sandbox/echo");
  expect(await client.models.retrieve("sandbox/echo")).toMatchObject({ id: "sandbox/echo", object: "model" });
});
