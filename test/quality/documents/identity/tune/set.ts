// The tune split of identity documents. All people and numbers are invented; check digits are right.

import type { LabelledDocument, Value } from "../../labelled-document.ts";
import { Sheet } from "../../sheet.ts";
import { countryOf, type Holder, makeHolder, makePapers, type Papers, readFacts, toZoneDocument } from "../mrz.ts";

const bold = { font: "bold" } as const;

interface Labels {
  readonly title: string;
  readonly lastName: string;
  readonly givenNames: string;
  readonly nationality: string;
  readonly birth: string;
  readonly birthPlace: string;
  readonly sex: string;
  readonly number: string;
  readonly issued: string;
  readonly expires: string;
}

const englishFrench: Labels = {
  title: "PASSPORT / PASSEPORT",
  lastName: "Surname / Nom",
  givenNames: "Given names / Prénoms",
  nationality: "Nationality / Nationalité",
  birth: "Date of birth / Date de naissance",
  birthPlace: "Place of birth / Lieu de naissance",
  sex: "Sex / Sexe",
  number: "Passport No. / Passeport n°",
  issued: "Date of issue / Date de délivrance",
  expires: "Date of expiry / Date d'expiration",
};
const german: Labels = {
  title: "REISEPASS PASSPORT PASSEPORT",
  lastName: "1. Name / Surname / Nom",
  givenNames: "2. Vornamen / Given names / Prénoms",
  nationality: "4. Staatsangehörigkeit / Nationality / Nationalité",
  birth: "3. Geburtsdatum / Date of birth",
  birthPlace: "6. Geburtsort / Place of birth",
  sex: "5. Geschlecht / Sex",
  number: "Pass-Nr. / Passport No.",
  issued: "7. Ausstellungsdatum / Date of issue",
  expires: "8. Gültig bis / Date of expiry",
};
const spanish: Labels = {
  title: "PASAPORTE PASSPORT",
  lastName: "Apellidos / Surname",
  givenNames: "Nombre / Given names",
  nationality: "Nacionalidad / Nationality",
  birth: "Fecha de nacimiento / Date of birth",
  birthPlace: "Lugar de nacimiento / Place of birth",
  sex: "Sexo / Sex",
  number: "Pasaporte Nº / Passport No.",
  issued: "Fecha de expedición / Date of issue",
  expires: "Fecha de caducidad / Date of expiry",
};
const polish: Labels = {
  title: "PASZPORT PASSPORT",
  lastName: "Nazwisko / Surname",
  givenNames: "Imiona / Given names",
  nationality: "Obywatelstwo / Nationality",
  birth: "Data urodzenia / Date of birth",
  birthPlace: "Miejsce urodzenia / Place of birth",
  sex: "Płeć / Sex",
  number: "Nr paszportu / Passport No.",
  issued: "Data wydania / Date of issue",
  expires: "Data ważności / Date of expiry",
};

const months = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");

function dated(date: string, style: "dots" | "words" | "spaces" | "dashes"): string {
  const [year = "", month = "", day = ""] = date.split("-");
  if (style === "dots") return `${day}.${month}.${year}`;
  if (style === "spaces") return `${day} ${month} ${year}`;
  if (style === "dashes") return `${day}-${month}-${year}`;
  return `${day} ${months[Number(month) - 1]} ${year}`;
}

