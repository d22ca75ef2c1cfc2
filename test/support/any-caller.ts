import type { Caller } from "../../src/access/caller.ts";

/** A caller without limits, for parts that are tested without a server. */
export const anyCaller: Caller = {
  keyId: "test",
  kind: "inference",
  name: "test",
  owner: null,
  scopes: new Set(["universal"]),
  allowedModels: null,
  rateLimit: null,
  budget: null,
  team: null,
  role: null,
  rules: [],
  tags: {},
};
