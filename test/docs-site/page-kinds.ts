/** Paths below /docs: one page of each kind. */
export const pageOfEachKind = [
  "",
  "/start",
  "/providers",
  "/settings",
  "/api",
  "/api/chat",
  "/api/keys",
  "/api/objects",
  "/api/errors",
  "/decisions",
];
