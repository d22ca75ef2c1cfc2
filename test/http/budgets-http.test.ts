// What keys and teams have spent of their budgets.

import { expect, test } from "bun:test";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();

interface Budgets {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
}

async function read(query = ""): Promise<Budgets> {
  return (await gateway.manage("GET", `/budgets${query}`)) as Budgets;
}

test("budgets of keys and teams are listed with what is spent of them", async () => {
  const create = async (path: string, body: object) =>
    (await gateway.manage("POST", `/${path}`, body)) as { id: string };
  const team = await create("teams", { name: "readers", budget: { amount: 50, period: "monthly" } });
  const key = await create("keys", {
    name: "reader",
    team: "readers",
    model_limits: [{ model: "mock/*", budget: { amount: 5, period: "daily", time_zone: "Europe/Berlin" } }],
  });
  await create("keys", { name: "without a budget" });
  const revoked = await create("keys", { name: "revoked", budget: { amount: 1 } });
  await gateway.manage("DELETE", `/keys/${revoked.id}`);
  const spendsNothing = await create("keys", { name: "spends nothing", budget: { amount: 0 } });

  const { items, total } = await read();
  expect(total).toBe(3);
  // A budget of 0 is used up.
  expect(items[0]).toMatchObject({ holder: "key", id: spendsNothing.id, amount: 0, left: 0, resets_at: null });
  expect(items).toContainEqual(
    expect.objectContaining({
      holder: "key",
      id: key.id,
      team: "readers",
      model: "mock/*",
      amount: 5,
      spent: 0,
      left: 5,
    }),
  );
  expect(items).toContainEqual(
    expect.objectContaining({ holder: "team", id: team.id, name: "readers", team: "readers", model: null, amount: 50 }),
  );
  expect((await read("?holder=team")).items.map(({ id }) => id)).toEqual([team.id]);
  expect(await read("?limit=1")).toMatchObject({ items: [{ id: spendsNothing.id }], total: 3 });
});
