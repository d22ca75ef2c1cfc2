// `<provider>/<model>`, split at the first slash: the model itself may contain slashes, colons and dots.

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

export function splitModelName(name: string): ModelName {
  const slash = name.indexOf("/");
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

/** Whether a name matches one of the patterns of a key, such as `openai/*`. */
export function fitsPattern(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (!pattern.includes("*")) return pattern === name;
    return new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`).test(name);
  });
}
