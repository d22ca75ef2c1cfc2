// ocr/identity_parser on machine-readable zones. All persons and numbers are invented, with correct check digits unless a test says otherwise.

import { describe, expect, test } from "bun:test";
import { identityParser } from "../../src/engines/local/documents/parsers.ts";

interface Value {
  readonly value: string | null;
  readonly confidence: number | null;
}
type Paper = Readonly<Record<string, Value>> & { readonly given_names: readonly Value[] };
interface Answer {
  readonly papers: readonly Paper[];
  readonly zones: readonly ({
    readonly format: string;
    readonly check_digits: Readonly<Record<string, string>>;
  } | null)[];
}

async function read(lines: readonly string[]): Promise<Answer> {
  const run = await identityParser.load();
  const file = { name: "page.txt", mediaType: "text/plain", bytes: Buffer.from(lines.join("\n")) };
  const { output, original } = await run({ model: null, input: {}, files: { file }, onProgress: () => {} });
  const { documents } = original as { documents: { zone: Answer["zones"][number] }[] };
  return { papers: output["extracted_data"] as Paper[], zones: documents.map(({ zone }) => zone) };
}

async function readOne(lines: readonly string[]): Promise<Paper> {
  const { papers } = await read(lines);
  expect(papers.length).toBe(1);
  return papers[0] as Paper;
}

/** The check digit of ICAO 9303. */
function digit(text: string): string {
  const values = [...text].map((character) => (character === "<" ? 0 : Number.parseInt(character, 36)));
  return String(values.reduce((sum, value, index) => sum + value * ([7, 3, 1][index % 3] ?? 0), 0) % 10);
}
const checked = (text: string) => text + digit(text);
const fill = (text: string, length: number) => text.padEnd(length, "<");

function passport(number: string, personal = ""): string[] {
  const [numbered, birth, expiry] = [checked(fill(number, 9)), checked("820417"), checked("310902")];
  const own = personal === "" ? "<".repeat(15) : checked(fill(personal, 14));
  const composite = digit(numbered + birth + expiry + own);
  return [fill("P<SWELINDSTROM<<ANNA<KARIN", 44), `${numbered}SWE${birth}F${expiry}${own}${composite}`];
}

function card(number: string): string[] {
  const [numbered, birth, expiry] = [checked(fill(number, 9)), checked("050630"), checked("290101")];
  const upper = fill(`I<PRT${numbered}`, 30);
  const composite = digit(`${upper.slice(5)}${birth}${expiry}${"<".repeat(11)}`);
  return [upper, `${fill(`${birth}M${expiry}PRT`, 29)}${composite}`, fill("DA<SILVA<MOTA<<RUI<PEDRO", 30)];
}

const person = { last: "LINDSTROM", given: ["ANNA", "KARIN"] };

