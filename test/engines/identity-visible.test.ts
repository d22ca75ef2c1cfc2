// ocr/identity_parser on documents without a machine-readable zone, and on documents of two pages. All persons and numbers are invented.

import { describe, expect, test } from "bun:test";
import { identityParser } from "../../src/engines/local/documents/parsers.ts";
import { text, writePdf } from "../quality/ocr/write-pdf.ts";
import { italianZone } from "../support/identity-zones.ts";

type Paper = Readonly<Record<string, { readonly value: string | null; readonly confidence: number | null }>>;

async function readFile(bytes: Uint8Array, mediaType: string): Promise<Paper[]> {
  const run = await identityParser.load();
  const files = { file: { name: "page", mediaType, bytes } };
  const { output } = await run({ model: null, input: {}, files, onProgress: () => {} });
  return output["extracted_data"] as Paper[];
}

function read(lines: readonly string[]): Promise<Paper[]> {
  return readFile(Buffer.from(lines.join("\n")), "text/plain");
}

async function readOne(lines: readonly string[]): Promise<Paper> {
  const papers = await read(lines);
  expect(papers.length).toBe(1);
  return papers[0] as Paper;
}

describe("labels", () => {
  test("in several languages at once, above the values", async () => {
    const paper = await readOne([
      "BUNDESREPUBLIK DEUTSCHLAND",
      "PERSONALAUSWEIS / IDENTITY CARD",
      "Name/Surname/Nom                  Ausweisnummer",
      "AHLBORN                           L8K21PQ77",
      "Vornamen/Given names/Prénoms",
      "TINE SOPHIE",
      "Geburtstag/Date of birth          Staatsangehörigkeit/Nationality",
      "03.11.1990                        DEUTSCH",
      "Geburtsort/Place of birth         Gültig bis/Date of expiry",
      "FLENSBURG                         14.02.2032",
    ]);
    expect(paper).toMatchObject({
      last_name: { value: "AHLBORN", confidence: 0.5 },
      given_names: [{ value: "TINE" }, { value: "SOPHIE" }],
      document_id: { value: "L8K21PQ77" },
      birth_date: { value: "1990-11-03" },
      nationality: { value: "Germany" },
      birth_place: { value: "FLENSBURG" },
      expire_date: { value: "2032-02-14" },
      issuing_state: { value: "Germany" },
      document_type: { value: "identity card" },
      mrz: { value: null },
    });
  });

  test("beside the values, with a translation in a language that is not known", async () => {
    const paper = await readOne([
      "PAS / PASSPORT",
      "Sloinne / Surname:             NI BHRIAIN",
      "Given names / Ainmneacha:      AOIFE",
      "Date of birth:                 02 MAI/MAY 1988",
      "Passport No.:                  LT4402918",
      "Sex / Gnéas:                   F",
    ]);
    expect(paper).toMatchObject({
      last_name: { value: "NI BHRIAIN" },
      given_names: [{ value: "AOIFE" }],
      birth_date: { value: "1988-05-02" },
      document_id: { value: "LT4402918" },
      gender: { value: "F" },
      document_type: { value: "passport" },
    });
  });

  test("with the number of the field, with plurals in brackets, and with dates in two languages", async () => {
    const paper = await readOne([
      "BRITISH PASSPORT",
      "Surname(s)/Nom(s) (1)",
      "ASHWORTH",
      "Given name(s)/Prénom(s) (2)",
      "OLIVER JAMES",
      "Date of birth/Date de naissance (4)",
      "09 SEP /SEPT 85",
      "Sex/Sexe (5)   Place of birth/Lieu de naissance (6)",
      "M              HALIFAX",
      "Date of expiry/Date d'expiration (9)",
      "01.02.20 - 14.05.2030",
      "Passport No./Passeport No.  533000419",
    ]);
    expect(paper).toMatchObject({
      last_name: { value: "ASHWORTH" },
      given_names: [{ value: "OLIVER" }, { value: "JAMES" }],
      birth_date: { value: "1985-09-09" },
      gender: { value: "M" },
      birth_place: { value: "HALIFAX" },
      // The end of a period.
      expire_date: { value: "2030-05-14" },
      document_id: { value: "533000419" },
    });
  });

  test("of the whole name, with a comma after the surname", async () => {
    const paper = await readOne([
      "DRIVER'S LICENCE",
      "1,2 NAME/NOM",
      "NGUYEN,",
      "LINH THI",
      "3 DOB 1996/01/01",
      "4d NUMBER N3456-12345",
    ]);
    expect(paper).toMatchObject({ last_name: { value: "NGUYEN" }, given_names: [{ value: "LINH" }, { value: "THI" }] });
  });

  test.each([
    "Surname / Name: GIRAUD LUCIE",
    "Surname and given names: GIRAUD LUCIE",
    "Nom et prénom : GIRAUD LUCIE",
    "Apellidos y nombres: GIRAUD LUCIE",
    "Name, Vorname: GIRAUD, LUCIE",
    "Cognome e nome: GIRAUD LUCIE",
    "Családi és utónév / Family name and given name: GIRAUD LUCIE",
    "氏名: GIRAUD LUCIE",
    "Full name: LUCIE GIRAUD",
  ])("of a full name state its order: %s", async (line) => {
    const paper = await readOne(["IDENTITY CARD", line, "Date of birth: 13.07.1973", "Card number: 880692310285"]);
    expect(paper).toMatchObject({ last_name: { value: "GIRAUD" }, given_names: [{ value: "LUCIE" }] });
  });

  test("match whole words only", async () => {
    const paper = await readOne([
      "IDENTITY CARD",
      "Nomination committee   of the sexton",
      "Surname  ROURKE",
      "Given names  DAN",
      "Date of birth  04.05.1971",
      "Card number  77120941",
    ]);
    expect(paper).toMatchObject({ last_name: { value: "ROURKE" }, gender: { value: null } });
  });

  test.each([
    [
      "fr",
      [
        "Nom : GIRAUD",
        "Prénoms : LUCIE",
        "Né(e) le : 13.07.1973 à TOURS",
        "Carte nationale d'identité N° : 880692310285",
      ],
    ],
    [
      "es",
      [
        "Apellidos: GIRAUD",
        "Nombre: LUCIE",
        "Fecha de nacimiento: 13/07/1973",
        "Documento nacional de identidad",
        "Número de documento: 880692310285",
      ],
    ],
    ["it", ["Cognome: GIRAUD", "Nome: LUCIE", "Data di nascita: 13.07.1973", "Carta d'identità n. 880692310285"]],
    [
      "pt",
      [
        "Apelidos: GIRAUD",
        "Nomes: LUCIE",
        "Data de nascimento: 13-07-1973",
        "Cartão de cidadão",
        "Nº documento: 880692310285",
      ],
    ],
    [
      "nl",
      [
        "Naam: GIRAUD",
        "Voornamen: LUCIE",
        "Geboortedatum: 13 jul 1973",
        "Identiteitskaart",
        "Documentnummer: 880692310285",
      ],
    ],
    [
      "pl",
      [
        "Nazwisko: GIRAUD",
        "Imiona: LUCIE",
        "Data urodzenia: 13.07.1973",
        "Dowód osobisty",
        "Numer dokumentu: 880692310285",
      ],
    ],
    [
      "sv",
      [
        "Efternamn: GIRAUD",
        "Förnamn: LUCIE",
        "Födelsedatum: 1973-07-13",
        "Nationellt identitetskort",
        "Kortnummer: 880692310285",
      ],
    ],
    [
      "cs",
      [
        "Příjmení: GIRAUD",
        "Jméno: LUCIE",
        "Datum narození: 13. 07. 1973",
        "Občanský průkaz",
        "Číslo dokladu: 880692310285",
      ],
    ],
  ])("in the language %s", async (_language, lines) => {
    expect(await readOne(lines)).toMatchObject({
      last_name: { value: "GIRAUD" },
      given_names: [{ value: "LUCIE" }],
      birth_date: { value: "1973-07-13" },
      document_id: { value: "880692310285" },
      document_type: { value: "identity card" },
    });
  });
});

