// Texts that repeat one token up to a length. Repetition is what makes patterns and parsers slow that look ahead, look back or start again.

export interface HostileText {
  readonly name: string;
  /** A text of exactly so many UTF-16 units, or one less where a pair would be torn. */
  of(length: number): string;
}

const tokens: Readonly<Record<string, string>> = {
  a: "a",
  A: "A",
  "A.": "A.",
  "A. ": "A. ",
  "Aa ": "Aa ",
  "a ": "a ",
  "a-": "a-",
  "a'": "a'",
  "a.b": "a.b",
  "one. ": "One two. ",
  "http://": "http://",
  "www.": "www.",
  "a@": "a@",
  "@": "@",
  "#": "#",
  ".": ".",
  "..a": "..a",
  "-": "-",
  _: "_",
  "/": "/",
  "\\": "\\",
  "&": "&",
  "&amp;": "&amp;",
  $1: "$1",
  "=": "=",
  ":": ":",
  "::": "a:",
  ";": ";",
  "!?": "!?",
  space: " ",
  tab: "\t",
  newline: "\n",
  "carriage return and newline": "\r\n",
  "no-break space": "\u00a0",
  "a and spaces": `a${" ".repeat(200)}`,
  1: "1",
  "1 ": "1 ",
  "1,": "1,",
  "1.": "1.",
  "1-": "1-",
  "1/": "1/",
  "1:": "1:",
  "+1 ": "+1 ",
  "(": "(",
  "()": "()",
  "[": "[",
  "<": "<",
  "<a ": "<a ",
  "{": "{",
  '"': '"',
  "'": "'",
  "’": "’",
  "“": "“",
  emoji: "😀",
  "emoji joined": "👩\u200d🚀",
  flags: "🇩🇪",
  "keycap 1": "1\ufe0f\u20e3",
  "combining marks": "\u0301",
  "a with combining marks": `a${"\u0301".repeat(50)}`,
  Arabic: "سلام ",
  Hebrew: "א",
  "right-to-left override": "\u202ea",
  "zero-width space": "\u200b",
  "zero-width joiner": "a\u200d",
  "soft hyphen": "a\u00ad",
  Chinese: "漢",
  Thai: "กา",
  Hangul: "한 ",
  "lone surrogates": "\ud83d ",
  NUL: "\0",
  "long words": `${"b".repeat(4_000)} `,
  "capitalised words": "Ministry Of ",
  "announcing words": "account number is: ",
  passwords: "password is ",
  names: "Dr. Ann Lee, ",
  streets: "12 Old Mill ",
  dates: "born on 12 ",
  "phone numbers": "(020) 7946-0 ",
  "card numbers": "4111 1111 1111 ",
  IBAN: "GB82 WEST ",
  IPv6: "fe80:",
  IPv4: "10.0.",
  "misspelt words": "teh ",
  curses: "f u c k ",
  "quoted words": `"x" `,
  bullets: "\n- x",
};

export const hostileTexts: readonly HostileText[] = [
  ...Object.entries(tokens).map(([name, token]) => ({ name, of: (length: number) => repeat(token, length) })),
  // One long run that is not at the end: a pattern that trims the end of a text may look at the run again from each of its signs.
  ...[" ", ":", ".", ",", "_", "-", "|", "!", "(", "1", "’", "\n"].map((sign) => ({
    name: `a run of ${JSON.stringify(sign)} before a letter`,
    of: (length: number) => `Ann ${sign.repeat(Math.max(0, length - 5))}x`,
  })),
  // Every word is another one: nothing that was computed can be used again.
  { name: "distinct words", of: (length) => fill(length, (index) => `${toWord(index)} `) },
  { name: "distinct names", of: (length) => fill(length, (index) => `${toName(index)} ${toName(index + 7)}, `) },
  {
    name: "distinct sentences",
    of: (length) => fill(length, (index) => `The ${toWord(index)} eats ${toWord(index * 31)}. `),
  },
  // Nothing repeats, and nothing is a word.
  { name: "random ASCII", of: (length) => fill(length, createAscii()) },
];

function repeat(token: string, length: number): string {
  const text = token.repeat(Math.ceil(length / token.length)).slice(0, length);
  return text.isWellFormed() || !token.isWellFormed() ? text : text.slice(0, -1);
}

function fill(length: number, next: (index: number) => string): string {
  const parts: string[] = [];
  let size = 0;
  for (let index = 0; size < length; index++) {
    const part = next(index);
    parts.push(part);
    size += part.length;
  }
  return parts.join("").slice(0, length);
}

function toWord(index: number): string {
  let rest = index + 27;
  let word = "";
  for (; rest > 0; rest = Math.floor(rest / 26)) word += String.fromCharCode(97 + (rest % 26));
  return word;
}

function toName(index: number): string {
  const word = toWord(index);
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The same on every run. */
function createAscii(): () => string {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return String.fromCharCode(32 + ((state >>> 16) % 95));
  };
}