describe("every format", () => {
  const numbered = checked(fill("K4418220", 9));
  const [birth, expiry] = [checked("910223"), checked("280815")];
  const body = `${numbered}CZE${birth}M${expiry}`;
  const french = [
    "IDFRABERTHIER<<<<<<<<<<<<<<<<<692042",
    `${checked("160969201234")}${fill("CLAIRE<<JEANNE", 14)}${checked("850704")}F`,
  ];

  test("TD3, a passport", async () => {
    const paper = await readOne(["PASSPORT", ...passport("AB1234567", "8204171234")]);
    expect(paper).toMatchObject({
      last_name: { value: person.last },
      given_names: person.given.map((value) => ({ value })),
      birth_date: { value: "1982-04-17", confidence: 0.99 },
      expire_date: { value: "2031-09-02", confidence: 0.99 },
      document_id: { value: "AB1234567", confidence: 0.99 },
      gender: { value: "F" },
      nationality: { value: "Sweden" },
      issuing_state: { value: "Sweden" },
      country: { alpha2: "SE", alpha3: "SWE" },
      document_type: { value: "passport" },
      mrz: { value: passport("AB1234567", "8204171234").join("\n"), confidence: 1 },
    });
  });

  test("TD1, a card, with a surname of several parts", async () => {
    expect(await readOne(card("998877665"))).toMatchObject({
      last_name: { value: "DA SILVA MOTA" },
      given_names: [{ value: "RUI" }, { value: "PEDRO" }],
      birth_date: { value: "2005-06-30" },
      expire_date: { value: "2029-01-01" },
      document_id: { value: "998877665" },
      nationality: { value: "Portugal" },
      document_type: { value: "identity card" },
    });
  });

  test("TD1 with a number of more than nine characters", async () => {
    const start = "592184037";
    const upper = fill(`IDBEL${start}<712${digit(`${start}<712`)}`, 30);
    const lower = `${checked("880229")}F${checked("301010")}BEL${"<".repeat(11)}`;
    const composite = digit(`${upper.slice(5)}${lower.slice(0, 7)}${lower.slice(8, 15)}${lower.slice(18)}`);
    const paper = await readOne([upper, lower + composite, fill("LAMBERT<<ELODIE", 30)]);
    expect(paper["document_id"]).toEqual({ value: "592184037712", confidence: 0.99 });
  });

  test("TD2, an older card", async () => {
    const composite = digit(`${numbered}${birth}${expiry}${"<".repeat(7)}`);
    const lines = [fill("I<CZENOVAK<<JIRI", 36), `${fill(body, 35)}${composite}`];
    const { papers, zones } = await read(lines);
    expect(zones[0]?.format).toBe("TD2");
    expect(papers[0]).toMatchObject({ last_name: { value: "NOVAK" }, document_id: { value: "K4418220" } });
  });

  test.each([
    ["MRV-A", 44],
    ["MRV-B", 36],
  ] as const)("%s, a visa, which has no composite check digit", async (format, length) => {
    const { papers, zones } = await read([fill("V<CZENOVAK<<JIRI", length), fill(body, length)]);
    expect(zones[0]).toMatchObject({
      format,
      check_digits: { documentNumber: "right", birthDate: "right", expiryDate: "right" },
    });
    expect(papers[0]).toMatchObject({
      document_type: { value: "visa" },
      birth_date: { value: "1991-02-23" },
      mrz: { confidence: 1 },
    });
  });

  test("the French identity card with two lines of 36 characters", async () => {
    const [first = "", second = ""] = french;
    const { papers, zones } = await read([first, second + digit(first + second)]);
    expect(zones[0]?.format).toBe("French identity card");
    expect(papers[0]).toMatchObject({
      last_name: { value: "BERTHIER" },
      given_names: [{ value: "CLAIRE" }, { value: "JEANNE" }],
      birth_date: { value: "1985-07-04" },
      document_id: { value: "160969201234" },
      gender: { value: "F" },
      nationality: { value: "France" },
      expire_date: { value: null },
    });
  });
});

describe("fill characters", () => {
  const expected = {
    last_name: { value: person.last },
    given_names: person.given.map((value) => ({ value })),
    birth_date: { value: "1982-04-17" },
    expire_date: { value: "2031-09-02" },
    document_id: { value: "X12345" },
  };
  const [names = "", data = ""] = passport("X12345");

  test.each([
    ["lost at the end of the names", [names.replace(/<+$/, ""), data]],
    ["surplus after the names", [`${names}<<<<<`, data]],
    ["lost before the last check digit", [names, data.replace("<".repeat(15), "<".repeat(9))]],
    ["all lost before the last check digit", [names, data.replace("<".repeat(15), "")]],
    ["surplus before the last check digit", [names, data.replace("<".repeat(15), "<".repeat(19))]],
    ["lost in a short number", [names, data.replace("X12345<<<", "X12345<")]],
    ["lost after the document code", [names.replace("P<", "P"), data]],
    [
      "read as K, L and C",
      [`${names.replace(/<+$/, "")}<<KKLC<<<KK<`, data.replace("<".repeat(15), "<<<<K<<<<C<<<<<")],
    ],
    ["read as letters after single fill characters", [`${names.replace(/<+$/, "")}<K<<<<<KKLKIL<`, data]],
    ["read as letters in front of the last check digit", [names, data.replace("<".repeat(15), "<<<<<<<<<<<<L<L")]],
    ["read as quotation marks", [names.replace("<<ANNA", "«ANNA"), data]],
    ["separated by spaces", [names.replaceAll("<<", " < < "), data]],
  ] as const)("%s", async (_, lines) => {
    const paper = await readOne(lines);
    expect(paper).toMatchObject(expected);
    expect(paper["mrz"]?.value).toBe([names, data].join("\n"));
  });

  test("the fill of a country code with one letter is restored", async () => {
    const numbered = checked("C01X0006H");
    const data = `${numbered}D<<${checked("640812")}F${checked("301031")}${"<".repeat(15)}`;
    const composite = digit(`${numbered}${checked("640812")}${checked("301031")}${"<".repeat(15)}`);
    for (const start of ["P<D<<", "P<D", "P<D<<<<"]) {
      const paper = await readOne([fill(`${start}KELLER<<ILSE`, 44), data + composite]);
      expect(paper).toMatchObject({ last_name: { value: "KELLER" }, nationality: { value: "Germany" } });
    }
  });
});