/** The data page: photograph on the left, labels above their values, the zone below. */
function passport(
  name: string,
  language: string,
  labels: Labels,
  dates: "dots" | "words" | "spaces" | "dashes",
  holder: Holder,
  papers: Papers,
) {
  const sheet = new Sheet({ width: 354, height: 249, size: 9 });
  const show = (x: number, y: number, label: string, value: string) => {
    sheet.text(x, y, label, { size: 5.5, grey: 0.3 }).text(x, y + 10, value);
  };
  sheet.text(110, 22, labels.title, { ...bold, size: 9 }).box(20, 34, 78, 100, 0.8);
  show(240, 34, labels.number, papers.number);
  show(110, 34, "Type", papers.code);
  show(150, 34, "Code", papers.issuer);
  show(110, 54, labels.lastName, holder.lastName.toUpperCase());
  show(110, 74, labels.givenNames, holder.givenNames.toUpperCase());
  show(110, 94, labels.nationality, nationalityWords[holder.nationality] ?? holder.nationality);
  show(110, 114, labels.birth, dated(holder.birth, dates));
  show(230, 114, labels.sex, holder.sex);
  show(110, 134, labels.birthPlace, (holder.birthPlace ?? "").toUpperCase());
  show(110, 154, labels.issued, dated(papers.issued, dates));
  show(230, 154, labels.expires, dated(papers.expires, dates));
  const at = { left: 16, y: 200, width: 322 };
  return toZoneDocument({ name, language, layout: "passport", holder, papers }, sheet, at, {
    document_type: "passport",
    birth_place: holder.birthPlace ?? null,
    issuance_date: papers.issued,
  });
}

const nationalityWords: Readonly<Record<string, string>> = {
  CAN: "CANADIAN/CANADIENNE",
  D: "DEUTSCH",
  ESP: "ESPAÑOLA",
  POL: "POLSKIE/POLISH",
  IRL: "ÉIREANNACH/IRISH",
};

/** The back of a card: a few facts above three rows of the zone. */
function cardBack(
  name: string,
  language: string,
  facts: readonly (readonly [string, string])[],
  holder: Holder,
  papers: Papers,
  visible: Readonly<Record<string, Value>> = {},
) {
  const sheet = new Sheet({ width: 243, height: 153, size: 7.5 });
  for (const [index, [label, value]] of facts.entries()) {
    sheet.text(14, 18 + index * 20, label, { size: 5, grey: 0.3 }).text(14, 27 + index * 20, value);
  }
  const at = { left: 10, y: 108, width: 223 };
  return toZoneDocument({ name, language, layout: "card-back", holder, papers }, sheet, at, {
    document_type: "identity card||id card||id_card||id",
    ...visible,
  });
}

/** A sticker: labels left of their values, the zone in two rows. */
function visa(name: string, language: string, holder: Holder, papers: Papers) {
  const width = papers.format === "MRV-A" ? 340 : 298;
  const sheet = new Sheet({ width, height: 227, size: 8 });
  sheet.text(16, 22, "VISA", { ...bold, size: 14 }).right(width - 16, 22, papers.number, bold);
  const facts = [
    ["VALID FOR", "SCHENGEN STATES"],
    ["FROM", dated(papers.issued, "dashes")],
    ["UNTIL", dated(papers.expires, "dashes")],
    ["NUMBER OF ENTRIES", "MULT"],
    ["SURNAME, NAME", `${holder.lastName.toUpperCase()}, ${holder.givenNames.toUpperCase()}`],
  ] as const;
  for (const [index, [label, value]] of facts.entries()) {
    sheet.text(110, 46 + index * 18, label, { size: 6 }).text(190, 46 + index * 18, value);
  }
  sheet.box(16, 40, 76, 96, 0.82);
  const at = { left: 14, y: 180, width: width - 28 };
  return toZoneDocument({ name, language, layout: "visa", holder, papers }, sheet, at, { document_type: "visa" });
}

function withoutZone(
  name: string,
  language: string,
  layout: string,
  facts: readonly (readonly [label: string, value: string])[],
  {
    title,
    place,
    expected,
  }: {
    readonly title: readonly string[];
    readonly place: "above" | "left";
    readonly expected: Readonly<Record<string, Value>>;
  },
): LabelledDocument {
  const sheet = new Sheet({ width: 300, height: Math.max(190, 50 + facts.length * 21), size: 8.5 });
  sheet.stack(16, 18, title, { ...bold, size: 9, step: 12 });
  sheet.box(16, 44, 70, 90, 0.82);
  for (const [index, [label, value]] of facts.entries()) {
    const y = 50 + index * 20;
    if (place === "above") sheet.text(100, y, label, { size: 5.5, grey: 0.25 }).text(100, y + 9.5, value);
    else sheet.text(100, y, label, { size: 7, grey: 0.25 }).text(label.length > 4 ? 180 : 124, y, value);
  }
  return { name: `no-mrz-${name}`, language, layout, pages: sheet.pages, expected: { ...expected, mrz: null } };
}

