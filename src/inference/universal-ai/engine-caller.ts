import type { Caller } from "../../access/caller.ts";

/** Engines that call a model act for a caller that has been authorized already. */
export const engineCaller: Caller = {
  keyId: "engine",
  kind: "inference",
  name: "engine",
  owner: null,
  scopes: new Set(["chat"]),
  allowedModels: null,
  rateLimit: null,
  budget: null,
  team: null,
  rules: [],
  tags: {},
};
