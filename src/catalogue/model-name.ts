// `<provider>/<model>`, split at the first slash: the model itself may contain slashes, colons and dots.

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

export function splitModelName(name: string): ModelName {
  const slash = name.indexOf("/");
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}
