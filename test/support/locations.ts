// Where a problem of a request is, as answers of status 422 say it.

/** `allowed_models.1` is `["body", "allowed_models", 1]`. */
export function inBody(path: string): (string | number)[] {
  return ["body", ...path.split(".").map((name) => (/^\d+$/.test(name) ? Number(name) : name))];
}
