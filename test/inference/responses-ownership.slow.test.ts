// Whose response it is: every way to name a response or an item, tried with every kind of id, by two tenants; and a crowd of
// tenants at once. What is not one's own is answered as what never existed, and the provider does not hear of it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startGatewayProcess } from "../support/gateway-process.ts";
import type { Gateway } from "../support/gateway-settings.ts";
import { type Client, createClient, readResponseStream, textOf } from "../support/responses.ts";
import { type ResponsesVendor, startResponsesVendor, vendorIds } from "../support/responses-vendor.ts";
import { testGateway } from "../support/test-gateway.ts";
import { isFullRun } from "../support/test-size.ts";
import { inParallel } from "../support/wait.ts";

const sealingKey = Buffer.alloc(32, 7).fill(9, 0, 16).toString("base64");

type Kind = "own" | "foreign" | "deleted" | "unknown" | "raw" | "unstored" | "foreignUnstored" | "malformed";

/** An id of each kind, of a response and of one of its items. */
interface Named {
  readonly response: string;
  /** Of its input, as it is listed. */
  readonly given: string;
  /** Of its output. */
  readonly made: string;
}

type Ids = Readonly<Record<Kind, Named>>;

type Verb = (client: Client, ids: Named, own: string) => Promise<Response>;

const verbs = {
  retrieve: (client, { response }) => client.get(response),
  "retrieve as a stream": (client, { response }) => client.get(`${response}?stream=true`),
  "list input": (client, { response }) => client.get(`${response}/input_items`),
  cancel: (client, { response }) => client.post({}, `/${response}/cancel`),
  chain: (client, { response }) => client.post({ model, input: "x", previous_response_id: response }),
  "refer to an item": (client, { made }) => client.post({ model, input: [{ type: "item_reference", id: made }] }),
  "list after an item": (client, { given }, own) => client.get(`${own}/input_items?after=${given}`),
  delete: (client, { response }) => client.remove(response),
} satisfies Record<string, Verb>;

type VerbName = keyof typeof verbs;
type Row = Readonly<Record<Kind, string>>;

const model = "mock/echo";
const notFound = "404 response_not_found";
const notStored = "404 response_not_stored";
const chainNotFound = "400 previous_response_not_found";
const noItem = "422 value_error";
const malformed = "422 string_pattern_mismatch";
// The mark is the caller's own, so the provider may be asked; it has nothing of that id.
const providerHasNone = "400 provider_rejected_request";

const others = { foreign: notFound, deleted: notFound, unknown: notFound, raw: notFound, foreignUnstored: notFound };

const itemRow: Row = {
  own: "200",
  foreign: noItem,
  deleted: providerHasNone,
  unknown: noItem,
  raw: noItem,
  unstored: providerHasNone,
  foreignUnstored: noItem,
  malformed: noItem,
};

const table: Readonly<Record<VerbName, Row>> = {
  retrieve: { own: "200", ...others, unstored: notStored, malformed },
  "retrieve as a stream": { own: "200", ...others, unstored: notStored, malformed },
  "list input": { own: "200", ...others, unstored: notStored, malformed },
  cancel: { own: "400 provider_rejected_request", ...others, unstored: notStored, malformed },
  chain: {
    own: "200",
    foreign: chainNotFound,
    deleted: chainNotFound,
    unknown: chainNotFound,
    raw: chainNotFound,
    unstored: chainNotFound,
    foreignUnstored: chainNotFound,
    malformed,
  },
  "refer to an item": itemRow,
  "list after an item": itemRow,
  delete: { own: "200", ...others, unstored: notStored, malformed },
};

/** Of responses that the gateway keeps itself, where it differs: nobody else has them, their events are not kept. */
const keptTable: Readonly<Partial<Record<VerbName, Partial<Row>>>> = {
  "retrieve as a stream": { own: "422 value_error" },
  cancel: { own: "400 stateful_not_supported" },
  "refer to an item": { ...everyKind("422 unsupported_parameter"), own: "200" },
  "list after an item": { deleted: noItem, unstored: noItem },
};

function everyKind(outcome: string): Row {
  return Object.fromEntries(Object.keys(table.retrieve).map((kind) => [kind, outcome])) as Row;
}

let vendor: ResponsesVendor;
beforeAll(async () => {
  vendor = await startResponsesVendor();
});
afterAll(async () => {
  await vendor?.stop();
});

function named(response: string, item: string): Named {
  return { response, given: item, made: item };
}

