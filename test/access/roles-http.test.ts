// Every management route, for every role, of the whole gateway and of one team: no caller does what the role does not allow, and no caller sees or
// changes anything of another team.

import { describe, expect, test } from "bun:test";
import { includesRole, type Role, roles } from "../../src/contract/roles.ts";
import type { Route } from "../../src/http/route.ts";
import { listAllRoutes } from "../support/all-routes.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor, env: { SWITCHYARD_CAPTURE_CONTENT: "true" } });
const managed = listAllRoutes().filter(({ key }) => key === "management");

/** Everything of a team that a route may show. The random part is in every name, so that a text shows whether it is there. */
interface Team {
  readonly name: string;
  readonly id: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly jobId: string;
  readonly cancelledJobId: string;
  readonly fileId: string;
}

interface Person {
  readonly role: Role;
  readonly team: Team | null;
  readonly key: string;
}

async function createTeam(name: string): Promise<Team> {
  const mark = `${name}-${crypto.randomUUID().slice(0, 8)}`;
  const limits = { model_limits: [{ model: "unused/*", budget: { amount: 5 } }] };
  const { id } = (await gateway.manage("POST", "/teams", { name: mark, ...limits })) as { id: string };
  const key = await createKey(mark);
  const requestId = `request-of-${mark}`;
  const headers = { authorization: `Bearer ${key.key}`, "content-type": "application/json", "x-request-id": requestId };
  const send = (path: string, body: object) =>
    fetch(`${gateway.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  await send("/v3/chat/completions", { model: "mock/m", messages: [{ role: "user", content: "Hi" }] });
  const cancelledJobId = await submitJob(key.key);
  await gateway.manage("POST", `/jobs/${cancelledJobId}/cancel`);
  return {
    name: mark,
    id,
    keyId: key.id,
    requestId,
    jobId: await submitJob(key.key),
    cancelledJobId,
    fileId: await uploadFile(key.key),
  };
}

async function submitJob(key: string): Promise<string> {
  const response = await fetch(`${gateway.url}/v3/universal-ai/async`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } }),
  });
  return ((await response.json()) as { job_id: string }).job_id;
}

async function uploadFile(key: string): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob(["some text"]), "note.txt");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
  return ((await response.json()) as { file_id: string }).file_id;
}

async function createKey(team: string | null, more: object = {}) {
  const body = { name: `key of ${team}`, ...(team === null ? {} : { team }), ...more };
  return (await gateway.manage("POST", "/keys", body)) as { id: string; key: string };
}

const teams = [await createTeam("red"), await createTeam("blue")] as const;
await waitFor("the lines of the ledger", async () => {
  const listed = JSON.stringify(await gateway.manage("GET", "/requests"));
  return teams.every(({ requestId }) => listed.includes(requestId)) ? true : null;
});
const people: Person[] = await Promise.all(
  [null, ...teams].flatMap((team) =>
    roles.map(async (role) => {
      const { key } = await createKey(team?.name ?? null, { kind: "management", role });
      return { role, team, key };
    }),
  ),
);

/** How a route is called about a team. New objects for calls that destroy them. */
const recipes: Readonly<Record<string, (team: Team) => Promise<CallOfRoute> | CallOfRoute>> = {
  listKeys: () => ({ query: "limit=1000" }),
  createKey: ({ name }) => ({ body: { name: "new", team: name }, foreign: 422 }),
  retrieveKey: ({ keyId }) => ({ params: { key_id: keyId } }),
  updateKey: ({ keyId }) => ({ params: { key_id: keyId }, body: { tags: { a: "b" } } }),
  revokeKey: async ({ name }) => ({ params: { key_id: (await createKey(name)).id } }),
  rotateKey: async ({ name }) => ({ params: { key_id: (await createKey(name)).id } }),
  whoami: () => ({}),
  listTeams: () => ({ query: "limit=1000" }),
  retrieveTeam: ({ name }) => ({ params: { team: name } }),
  reportUsage: ({ name }) => ({ query: `team=${name}&group_by=team,key` }),
  reportKeyUsage: ({ keyId }) => ({ params: { key_id: keyId }, query: "group_by=team" }),
  listRequests: ({ name }) => ({ query: `team=${name}` }),
  retrieveRequest: ({ requestId }) => ({ params: { request_id: requestId } }),
  retrieveRequestContent: ({ requestId }) => ({ params: { request_id: requestId } }),
  listManagedJobs: ({ name }) => ({ query: `team=${name}&limit=1000` }),
  retrieveManagedJob: ({ jobId }) => ({ params: { job_id: jobId } }),
  retrieveManagedJobResult: ({ jobId }) => ({ params: { job_id: jobId } }),
  // It has no receiver.
  redeliverAnyJob: ({ cancelledJobId }) => ({ params: { job_id: cancelledJobId }, permitted: 400 }),
  cancelAnyJob: async ({ name }) => ({ params: { job_id: await submitJob((await createKey(name)).key) } }),
  listManagedFiles: ({ name }) => ({ query: `team=${name}` }),
  downloadManagedFile: ({ fileId }) => ({ params: { file_id: fileId } }),
  retrieveManagedFile: ({ fileId }) => ({ params: { file_id: fileId } }),
  deleteManagedFile: async ({ name }) => ({ params: { file_id: await uploadFile((await createKey(name)).key) } }),
  listBudgets: () => ({}),
  reportLatency: ({ name }) => ({ query: `team=${name}` }),
  listProviders: () => ({}),
  retrieveRouting: () => ({}),
  previewRouting: ({ keyId }) => ({ query: `model=mock/m&key=${keyId}`, foreign: 404 }),
  retrieveSession: () => ({ permitted: 401 }),
  signOut: () => ({ permitted: 401 }),
  listAudit: ({ name }) => ({ query: `team=${name}` }),
};

interface CallOfRoute {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  /** The status for a person of another team, where it is not 404. */
  readonly foreign?: number;
  /** The status for a person who may make the call, where it is not a success. */
  readonly permitted?: number;
}

async function call(route: Route, person: Person, { params = {}, query = "", body }: CallOfRoute) {
  const path = route.path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? "00000000-0000-4000-8000-000000000000"),
  );
  const response = await fetch(`${gateway.url}${path}?${query}`, {
    method: route.method,
    headers: { authorization: `Bearer ${person.key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, text: await response.text() };
}

const mayCall = ({ role = "administrator", reach }: Route, person: Person) =>
  includesRole(person.role, role) && (person.team === null || reach === "team");
const describePerson = ({ role, team }: Person) => `${role} of ${team === null ? "the gateway" : team.name}`;

test("every management route says who may call it, and how its changes are recorded", () => {
  for (const { id, role, reach, method, audit } of managed) {
    expect(role, id).toBeDefined();
    expect(reach, id).toBeDefined();
    expect(audit !== undefined, id).toBe(method !== "GET");
    expect(method === "GET" || id === "signOut" || role !== "viewer", id).toBe(true);
  }
  for (const { id, role } of listAllRoutes().filter(({ key }) => key !== "management"))
    expect(role, id).toBeUndefined();
});

describe("a role that does not suffice is refused", () => {
  for (const route of managed)
    test(`${route.method} ${route.path}`, async () => {
      const refused = people.filter((person) => !mayCall(route, person));
      const outcomes = await Promise.all(refused.map((person) => call(route, person, {})));
      for (const [index, { status, text }] of outcomes.entries()) {
        const who = describePerson(refused[index] as Person);
        expect([status, text.includes('"insufficient_role"')], who).toEqual([403, true]);
      }
    });
});

describe("a role of a team sees and changes that team only", () => {
  for (const route of managed.filter(({ reach }) => reach === "team"))
    test(`${route.method} ${route.path}`, async () => {
      const recipe = recipes[route.id];
      if (recipe === undefined)
        throw new Error(
          `Say in \`recipes\` how ${route.id} is called, so that it is checked for crossings between teams`,
        );
      const combinations = people
        .filter((person) => mayCall(route, person))
        .flatMap((person) => teams.map((team) => ({ person, team })));
      await Promise.all(
        combinations.map(async ({ person, team }) => {
          const made = await recipe(team);
          const { status, text } = await call(route, person, made);
          const who = `${describePerson(person)} about ${team.name}: ${text.slice(0, 300)}`;
          const isForeign = person.team !== null && person.team !== team;
          const isAbout =
            made.params !== undefined ||
            made.body !== undefined ||
            made.foreign !== undefined ||
            made.query?.includes("team=") === true;
          const expected = isForeign && isAbout ? (made.foreign ?? 404) : made.permitted;
          if (expected === undefined) expect([200, 201, 202, 204], who).toContain(status);
          else expect(status, who).toBe(expected);
          if (made.query?.startsWith("team=") === true) {
            const unfiltered = await call(route, person, { ...made, query: made.query.replace(/^team=[^&]*/, "") });
            expectNothingOfOthers(person, made, unfiltered.text);
          }
          expectNothingOfOthers(person, made, text);
        }),
      );
    });

  function expectNothingOfOthers(person: Person, made: CallOfRoute, text: string): void {
    const hidden = teams.find((other) => person.team !== null && other !== person.team);
    if (hidden === undefined) return;
    for (const mark of [
      hidden.name,
      hidden.id,
      hidden.keyId,
      hidden.requestId,
      hidden.jobId,
      hidden.cancelledJobId,
      hidden.fileId,
    ])
      if (!JSON.stringify(made).includes(mark))
        expect(text.includes(mark), `${mark} for ${describePerson(person)}: ${text.slice(0, 300)}`).toBe(false);
  }

  test("the lists are not empty: each person sees what is theirs", async () => {
    const person = people.find(({ role, team }) => role === "viewer" && team === teams[0]) as Person;
    const find = (id: string) => managed.find((route) => route.id === id) as Route;
    const shows = async (id: string, mark: string) =>
      expect((await call(find(id), person, { query: "limit=1000" })).text, id).toContain(mark);
    await shows("listKeys", teams[0].keyId);
    await shows("listTeams", teams[0].id);
    await shows("listBudgets", teams[0].id);
    await shows("listManagedJobs", teams[0].jobId);
    await shows("listAudit", teams[0].keyId);
    await shows("listRequests", teams[0].requestId);
    await shows("listManagedFiles", teams[0].fileId);
    expect((await call(find("retrieveRequest"), person, { params: { request_id: teams[0].requestId } })).status).toBe(
      200,
    );
  });
});

describe("roles cannot be raised", () => {
  const find = (role: Role, team: Team | null) =>
    people.find((one) => one.role === role && one.team === team) as Person;
  const send = async (person: Person, method: string, path: string, body?: unknown) => {
    const response = await fetch(`${gateway.url}/v3/manage${path}`, {
      method,
      headers: { authorization: `Bearer ${person.key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };

  test("an operator neither creates nor changes management keys", async () => {
    for (const team of [null, teams[0]]) {
      const operator = find("operator", team);
      const target = await createKey(teams[0].name, { kind: "management", role: "administrator" });
      const wanted = { name: "mine", kind: "management" };
      expect((await send(operator, "POST", "/keys", wanted)).status).toBe(403);
      expect((await send(operator, "POST", "/keys", { ...wanted, role: "viewer" })).status).toBe(403);
      expect((await send(operator, "POST", `/keys/${target.id}/rotate`, {})).status).toBe(403);
      expect((await send(operator, "PATCH", `/keys/${target.id}`, { enabled: false })).status).toBe(403);
      expect((await send(operator, "DELETE", `/keys/${target.id}`)).status).toBe(403);
    }
  });

  test("an operator does not create a team by naming it as the owner of a key", async () => {
    const name = `new-${crypto.randomUUID()}`;
    const operator = find("operator", null);
    const target = await createKey(null);
    for (const refused of [
      await send(operator, "POST", "/keys", { name: "x", owner: name }),
      await send(operator, "PATCH", `/keys/${target.id}`, { owner: name }),
    ])
      expect([refused.status, refused.json["error"]]).toMatchObject([403, { code: "insufficient_role" }]);
    expect((await send(find("administrator", null), "GET", `/teams/${name}`)).status).toBe(404);
    const moved = await send(operator, "PATCH", `/keys/${target.id}`, { owner: teams[1].name });
    expect([moved.status, moved.json["team"]]).toEqual([200, teams[1].name]);
    const made = await send(operator, "POST", "/keys", { name: "x", owner: teams[0].name });
    expect([made.status, made.json["team"]]).toEqual([201, teams[0].name]);
    const administrator = find("administrator", null);
    expect((await send(administrator, "POST", "/keys", { name: "x", owner: name })).json["team"]).toBe(name);
    expect((await send(operator, "GET", `/teams/${name}`)).status).toBe(200);
  });

  test("an administrator of a team creates management keys of that team only", async () => {
    const administrator = find("administrator", teams[0]);
    const made = await send(administrator, "POST", "/keys", { name: "mine", kind: "management", role: "viewer" });
    expect([made.status, made.json["team"], made.json["role"]]).toEqual([201, teams[0].name, "viewer"]);
    const id = String(made.json["id"]);
    for (const team of [null, teams[1].name, teams[1].id, "no-such-team"]) {
      expect((await send(administrator, "POST", "/keys", { name: "x", kind: "management", team })).status).toBe(422);
      expect((await send(administrator, "PATCH", `/keys/${id}`, { team })).status).toBe(422);
    }
    expect((await send(administrator, "PATCH", `/keys/${id}`, { owner: "a-new-team" })).status).toBe(422);
    expect((await send(administrator, "PATCH", `/teams/${teams[0].name}`, { budget: null })).status).toBe(403);
  });

  test("a role belongs to management keys, and an existing one is an administrator", async () => {
    const administrator = find("administrator", null);
    expect((await send(administrator, "POST", "/keys", { name: "x", role: "viewer" })).status).toBe(422);
    expect((await send(administrator, "PATCH", `/keys/${teams[0].keyId}`, { role: "viewer" })).status).toBe(422);
    expect((await send(administrator, "POST", "/keys", { name: "x", kind: "management", role: "owner" })).status).toBe(
      422,
    );
    const plain = await send(administrator, "POST", "/keys", { name: "x", kind: "management" });
    expect(plain.json["role"]).toBe("administrator");
  });
});

test("a role of a team lists the keys of that team only, in every state", async () => {
  const states = ["active", "expired", "revoked"] as const;
  for (const { name } of teams) {
    await createKey(name, { name: `expired of ${name}`, expires_at: new Date(Date.now() + 1_500).toISOString() });
    const { id } = await createKey(name, { name: `revoked of ${name}` });
    await gateway.manage("DELETE", `/keys/${id}`);
  }
  const list = async (key: string, query: string): Promise<string> => {
    const headers = { authorization: `Bearer ${key}` };
    return await (await fetch(`${gateway.url}/v3/manage/keys?limit=1000&${query}`, { headers })).text();
  };
  const [own, other] = teams;
  await waitFor("the keys to expire", async () => {
    const listed = await list(gateway.adminKey, "state=expired");
    return teams.every(({ name }) => listed.includes(`expired of ${name}`)) ? true : null;
  });
  for (const { key } of people.filter(({ team }) => team === own))
    for (const state of states) {
      const listed = await list(key, `state=${state}`);
      expect(listed.includes(`"${state === "active" ? "key" : state} of ${own.name}"`), state).toBe(true);
      expect(listed).not.toContain(other.name);
      expect(await list(key, `state=${state}&team=${other.name}`)).not.toContain(other.name);
      for (const another of states.filter((one) => one !== state && one !== "active"))
        expect(listed).not.toContain(`${another} of ${own.name}`);
    }
  const response = await fetch(`${gateway.url}/v3/manage/keys?state=gone`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  });
  expect(response.status).toBe(422);
});
