// Hundreds of streams that break: cut, reset, stalled or fed nonsense, before and after the first content. Not one of
// them may look like a complete answer.

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  completion,
  doneText,
  event,
  eventText,
  fin,
  hang,
  httpChunk,
  lastHttpChunk,
  rst,
  type Script,
  type Step,
  streamHead,
  until,
  wait,
  write,
} from "../support/answers.ts";
import { ask, chatPath, hello, readCompletion } from "../support/chat.ts";
import { isStreamError, readChatStream } from "../support/events.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { openConnection, type RawResponse, requestBytes } from "../support/raw-http.ts";
import { isFullRun } from "../support/test-size.ts";
import { startVendor, type Vendor, type VendorRequest } from "../support/vendor.ts";
import { inParallel, waitFor } from "../support/wait.ts";

// Every kind of breakage, after every number of pieces, patient and not: 128 plans, twice or four times.
const streams = isFullRun ? 512 : 256;
const atOnce = 50;
// A stream that does not stall must not time out on a busy machine.
const timeoutMs = "5000";

interface Breakage {
  readonly steps: readonly Step[];
  /** What the error event may say. */
  readonly codes: readonly string[];
}

const cut = ["provider_disconnected"];
const nonsense = ["provider_bad_response"];
const half = eventText(chatChunk({ content: "never whole" })).slice(0, 60);
const rest: readonly Step[] = [event(chatChunk({}, "stop")), httpChunk(doneText), lastHttpChunk];

const breakages: Readonly<Record<string, Breakage>> = {
  "closed between events": { steps: [fin], codes: cut },
  "closed inside an event": { steps: [httpChunk(half), fin], codes: cut },
  "closed inside a chunk of the transfer": { steps: [write("1f4\r\ndata: {"), fin], codes: cut },
  "reset between events": { steps: [rst], codes: cut },
  "reset inside an event": { steps: [httpChunk(half), wait(5), rst], codes: cut },
  "ended properly but without the end mark": { steps: [lastHttpChunk], codes: cut },
  "ended properly inside an event": { steps: [httpChunk(half), lastHttpChunk], codes: [...cut, ...nonsense] },
  stalled: { steps: [hang], codes: ["provider_timeout"] },
  "stalled inside an event": { steps: [httpChunk(half), hang], codes: ["provider_timeout"] },
  "an event of broken JSON": { steps: [httpChunk('data: {"choices":[{"delta"\n\n'), ...rest], codes: nonsense },
  "an event that is a number": { steps: [httpChunk("data: 42\n\n"), ...rest], codes: nonsense },
  "a page of HTML": {
    steps: [httpChunk("<html>\n<body>502 Bad Gateway</body>\n\n</html>\n\n"), lastHttpChunk],
    codes: [...nonsense, ...cut],
  },
  "binary noise": {
    steps: [httpChunk(Uint8Array.from({ length: 512 }, (_none, index) => (index * 197 + 31) % 256)), lastHttpChunk],
    codes: [...nonsense, ...cut],
  },
  "an error object": {
    steps: [event({ error: { message: "overloaded", type: "server_error" } }), lastHttpChunk],
    codes: ["provider_error"],
  },
  "an error object and then the end mark": {
    steps: [event({ error: { message: "overloaded", type: "server_error" } }), httpChunk(doneText), lastHttpChunk],
    codes: ["provider_error"],
  },
  "a character cut in two": {
    steps: [httpChunk(Buffer.from(eventText(chatChunk({ content: "caf#" })).replace("#", "\xc3"), "latin1")), ...rest],
    codes: nonsense,
  },
};
const kinds = Object.entries(breakages);
const before = [0, 1, 2, 7];

interface Plan extends Breakage {
  readonly name: string;
  readonly contents: readonly string[];
  /** Breaks only when the caller has all of the content; otherwise at once, which may overtake it. */
  readonly isPatient: boolean;
  readonly seen: PromiseWithResolvers<void>;
}