describe("dates", () => {
  const card = (date: string, ...others: string[]) => [
    "IDENTITY CARD",
    "Surname: ODELL",
    "Given names: KIM",
    "Card number: 5520194",
    `Date of birth: ${date}`,
    ...others,
  ];

  test.each([
    ["12.08.1964", "1964-08-12"],
    ["12 08 1964", "1964-08-12"],
    ["1964-08-12", "1964-08-12"],
    ["12 AUG 1964", "1964-08-12"],
    ["12 AUG/AOÛT 64", "1964-08-12"],
    ["12 JAN/JANV 90", "1990-01-12"],
    ["12 August 1964", "1964-08-12"],
    ["AUG 12, 1964", "1964-08-12"],
    ["12AUG1964", "1964-08-12"],
    ["25/08/1964", "1964-08-25"],
    ["08/25/1964", "1964-08-25"],
    ["31.02.1964", null],
    // The month and the day cannot be told apart.
    ["03/04/1964", null],
  ])("%s", async (printed, expected) => {
    expect((await readOne(card(printed)))["birth_date"]?.value ?? null).toBe(expected);
  });

  test("another date of the document tells the order of month and day", async () => {
    const dayFirst = await readOne(card("03/04/1964", "Date of issue: 25/01/2020"));
    expect(dayFirst["birth_date"]?.value).toBe("1964-04-03");
    const monthFirst = await readOne(card("03/04/1964", "Date of issue: 01/25/2020"));
    expect(monthFirst["birth_date"]?.value).toBe("1964-03-04");
  });

  test("a document does not expire before the birth", async () => {
    expect((await readOne(card("12.08.1964", "Date of expiry: 01.01.1950")))["expire_date"]?.value).toBeNull();
  });
});

