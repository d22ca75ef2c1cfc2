// The formats of machine-readable zones as data: those of ICAO 9303, and two that France uses.

export type ZoneField =
  | "documentCode"
  | "issuingState"
  | "documentNumber"
  | "optional"
  | "personalNumber"
  | "nationality"
  | "birthDate"
  | "sex"
  | "expiryDate"
  | "names"
  | "lastName"
  | "givenNames";

/** A part of a line. The end is exclusive. */
export interface Span {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

export interface ZoneFormat {
  readonly name: string;
  readonly length: number;
  readonly lineCount: number;
  readonly code: RegExp;
  readonly spans: Readonly<Partial<Record<ZoneField, Span>>>;
  /** A check digit follows each of these fields. */
  readonly checked: readonly ZoneField[];
  /** The characters that the last check digit of the zone covers. */
  readonly composite: { readonly digit: Span; readonly over: readonly Span[] } | null;
  /** Only fill characters follow the content of this line, so the number of them does not matter. */
  readonly openLine: number | null;
}

const at = (line: number, start: number, end: number): Span => ({ line, start, end });

/** The two lines that passports, visas and older cards have in common. */
const twoLines = (length: number) => ({ length, lineCount: 2, spans: twoLineSpans(length), openLine: 0 });
const twoLineSpans = (length: number) => ({
  documentCode: at(0, 0, 2),
  issuingState: at(0, 2, 5),
  names: at(0, 5, length),
  documentNumber: at(1, 0, 9),
  nationality: at(1, 10, 13),
  birthDate: at(1, 13, 19),
  sex: at(1, 20, 21),
  expiryDate: at(1, 21, 27),
});
const threeChecks = ["documentNumber", "birthDate", "expiryDate"] as const;

export const zoneFormats: readonly ZoneFormat[] = [
  {
    name: "TD3",
    ...twoLines(44),
    code: /^P/,
    spans: { ...twoLineSpans(44), personalNumber: at(1, 28, 42) },
    checked: [...threeChecks, "personalNumber"],
    composite: { digit: at(1, 43, 44), over: [at(1, 0, 10), at(1, 13, 20), at(1, 21, 43)] },
  },
  {
    name: "TD2",
    ...twoLines(36),
    code: /^[IACP]/,
    spans: { ...twoLineSpans(36), optional: at(1, 28, 35) },
    checked: threeChecks,
    composite: { digit: at(1, 35, 36), over: [at(1, 0, 10), at(1, 13, 20), at(1, 21, 35)] },
  },
  {
    name: "TD1",
    length: 30,
    lineCount: 3,
    code: /^[IAC]/,
    spans: {
      documentCode: at(0, 0, 2),
      issuingState: at(0, 2, 5),
      documentNumber: at(0, 5, 14),
      optional: at(0, 15, 30),
      birthDate: at(1, 0, 6),
      sex: at(1, 7, 8),
      expiryDate: at(1, 8, 14),
      nationality: at(1, 15, 18),
      names: at(2, 0, 30),
    },
    checked: threeChecks,
    composite: { digit: at(1, 29, 30), over: [at(0, 5, 30), at(1, 0, 7), at(1, 8, 15), at(1, 18, 29)] },
    openLine: 2,
  },
  {
    name: "MRV-A",
    ...twoLines(44),
    code: /^V/,
    checked: threeChecks,
    composite: null,
  },
  {
    name: "MRV-B",
    ...twoLines(36),
    code: /^V/,
    checked: threeChecks,
    composite: null,
  },
  {
    // The French identity card of 1988 to 2021. Its zone contains no date of expiry.
    name: "French identity card",
    length: 36,
    lineCount: 2,
    code: /^ID/,
    spans: {
      documentCode: at(0, 0, 2),
      issuingState: at(0, 2, 5),
      lastName: at(0, 5, 30),
      documentNumber: at(1, 0, 12),
      givenNames: at(1, 13, 27),
      birthDate: at(1, 27, 33),
      sex: at(1, 34, 35),
    },
    checked: ["documentNumber", "birthDate"],
    composite: { digit: at(1, 35, 36), over: [at(0, 0, 36), at(1, 0, 35)] },
    openLine: null,
  },
];
