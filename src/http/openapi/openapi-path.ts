/** `{id...}` matches the rest of a path, which OpenAPI cannot express; the parameter's description says it. */
export function toOpenApiPath(path: string): string {
  return path.replace("...}", "}");
}