describe("driving licences", () => {
  test("the numbered fields of the European Union", async () => {
    const paper = await readOne([
      "PERMIS DE CONDUIRE    RÉPUBLIQUE FRANÇAISE",
      "1. MARCHAND",
      "2. ÉLISE",
      "3. 09.03.1986 LILLE",
      "4a. 17.06.2019   4c. Préfet du Nord",
      "4b. 16.06.2034",
      "5. 19AB40217",
      "9. AM/B",
    ]);
    expect(paper).toMatchObject({
      last_name: { value: "MARCHAND" },
      given_names: [{ value: "ÉLISE" }],
      birth_date: { value: "1986-03-09" },
      birth_place: { value: "LILLE" },
      issuance_date: { value: "2019-06-17" },
      expire_date: { value: "2034-06-16" },
      document_id: { value: "19AB40217" },
      document_type: { value: "driving licence" },
      issuing_state: { value: "France" },
    });
  });

  test("the labels of the United States, where the month comes first", async () => {
    const paper = await readOne([
      "OREGON      DRIVER LICENSE",
      "4d DLN 4417720",
      "3 DOB 03/04/1979",
      "4a ISS 05/06/2021      4b EXP 03/04/2029",
      "1 QUIMBY",
      "2 HARRIET JO",
      "8 118 ALDER STREET",
      "SALEM, OR 97301",
      "15 SEX F     16 HGT 5'-06\"",
    ]);
    expect(paper).toMatchObject({
      last_name: { value: "QUIMBY" },
      given_names: [{ value: "HARRIET" }, { value: "JO" }],
      birth_date: { value: "1979-03-04" },
      issuance_date: { value: "2021-05-06" },
      expire_date: { value: "2029-03-04" },
      document_id: { value: "4417720" },
      gender: { value: "F" },
      address: { value: "118 ALDER STREET, SALEM, OR 97301" },
      country: { alpha2: "US" },
    });
  });
});

describe("pages", () => {
  const front = [
    text(20, 30, "CARTA DI IDENTITÀ / IDENTITY CARD"),
    text(20, 60, "COGNOME / SURNAME"),
    text(20, 74, "BRANDT"),
    text(20, 94, "NOME / NAME"),
    text(20, 108, "JONAS"),
    text(20, 128, "LUOGO DI NASCITA / PLACE OF BIRTH"),
    text(20, 142, "LECCO"),
  ];
  const back = italianZone.map((line, index) => text(12, 60 + index * 17, line, { font: "mono" }));
  const page = { width: 300, height: 200 };

  test("the two sides of a card are one document", async () => {
    const papers = await readFile(
      writePdf([
        { ...page, marks: front },
        { ...page, marks: back },
      ]),
      "application/pdf",
    );
    expect(papers).toMatchObject([
      { last_name: { value: "BRANDT" }, birth_place: { value: "LECCO" }, birth_date: { value: "1977-09-12" } },
    ]);
  });

  test("the cards of two persons are two documents", async () => {
    const other = front.map((mark) => (mark.text === "BRANDT" ? { ...mark, text: "KELLER" } : mark));
    const more = [
      ...other,
      text(20, 160, "N. DOCUMENTO / DOCUMENT NO  CA77777XX"),
      text(20, 180, "DATA DI NASCITA 01.02.1980"),
    ];
    const papers = await readFile(
      writePdf([
        { ...page, marks: more },
        { ...page, marks: back },
      ]),
      "application/pdf",
    );
    expect(papers.map((paper) => paper["last_name"]?.value)).toEqual(["KELLER", "BRANDT"]);
  });

  test.each([
    ["a letter", ["Dear Ms Smith,", "Name: the committee", "we met on 4 May 2020 and issued the minutes."]],
    ["a receipt paid by card", ["VISA  **** 4417", "Total 12.50", "No. 10233", "Date 03.04.2026"]],
    [
      "an invoice",
      ["Invoice No: 2026-118", "Date of issue: 04.05.2026", "Customer number: 77120", "Address: 4 Mill Lane"],
    ],
  ])("%s is no identity document", async (_, lines) => {
    expect(await read(lines)).toEqual([]);
  });
});