/** All kinds of ids for each of two tenants. */
async function prepare(of: Client, other: Client, model: string): Promise<Ids> {
  const make = async (client: Client, store: boolean) => {
    const made = await client.create({ model, input: `by ${client.key.slice(-6)}`, store });
    const list = (await (await client.get(`${made.id}/input_items`)).json()) as { data?: { id: string }[] };
    // Of what is kept an item of the input, since these are listed; of what is not kept there is only the output.
    const output = String(made.output[0]?.["id"]);
    return { response: made.id, given: list.data?.[0]?.id ?? output, made: output };
  };
  const deleted = await make(of, true);
  await of.remove(deleted.response);
  const raw = [...vendor.stored.values()].at(-1);
  return {
    own: await make(of, true),
    foreign: await make(other, true),
    deleted,
    unknown: named(`resp_${"0".repeat(48)}`, `msg_${"0".repeat(32)}_sy${"0".repeat(20)}`),
    raw: named(raw?.id ?? `resp_vendor${"0".repeat(32)}`, String(raw?.input[0]?.["id"] ?? "msg_vendor1")),
    unstored: await make(of, false),
    foreignUnstored: await make(other, false),
    malformed: named("chatcmpl-1", "%E2%82%AC"),
  };
}

interface Told {
  readonly outcome: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const ownHeaders = new Set(["x-request-id", "date", "server-timing", "content-length"]);

async function tell(asked: Promise<Response>): Promise<Told> {
  const response = await asked;
  const text = await response.text();
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !ownHeaders.has(name)));
  const code = response.ok ? "" : ` ${JSON.parse(text).error.code}`;
  return { outcome: `${response.status}${code}`, text, headers };
}

const homes = {
  "at a provider that keeps them": { model: "mock/echo", env: {}, changes: {} },
  "in the gateway itself": {
    model: "mockchat/echo",
    env: { SWITCHYARD_RESPONSES_STORE_FOR_ALL: "true", SWITCHYARD_ENCRYPTION_KEY: sealingKey },
    changes: keptTable,
  },
} as const;

for (const [where, home] of Object.entries(homes)) {
  describe(`responses ${where}`, () => {
    let gateway: Gateway;
    let tenants: readonly [Client, Client];
    const prepared: Ids[] = [];
    beforeAll(async () => {
      gateway = await testGateway({ vendor, env: home.env });
      const create = async () => createClient(gateway, await gateway.createKey());
      tenants = [await create(), await create()];
    });
    afterAll(async () => {
      await gateway?.stop();
    });

    for (const direction of [0, 1] as const) {
      for (const [name, row] of Object.entries(table)) {
        const expected: Row = { ...row, ...(home.changes as typeof keptTable)[name as VerbName] };
        test(`tenant ${direction + 1}: ${name}`, async () => {
          const [of, other] = direction === 0 ? tenants : ([tenants[1], tenants[0]] as const);
          // Shared by the verbs that change nothing.
          const shared = name === "delete" ? undefined : prepared[direction];
          const ids = shared ?? (await prepare(of, other, home.model));
          prepared[direction] = ids;
          const verb: Verb = verbs[name as VerbName];
          const asked = withModel(of, home.model);
          const told = new Map<Kind, Told>();
          // One's own last: deleting it is one of the verbs.
          for (const kind of [...(Object.keys(expected) as Kind[]).filter((one) => one !== "own"), "own"] as Kind[]) {
            vendor.clear();
            const answer = await tell(verb(asked, ids[kind], ids.own.response));
            expect([kind, answer.outcome]).toEqual([kind, expected[kind]]);
            expect(answer.text).not.toMatch(vendorIds);
            // Nothing but one's own is ever asked for at the provider.
            const mayAsk = answer.outcome === "200" || answer.outcome === providerHasNone;
            if (!mayAsk) expect(vendor.requests).toHaveLength(0);
            told.set(kind, answer);
          }
          for (const kind of ["foreign", "raw", "foreignUnstored"] as const)
            expect({ kind, ...told.get(kind) }).toEqual({ kind, ...(told.get("unknown") as Told) });
          if (expected.deleted === expected.unknown) expect(told.get("deleted")).toEqual(told.get("unknown") as Told);
          // What is the other tenant's is still there.
          expect((await other.get(ids.foreign.response)).status).toBe(200);
        });
      }
    }

    test("keys of one owner share their responses, keys without an owner do not", async () => {
      const create = async (owner: string | null) => {
        const created = (await gateway.manage("POST", "/keys", { name: "k", owner })) as { key: string };
        return createClient(gateway, created.key);
      };
      const [one, two, stranger, alone, lonely] = await Promise.all(
        ["acme", "acme", "other", null, null].map((owner) => create(owner)),
      );
      if (!(one && two && stranger && alone && lonely)) throw new Error("no keys");
      const first = await one.create({ model: home.model, input: "ours" });
      const second = await two.create({ model: home.model, input: "too", previous_response_id: first.id });
      expect((await one.get(second.id)).status).toBe(200);
      for (const client of [stranger, alone, lonely]) expect((await client.get(first.id)).status).toBe(404);
      const own = await alone.create({ model: home.model, input: "mine" });
      for (const client of [one, stranger, lonely]) expect((await client.get(own.id)).status).toBe(404);
      // An owner cannot be made to look like a key.
      const key = (await gateway.manage("GET", "/keys?limit=1000")) as { items: { id: string }[] };
      const imitators = await Promise.all(key.items.map(({ id }) => create(`key:${id}`)));
      for (const imitator of imitators) expect((await imitator.get(own.id)).status).toBe(404);
    });
  });
}

