// Finds the offset at which a text stops being valid JSON, for error messages. JSON.parse of this engine does not report it.

const token =
  /[ \t\n\r]*(?:(?<mark>[{}[\]:,])|(?<text>"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?<word>(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])))/y;

type State = "value" | "value-or-end" | "name" | "name-or-end" | "colon" | "comma-or-end" | "end";

/** The character offset of the first token that cannot follow. The length of the text when it ends too early. */
export function findJsonError(text: string): number {
  const open: string[] = [];
  let state: State = "value";
  let offset = 0;
  const afterValue = (): State => (open.length === 0 ? "end" : "comma-or-end");
  for (;;) {
    token.lastIndex = offset;
    const match = token.exec(text);
    if (match === null) break;
    const { mark, text: string } = match.groups ?? {};
    const next = step(mark, string !== undefined);
    if (next === null) break;
    state = next;
    offset = token.lastIndex;
  }
  return offset + (/^[ \t\n\r]*/.exec(text.slice(offset, offset + 1_024))?.[0].length ?? 0);

  function step(mark: string | undefined, isString: boolean): State | null {
    if (mark === "}" || mark === "]") {
      const opening = mark === "}" ? "{" : "[";
      const mayEnd = state === "comma-or-end" || state === (mark === "}" ? "name-or-end" : "value-or-end");
      return mayEnd && open.pop() === opening ? afterValue() : null;
    }
    switch (state) {
      case "value":
      case "value-or-end":
        if (mark === "{" || mark === "[") {
          open.push(mark);
          return mark === "{" ? "name-or-end" : "value-or-end";
        }
        return mark === undefined ? afterValue() : null;
      case "name":
      case "name-or-end":
        return isString ? "colon" : null;
      case "colon":
        return mark === ":" ? "value" : null;
      case "comma-or-end":
        if (mark !== ",") return null;
        return open.at(-1) === "{" ? "name" : "value";
      case "end":
        return null;
    }
  }
}