export function identityToTune(): LabelledDocument[] {
  return [
    passport(
      "canada",
      "en",
      englishFrench,
      "words",
      makeHolder("Tremblay", "Sophie Anne", "1991-04-17 F CAN", "Gatineau"),
      makePapers("TD3 P CAN HK482915 2022-09-05 2032-09-05"),
    ),
    passport(
      "germany",
      "de",
      german,
      "dots",
      makeHolder("Größmann", "Jörg Peter", "1978-11-30 M D", "Würzburg"),
      makePapers("TD3 P D C4HT7K9R2 2021-02-15 2031-02-14"),
    ),
    passport(
      "spain",
      "es",
      spanish,
      "spaces",
      makeHolder("Ibáñez Peña", "María del Mar", "1985-07-02 F ESP", "Cartagena"),
      makePapers("TD3 P ESP XDB410278 2019-06-11 2029-06-11", "A2841930600"),
    ),
    passport(
      "poland",
      "pl",
      polish,
      "dots",
      makeHolder("Wróblewska", "Agnieszka", "2001-01-25 F POL", "Łomża"),
      makePapers("TD3 P POL EM7730412 2023-03-20 2033-03-20"),
    ),
    passport(
      "ireland",
      "en",
      {
        ...englishFrench,
        title: "PAS PASSPORT",
        lastName: "Sloinne / Surname",
        givenNames: "Réamhainm(neacha) / Forename(s)",
      },
      "words",
      makeHolder("O'Driscoll", "Cian Michael", "1969-12-08 M IRL", "Bantry"),
      makePapers("TD3 P IRL LB5510283 2018-01-30 2028-01-29"),
    ),
    cardBack(
      "estonia",
      "en",
      [
        ["Place of birth", "TARTU"],
        ["Date of issue", "14.05.2022"],
      ],
      makeHolder("Kask", "Liisa", "1995-08-21 F EST"),
      makePapers("TD1 ID EST AS1840277 2022-05-14 2027-05-14", "49508212717"),
      { birth_place: "TARTU", issuance_date: "2022-05-14" },
    ),
    cardBack(
      "netherlands",
      "nl",
      [["Plaats van afgifte", "Burg. van Zwolle"]],
      makeHolder("de Vries", "Pieter Jan", "1960-03-09 M NLD"),
      makePapers("TD1 I NLD SPECI2104 2021-08-02 2031-08-02"),
    ),
    cardBack(
      "belgium-long-number",
      "fr",
      [["Lieu de naissance", "Namur"]],
      makeHolder("Lambert", "Élodie Claire", "1988-02-29 F BEL"),
      makePapers("TD1 ID BEL 592184037712 2020-10-10 2030-10-10"),
      { birth_place: "Namur" },
    ),
    cardBack(
      "romania-style-td2",
      "en",
      [["Residence permit", "ORASUL VECHI"]],
      makeHolder("Popescu", "Ioana", "1999-09-19 F ITA"),
      makePapers("TD2 ID ITA CA88231 2021-04-04 2031-04-04"),
    ),
    cardBack(
      "austria-td2",
      "de",
      [["Ausstellungsdatum", "01.12.2019"]],
      makeHolder("Nußbaumer-Öhler", "Karl", "1955-05-15 M AUT"),
      makePapers("TD2 I AUT 9410277 2019-12-01 2029-12-01"),
      { issuance_date: "2019-12-01" },
    ),
    visa(
      "a-nigeria",
      "en",
      makeHolder("Adeyemi", "Oluwaseun David", "1983-10-12 M NGA"),
      makePapers("MRV-A V FRA FRA041882 2026-01-10 2026-07-09"),
    ),
    visa(
      "b-india",
      "en",
      makeHolder("Raghunathan", "Meera", "1992-06-06 F IND"),
      makePapers("MRV-B V NLD N10482993 2026-03-01 2026-08-28"),
    ),
    withoutZone(
      "licence-uk",
      "en",
      "eu-licence",
      readFacts(`
        1. | HARGREAVES
        2. | MR THOMAS EDWARD
        3. | 14.08.1987 UNITED KINGDOM
        4a. | 22.03.2020
        4b. | 21.03.2030
        4c. | DVLA
        5. | HARGR 808147 TE9IJ 35
        8. | 12 MILL STREET, DERBY, DE1 2AB
        9. | AM/A/B1/B/f/k/l/n/p/q
      `),
      {
        title: ["DRIVING LICENCE", "UK"],
        place: "left",
        expected: {
          last_name: "HARGREAVES",
          given_names: "THOMAS EDWARD||MR THOMAS EDWARD",
          birth_date: "1987-08-14",
          issuance_date: "2020-03-22",
          expire_date: "2030-03-21",
          document_id: "HARGR808147TE9IJ||HARGR808147TE9IJ35",
          document_type: licence,
        },
      },
    ),
    withoutZone(
      "licence-germany",
      "de",
      "eu-licence",
      readFacts(`
        1. | Lindqvist
        2. | Hanna
        3. | 03.02.1994 Rostock
        4a. | 11.07.2022
        4b. | 10.07.2037
        4c. | Hansestadt Rostock
        5. | B072RRE2I55
        9. | AM/B/L
      `),
      {
        title: ["FÜHRERSCHEIN", "BUNDESREPUBLIK DEUTSCHLAND"],
        place: "left",
        expected: {
          last_name: "Lindqvist",
          given_names: "Hanna",
          birth_date: "1994-02-03",
          birth_place: "Rostock",
          issuance_date: "2022-07-11",
          expire_date: "2037-07-10",
          document_id: "B072RRE2I55",
          document_type: licence,
        },
      },
    ),
    withoutZone(
      "licence-kansas",
      "en",
      "us-licence",
      [
        ["DL", "K03-48-2291"],
        ["LN", "MCALLISTER"],
        ["FN", "JORDAN LEE"],
        ["DOB", "09/23/1990"],
        ["ISS", "10/01/2023"],
        ["EXP", "09/23/2029"],
        ["SEX", "F"],
        ["HGT", "5'-06\""],
      ],
      {
        title: ["KANSAS", "DRIVER'S LICENSE"],
        place: "left",
        expected: {
          last_name: "MCALLISTER",
          given_names: "JORDAN LEE",
          birth_date: "1990-09-23",
          issuance_date: "2023-10-01",
          expire_date: "2029-09-23",
          document_id: "K03-48-2291",
          gender: "F||Female",
          document_type: licence,
        },
      },
    ),
    withoutZone(
      "card-germany-front",
      "de",
      "card-front",
      readFacts(`
        Name/Surname/Nom | EHRENBERG
        Vornamen/Given names/Prénoms | LENA MARIE
        Geburtstag/Date of birth/Date de naissance | 19.10.1998
        Staatsangehörigkeit/Nationality/Nationalité | DEUTSCH
        Geburtsort/Place of birth/Lieu de naissance | BAMBERG
        Gültig bis/Date of expiry/Date d'expiration | 30.06.2031
        Ausweisnummer | L7N402VKC
      `),
      {
        title: ["BUNDESREPUBLIK DEUTSCHLAND", "PERSONALAUSWEIS IDENTITY CARD"],
        place: "above",
        expected: {
          last_name: "EHRENBERG",
          given_names: "LENA MARIE",
          birth_date: "1998-10-19",
          nationality: countryOf("D"),
          birth_place: "BAMBERG",
          expire_date: "2031-06-30",
          document_id: "L7N402VKC",
          document_type: card,
        },
      },
    ),
    withoutZone(
      "card-spain-front",
      "es",
      "card-front",
      readFacts(`
        DNI | 48291736Q
        APELLIDOS | CASTELLANOS RUIZ
        NOMBRE | JAVIER
        SEXO | M
        NACIONALIDAD | ESP
        NACIMIENTO | 28 02 1979
        EMISIÓN | 15 09 2021
        VALIDEZ | 15 09 2031
      `),
      {
        title: ["REINO DE ESPAÑA", "DOCUMENTO NACIONAL DE IDENTIDAD"],
        place: "above",
        expected: {
          last_name: "CASTELLANOS RUIZ",
          given_names: "JAVIER",
          birth_date: "1979-02-28",
          gender: "M||Male",
          nationality: countryOf("ESP"),
          issuance_date: "2021-09-15",
          expire_date: "2031-09-15",
          document_id: "48291736Q",
          document_type: card,
        },
      },
    ),
    withoutZone(
      "card-france-front",
      "fr",
      "card-front",
      readFacts(`
        NOM / Surname | VASSEUR
        Prénoms / Given names | Antoine, Louis
        SEXE / Sex | M
        NATIONALITÉ / Nationality | FRA
        DATE DE NAISS. / Date of birth | 07 05 1993
        LIEU DE NAISSANCE / Place of birth | ANGERS
        N° DU DOCUMENT / Document No | T7X62TZ79
        DATE D'EXPIR. / Expiry date | 27 01 2031
      `),
      {
        title: ["RÉPUBLIQUE FRANÇAISE", "CARTE NATIONALE D'IDENTITÉ / IDENTITY CARD"],
        place: "above",
        expected: {
          last_name: "VASSEUR",
          given_names: "Antoine Louis||Antoine, Louis",
          birth_date: "1993-05-07",
          gender: "M||Male",
          nationality: countryOf("FRA"),
          birth_place: "ANGERS",
          expire_date: "2031-01-27",
          document_id: "T7X62TZ79",
          document_type: card,
        },
      },
    ),
    withoutZone(
      "card-poland-front",
      "pl",
      "card-front",
      readFacts(`
        NAZWISKO / SURNAME | KACZMAREK
        IMIONA / GIVEN NAMES | ZUZANNA MAŁGORZATA
        OBYWATELSTWO / NATIONALITY | POLSKIE
        DATA URODZENIA / DATE OF BIRTH | 12.12.1986
        PŁEĆ / SEX | K
        NUMER DOWODU OSOBISTEGO / IDENTITY CARD NUMBER | ZZC108201
        TERMIN WAŻNOŚCI / EXPIRY DATE | 03.03.2029
      `),
      {
        title: ["RZECZPOSPOLITA POLSKA", "DOWÓD OSOBISTY / IDENTITY CARD"],
        place: "above",
        expected: {
          last_name: "KACZMAREK",
          given_names: "ZUZANNA MAŁGORZATA",
          birth_date: "1986-12-12",
          gender: "F||K||Female",
          nationality: countryOf("POL"),
          expire_date: "2029-03-03",
          document_id: "ZZC108201",
          document_type: card,
        },
      },
    ),
    withoutZone(
      "card-italy-front",
      "it",
      "card-front",
      readFacts(`
        COGNOME / SURNAME | BIANCHINI
        NOME / NAME | GIULIA
        LUOGO E DATA DI NASCITA / PLACE AND DATE OF BIRTH | PERUGIA 24.03.1990
        SESSO / SEX | F
        CITTADINANZA / NATIONALITY | ITA
        EMISSIONE / ISSUING | 05.11.2020
        SCADENZA / EXPIRY | 24.03.2031
      `),
      {
        title: ["REPUBBLICA ITALIANA", "CARTA DI IDENTITÀ / IDENTITY CARD", "CA40217BB"],
        place: "above",
        expected: {
          last_name: "BIANCHINI",
          given_names: "GIULIA",
          birth_date: "1990-03-24",
          birth_place: "PERUGIA",
          gender: "F||Female",
          nationality: countryOf("ITA"),
          issuance_date: "2020-11-05",
          expire_date: "2031-03-24",
          document_type: card,
        },
      },
    ),
  ];
}

const licence = "driving licence||driving license||driver's license||driver license||driver_license||driving_licence";
const card = "identity card||id card||id_card||national identity card||id";