function withModel(client: Client, name: string): Client {
  return {
    ...client,
    post: (body, path, init) =>
      client.post(
        typeof body === "object" && "model" in (body as object) ? { ...(body as object), model: name } : body,
        path,
        init,
      ),
  };
}

const requests = isFullRun ? 3_000 : 1_000;
const tenantCount = 50;
const atOnce = 100;

test(`${requests} requests of ${tenantCount} tenants at once, half of them given up: no text reaches another tenant`, async () => {
  const gateway = await startGatewayProcess({ vendor, env: { SWITCHYARD_LOG_LEVEL: "error" } });
  try {
    const tenants = await Promise.all(
      Array.from({ length: tenantCount }, async (_, index) => ({
        client: createClient(gateway, await gateway.createKey()),
        marker: `tenant-${index}-${crypto.randomUUID().slice(0, 8)}`,
        ids: [] as { id: string; said: string }[],
      })),
    );
    const outcomes = { whole: 0, stream: 0, chained: 0, left: 0 };
    const wrong: string[] = [];

    await inParallel(requests, atOnce, async (index) => {
      const tenant = tenants[index % tenantCount];
      if (tenant === undefined) throw new Error("no tenant");
      const { client, marker, ids } = tenant;
      const said = `${marker}-${index}`;
      const previous = index % 3 === 0 ? ids[Math.floor(Math.random() * ids.length)] : undefined;
      const stream = index % 2 === 0;
      const leaves = Math.random() < 0.5;
      const controller = new AbortController();
      const body = { model: stream && leaves ? "mock/slow" : "mock/echo", input: said, stream };
      const chain = previous === undefined ? {} : { previous_response_id: previous.id };
      const timer = leaves ? setTimeout(() => controller.abort(), Math.random() * 150) : null;
      let text = "";
      try {
        const response = await client.post({ ...body, ...chain }, "", { signal: controller.signal });
        for await (const bytes of response.body ?? []) text += Buffer.from(bytes).toString();
        if (response.status !== 200) {
          wrong.push(`${response.status}: ${text.slice(0, 200)}`);
          return;
        }
        const answer = stream ? readResponseStream(text) : null;
        const whole = answer?.last.response ?? JSON.parse(text);
        const heard = previous === undefined ? `heard: ${said}` : `heard: ${previous.said} | ${said}`;
        if (textOf(whole) !== heard) wrong.push(`expected ${heard}, got ${textOf(whole)}`);
        ids.push({ id: whole.id, said: heard.slice("heard: ".length) });
        outcomes[previous !== undefined ? "chained" : stream ? "stream" : "whole"] += 1;
      } catch (error) {
        if (!controller.signal.aborted) throw error;
        outcomes.left += 1;
      } finally {
        if (timer !== null) clearTimeout(timer);
      }
      for (const [found] of text.matchAll(/tenant-\d+-[0-9a-f]{8}/g))
        if (found !== marker) wrong.push(`${found} told to ${marker}`);
    });

    expect(wrong).toEqual([]);
    expect(outcomes.left).toBeGreaterThan(requests / 10);
    expect(Math.min(outcomes.whole, outcomes.stream, outcomes.chained)).toBeGreaterThan(requests / 50);
    // Afterwards as well: each finds its own, and nobody finds another's.
    await inParallel(tenantCount, 10, async (index) => {
      const [tenant, next] = [tenants[index], tenants[(index + 1) % tenantCount]];
      const kept = tenant?.ids.at(-1);
      if (!(tenant && next && kept)) return;
      expect(textOf(await tenant.client.retrieve(kept.id))).toBe(`heard: ${kept.said}`);
      expect((await next.client.get(kept.id)).status).toBe(404);
    });
  } finally {
    await gateway.stop();
  }
});