describe("confused characters", () => {
  const [names = "", data = ""] = passport("AB1034567");

  test.each([
    ["O for 0 in the number", data.replace("AB1034567", "AB1O34567")],
    ["I for 1 in the number", data.replace("AB1034567", "ABI034567")],
    ["8 for B in the number", data.replace("AB1034567", "A81034567")],
    ["O for 0 and I for 1 in the number", data.replace("AB1034567", "ABIO34567")],
    ["S for 5 in the number", data.replace("AB1034567", "AB1034S67")],
    ["O, I and B in the dates", data.replace("820417", "B2O4I7")],
    ["Z for 2 in the date of expiry", data.replace("310902", "3109OZ")],
    ["0 for O in the names", data],
  ])("%s are repaired where the check digit then is right", async (title, line) => {
    const paper = await readOne([title.includes("names") ? names.replace("LINDSTROM", "LINDSTR0M") : names, line]);
    expect(paper).toMatchObject({
      last_name: { value: person.last },
      document_id: { value: "AB1034567" },
      birth_date: { value: "1982-04-17" },
      expire_date: { value: "2031-09-02" },
    });
    expect(paper["document_id"]?.confidence).toBeGreaterThanOrEqual(0.9);
  });
});

describe("what the zone itself corrects", () => {
  const [names = "", data = ""] = passport("AB1034567");

  test("a country code that does not exist is corrected by the other one", async () => {
    expect(await readOne([names, data.replace("SWE", "SVE")])).toMatchObject({ nationality: { value: "Sweden" } });
    expect(await readOne([names.replace("SWE", "SVE"), data])).toMatchObject({ issuing_state: { value: "Sweden" } });
  });

  test("a last check digit that was read as a letter is computed", async () => {
    expect((await readOne([names, `${data.slice(0, 43)}H`]))["mrz"]?.value).toBe([names, data].join("\n"));
  });
});

describe("wrong check digits", () => {
  const [names = "", data = ""] = passport("AB1034567");
  const wrongNumber = data.replace("AB1034567", "AB1034967");
  const wrongBirth = data.replace("820417", "820914");

  test("a number with a wrong check digit is null, and the check is reported", async () => {
    const { papers, zones } = await read([names, wrongNumber]);
    expect(papers[0]?.["document_id"]).toEqual({ value: null, confidence: null });
    expect(papers[0]?.["birth_date"]?.value).toBe("1982-04-17");
    expect(zones[0]?.check_digits).toMatchObject({ documentNumber: "wrong", birthDate: "right", composite: "wrong" });
    expect(papers[0]?.["mrz"]?.confidence).toBeLessThan(0.7);
  });

  test("a date with a wrong check digit is null", async () => {
    const paper = await readOne([names, wrongBirth]);
    expect(paper["birth_date"]?.value).toBeNull();
    expect(paper["age"]?.value).toBeNull();
  });

  test("the visible zone replaces a value whose check digit is wrong, with a low confidence", async () => {
    const paper = await readOne(["Passport No. / Pass nr   AB1034567", "", names, wrongNumber]);
    expect(paper["document_id"]?.value).toBe("AB1034567");
    expect(paper["document_id"]?.confidence).toBeLessThan(0.5);
  });

  test("lines of ordinary capitals are no zone", async () => {
    const { papers } = await read([
      "PLEASE NOTE THE FOLLOWING TERMS AND CONDITIONS",
      "INVOICE 820417 310902 TOTAL 1034567 SWE 820417",
    ]);
    expect(papers).toEqual([]);
  });
});

describe("years with two digits", () => {
  const at = (birth: string, expiry: string) => {
    const [numbered, born, expires] = [checked("AB1034567"), checked(birth), checked(expiry)];
    const own = "<".repeat(15);
    return [
      fill("P<SWELINDSTROM<<ANNA", 44),
      `${numbered}SWE${born}F${expires}${own}${digit(numbered + born + expires + own)}`,
    ];
  };

  test("a birth is in the past, and an expiry near", async () => {
    expect(await readOne(at("990101", "350101"))).toMatchObject({
      birth_date: { value: "1999-01-01" },
      expire_date: { value: "2035-01-01" },
    });
    const nextYear = new Date().getUTCFullYear() + 1;
    const paper = await readOne(at(`${nextYear % 100}0101`, "350101"));
    expect(paper["birth_date"]?.value).toBe(`${nextYear - 100}-01-01`);
  });

  test("an unknown day of birth is null", async () => {
    const paper = await readOne(at("99<<<<", "350101"));
    expect(paper["birth_date"]?.value).toBeNull();
    expect(paper["last_name"]?.value).toBe(person.last);
  });
});
