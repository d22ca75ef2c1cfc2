// Which content codings a client accepts: RFC 9110, section 12.5.3.

/** A client that does not send the header receives content as it is. */
export function acceptsEncoding(header: string | null, coding: string): boolean {
  let isAccepted = false;
  for (const part of (header ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    // The coding itself takes precedence over `*`, wherever it is in the list.
    if (name === coding) return !isRefused;
    if (name === "*") isAccepted = !isRefused;
  }
  return isAccepted;
}