const plans = Array.from({ length: streams }, (_none, index): Plan => {
  const [name, breakage] = kinds[index % kinds.length] ?? ["", { steps: [], codes: [] }];
  const turn = Math.floor(index / kinds.length);
  const count = before[turn % before.length] ?? 0;
  const contents = Array.from({ length: count }, (_piece, position) => `piece ${position} `);
  const isPatient = count > 0 && Math.floor(turn / before.length) % 2 === 0;
  const title = `${name} ${isPatient ? "well " : ""}after ${count}`;
  return { ...breakage, name: title, contents, isPatient, seen: Promise.withResolvers<void>() };
});

function breakStream(request: VendorRequest): Script {
  const plan = plans[Number(request.model.slice("broken-".length))];
  if (plan === undefined) return [];
  const role = plan.contents.length === 0 ? [] : [event(chatChunk({ role: "assistant", content: "" }))];
  const content = plan.contents.map((piece) => event(chatChunk({ content: piece })));
  return [streamHead(), ...role, ...content, ...(plan.isPatient ? [until(plan.seen.promise)] : []), ...plan.steps];
}

let vendor: Vendor;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  vendor = await startVendor((request) => (request.model.startsWith("broken-") ? breakStream(request) : []));
  gateway = await startGatewayProcess({
    vendor,
    env: { SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: timeoutMs, SWITCHYARD_IDLE_TIMEOUT_MS: timeoutMs },
  });
  key = await gateway.createKey();
});

afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

test(`none of ${streams} broken streams looks complete`, async () => {
  const { serving } = await gateway.processes();
  const wrong: string[] = [];
  await inParallel(streams, atOnce, async (index) => {
    const plan = plans[index];
    if (plan === undefined) return;
    const complaint = await judge(plan, index).catch((error) => String(error));
    if (complaint !== null) wrong.push(`${plan.name}: ${complaint}`);
  });
  // One line for each kind: the count tells the rest.
  expect([...new Set(wrong)].slice(0, 20)).toEqual([]);
  expect(wrong).toHaveLength(0);
  expect((await gateway.processes()).serving).toEqual(serving);
}, 300_000);

test("after all of that the gateway serves as before", async () => {
  vendor.next(answer(200, completion("still here")));
  expect(await readCompletion(await ask(gateway.url, key, hello))).toMatchObject({ provider: "mock" });
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
});

/** What is wrong with the answer to a broken stream; null when nothing is. */
async function judge(plan: Plan, index: number): Promise<string | null> {
  const connection = await openConnection(gateway.url);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ ...hello, model: `mock/broken-${index}`, stream: true });
  connection.send(requestBytes({ path: chatPath, headers, body }));
  if (plan.isPatient) {
    const last = JSON.stringify(plan.contents.at(-1));
    await waitFor("the content", () => connection.text().includes(last));
    plan.seen.resolve();
  }
  const response = await connection.receive();
  connection.leave();
  return response.status === 200 ? judgeStream(plan, response) : judgeStatus(plan, response);
}

function judgeStream(plan: Plan, response: RawResponse): string | null {
  const { errors, done, content } = readChatStream(response.body.toString());
  if (done) return "ended with [DONE]";
  const [error] = errors;
  if (errors.length !== 1 || error === undefined) return `${errors.length} error events`;
  const wanted = plan.contents.join("");
  if (plan.isPatient ? content !== wanted : !wanted.startsWith(content)) return `content "${content}"`;
  return plan.codes.includes(error.error.code) ? null : `code ${error.error.code}`;
}

/** As long as the caller has no content an HTTP error says it better. */
function judgeStatus(plan: Plan, response: RawResponse): string | null {
  if (plan.isPatient) return `status ${response.status} though content was sent`;
  if (response.status !== 502 && response.status !== 504) return `status ${response.status}`;
  return isStreamError(JSON.parse(response.body.toString())) ? null : "an error without both forms";
}
