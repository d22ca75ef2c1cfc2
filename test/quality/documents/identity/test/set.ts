// The test split of identity documents: no rule is tuned on it, and nobody looks at its cases to change one. All people and numbers are invented.

import { fillDate } from "../../dates.ts";
import type { LabelledDocument, Value } from "../../labelled-document.ts";
import { Sheet } from "../../sheet.ts";
import {
  countryOf,
  type Fact,
  type Holder,
  makeHolder,
  makePapers,
  type Papers,
  readFacts,
  toZoneDocument,
} from "../mrz.ts";

const bold = { font: "bold" } as const;
const licence = "driving licence||driving license||driver's license||driver license||driver_license||driving_licence";
const card = "identity card||id card||id_card||national identity card||id";

const months = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");

function date(iso: string, pattern: string): string {
  return fillDate(pattern, iso, months);
}

/** A passport whose labels stand left of the values, with the photograph on the right. */
function passportWithLabelsLeft(
  name: string,
  language: string,
  title: string,
  facts: readonly Fact[],
  holder: Holder,
  papers: Papers,
  visible: Readonly<Record<string, Value>>,
): LabelledDocument {
  const sheet = new Sheet({ width: 354, height: 249, font: "serif", size: 9 });
  sheet.text(18, 20, title, { size: 9 }).box(262, 34, 74, 96, 0.78);
  for (const [index, [label, value]] of facts.entries())
    sheet.text(18, 40 + index * 16, label, { size: 6 }).text(120, 40 + index * 16, value);
  const at = { left: 14, y: 206, width: 326 };
  return toZoneDocument({ name, language, layout: "passport-labels-left", holder, papers }, sheet, at, {
    document_type: "passport",
    ...visible,
  });
}

/** A passport page with a tinted background and two columns of labels above values. */
function tintedPassport(
  name: string,
  language: string,
  title: string,
  left: readonly Fact[],
  right: readonly Fact[],
  holder: Holder,
  papers: Papers,
  visible: Readonly<Record<string, Value>>,
): LabelledDocument {
  const sheet = new Sheet({ width: 354, height: 249, size: 8.5 });
  sheet
    .box(0, 0, 354, 186, 0.9)
    .box(14, 30, 80, 104, 0.7)
    .text(106, 20, title, { ...bold, size: 9 });
  for (const [x, facts] of [
    [106, left],
    [240, right],
  ] as const) {
    for (const [index, [label, value]] of facts.entries()) {
      sheet.text(x, 38 + index * 24, label, { size: 5.5 }).text(x, 48 + index * 24, value, bold);
    }
  }
  const at = { left: 12, y: 208, width: 330 };
  return toZoneDocument({ name, language, layout: "passport-tinted", holder, papers }, sheet, at, {
    document_type: "passport",
    ...visible,
  });
}

/** Both sides of a card on one sheet, as copies are. */
function bothSides(
  name: string,
  language: string,
  title: string,
  facts: readonly Fact[],
  holder: Holder,
  papers: Papers,
  visible: Readonly<Record<string, Value>>,
): LabelledDocument {
  const sheet = new Sheet({ width: 420, height: 500, size: 8.5 });
  sheet
    .box(60, 40, 300, 190)
    .text(72, 58, title, { ...bold, size: 9 })
    .box(72, 72, 70, 88, 0.8);
  for (const [index, [label, value]] of facts.entries())
    sheet.text(156, 76 + index * 22, label, { size: 5.5 }).text(156, 86 + index * 22, value);
  sheet.box(60, 260, 300, 190);
  const at = { left: 70, y: papers.format === "TD1" ? 390 : 406, width: 280 };
  return toZoneDocument({ name, language, layout: "both-sides", holder, papers }, sheet, at, {
    document_type: card,
    ...visible,
  });
}

/** Only the zone and a few words: the back of a residence permit. */
function permitBack(
  name: string,
  language: string,
  lines: readonly string[],
  holder: Holder,
  papers: Papers,
  documentType = `${card}||residence permit`,
): LabelledDocument {
  const sheet = new Sheet({ width: 243, height: 153, size: 6.5 });
  sheet.stack(12, 20, lines, { step: 11 });
  const at = { left: 9, y: papers.format === "TD1" ? 106 : 116, width: 225 };
  return toZoneDocument({ name, language, layout: "permit-back", holder, papers }, sheet, at, {
    document_type: documentType,
  });
}

function visaPage(
  name: string,
  language: string,
  facts: readonly Fact[],
  holder: Holder,
  papers: Papers,
): LabelledDocument {
  const width = papers.format === "MRV-A" ? 340 : 298;
  const sheet = new Sheet({ width, height: 227, font: "serif", size: 8.5 });
  sheet.centre(width / 2, 24, "VISA / VISUM", { size: 14 });
  for (const [index, [label, value]] of facts.entries()) {
    const [x, y] = [18 + (index % 2) * 150, 50 + Math.floor(index / 2) * 28];
    sheet.text(x, y, label, { size: 6 }).text(x, y + 11, value);
  }
  const at = { left: 12, y: 186, width: width - 24 };
  return toZoneDocument({ name, language, layout: "visa-grid", holder, papers }, sheet, at, { document_type: "visa" });
}

/** Without a zone: labels above values in two columns, or left of values with a colon. */
function plain(
  name: string,
  language: string,
  layout: "two-columns" | "colons" | "numbered",
  title: readonly string[],
  facts: readonly Fact[],
  expected: Readonly<Record<string, Value>>,
): LabelledDocument {
  const sheet = new Sheet({ width: 330, height: 220, size: 8.5 });
  for (const [index, content] of title.entries()) sheet.text(110, 20 + index * 12, content, { ...bold, size: 9 });
  sheet.box(14, 20, 80, 100, 0.8);
  for (const [index, [label, value]] of facts.entries()) {
    if (layout === "two-columns") {
      const [x, y] = [110 + (index % 2) * 112, 58 + Math.floor(index / 2) * 26];
      sheet.text(x, y, label, { size: 5.5 }).text(x, y + 10, value);
    } else if (layout === "colons") sheet.text(110, 58 + index * 17, `${label}: ${value}`);
    else sheet.text(110, 56 + index * 15, label, { size: 7 }).text(132, 56 + index * 15, value);
  }
  return { name: `no-mrz-${name}`, language, layout, pages: sheet.pages, expected: { ...expected, mrz: null } };
}

export function identityToTest(): LabelledDocument[] {
  return [...passports(), ...cards(), ...visas(), ...withoutZones()];
}

function passports(): LabelledDocument[] {
  const british = makeHolder("Ashworth-Clegg", "Penelope Jane", "1974-03-28 F GBR", "Huddersfield");
  const italian = makeHolder("D'Angelo", "Salvatore", "1990-12-13 M ITA", "Trapani");
  const swede = makeHolder("Åström", "Nils Göran", "1963-06-30 M SWE", "Luleå");
  const dutch = makeHolder("van der Meulen", "Fleur", "2004-10-04 F NLD", "Alkmaar");
  const brazilian = makeHolder("Albuquerque Nogueira", "Thiago Henrique", "1987-01-19 M BRA", "Fortaleza");
  const indian = makeHolder("Venkataramanan", "Lakshmi Priyadarshini", "1996-08-15 F IND", "Madurai");
  const korean = makeHolder("Hwang", "Seo Yeon", "1999-05-05 F KOR");
  const longName = makeHolder("Featherstonehaugh", "Bartholomew Cuthbert", "1958-07-07 M AUS", "Ballarat");
  const american = makeHolder("Yazzie", "Shania Rose", "1993-09-02 F USA", "Arizona, U.S.A.");
  return [
    passportWithLabelsLeft(
      "britain",
      "en",
      "UNITED KINGDOM OF GREAT BRITAIN AND NORTHERN IRELAND",
      readFacts(`
        Surname | ASHWORTH-CLEGG
        Given names | PENELOPE JANE
        Nationality | BRITISH CITIZEN
        Date of birth | ${date(british.birth, "DD MMM YYYY")}
        Sex | F
        Place of birth | HUDDERSFIELD
        Date of issue | 09 JUN 2020
        Date of expiry | 09 JUN 2030
      `),
      british,
      makePapers("TD3 P GBR 540118263 2020-06-09 2030-06-09"),
      { birth_place: "HUDDERSFIELD", issuance_date: "2020-06-09" },
    ),
    passportWithLabelsLeft(
      "italy",
      "it",
      "REPUBBLICA ITALIANA - PASSAPORTO",
      readFacts(`
        Cognome | D'ANGELO
        Nome | SALVATORE
        Cittadinanza | ITALIANA
        Data di nascita | ${date(italian.birth, "DD/MM/YYYY")}
        Sesso | M
        Luogo di nascita | TRAPANI
        Data di rilascio | 17/11/2022
        Data di scadenza | 16/11/2032
      `),
      italian,
      makePapers("TD3 P ITA YC4471902 2022-11-17 2032-11-16"),
      { birth_place: "TRAPANI", issuance_date: "2022-11-17" },
    ),
    passportWithLabelsLeft(
      "australia",
      "en",
      "AUSTRALIA PASSPORT",
      readFacts(`
        Family name | FEATHERSTONEHAUGH
        Given names | BARTHOLOMEW CUTHBERT
        Date of birth | ${date(longName.birth, "DD MMM YYYY")}
        Sex | M
        Place of birth | BALLARAT
        Date of issue | 30 AUG 2024
        Date of expiry | 30 AUG 2034
      `),
      longName,
      makePapers("TD3 P AUS PA7720415 2024-08-30 2034-08-30"),
      { birth_place: "BALLARAT", issuance_date: "2024-08-30" },
    ),
    tintedPassport(
      "sweden",
      "sv",
      "SVERIGE SWEDEN PASS PASSPORT",
      readFacts(`
        Efternamn/Surname | ÅSTRÖM
        Förnamn/Given names | NILS GÖRAN
        Födelsedatum/Date of birth | ${date(swede.birth, "DD MMM YYYY")}
        Födelseort/Place of birth | LULEÅ
      `),
      readFacts(`
        Kön/Sex | M
        Utfärdad/Date of issue | 04 MAR 2023
        Sista giltighetsdag/Date of expiry | 04 MAR 2028
      `),
      swede,
      makePapers("TD3 P SWE 91047722 2023-03-04 2028-03-04", "6306304819"),
      { birth_place: "LULEÅ", issuance_date: "2023-03-04" },
    ),
    tintedPassport(
      "netherlands",
      "nl",
      "KONINKRIJK DER NEDERLANDEN PASPOORT",
      readFacts(`
        naam/surname | VAN DER MEULEN
        voornamen/given names | FLEUR
        geboortedatum/date of birth | ${date(dutch.birth, "DD MM YYYY")}
        geboorteplaats/place of birth | ALKMAAR
      `),
      readFacts(`
        geslacht/sex | V/F
        datum van afgifte/date of issue | 12 01 2025
        geldig tot/date of expiry | 12 01 2035
      `),
      dutch,
      makePapers("TD3 P NLD NX81L04C7 2025-01-12 2035-01-12"),
      { birth_place: "ALKMAAR", issuance_date: "2025-01-12" },
    ),
    tintedPassport(
      "brazil",
      "pt",
      "REPÚBLICA FEDERATIVA DO BRASIL PASSAPORTE",
      readFacts(`
        SOBRENOME/SURNAME | ALBUQUERQUE NOGUEIRA
        NOME/GIVEN NAMES | THIAGO HENRIQUE
        DATA DE NASCIMENTO/DATE OF BIRTH | ${date(brazilian.birth, "DD MMM YYYY")}
        NATURALIDADE/PLACE OF BIRTH | FORTALEZA
      `),
      readFacts(`
        SEXO/SEX | M
        DATA DE EXPEDIÇÃO/DATE OF ISSUE | 21 JUL 2021
        VÁLIDO ATÉ/DATE OF EXPIRY | 20 JUL 2031
      `),
      brazilian,
      makePapers("TD3 P BRA GB881204 2021-07-21 2031-07-20"),
      { birth_place: "FORTALEZA", issuance_date: "2021-07-21" },
    ),
    tintedPassport(
      "india",
      "en",
      "REPUBLIC OF INDIA",
      readFacts(`
        Surname | VENKATARAMANAN
        Given Name(s) | LAKSHMI PRIYADARSHINI
        Date of Birth | ${date(indian.birth, "DD/MM/YYYY")}
        Place of Birth | MADURAI, TAMIL NADU
      `),
      readFacts(`
        Sex | F
        Date of Issue | 02/02/2019
        Date of Expiry | 01/02/2029
      `),
      indian,
      makePapers("TD3 P IND T4410296 2019-02-02 2029-02-01"),
      { birth_place: "MADURAI, TAMIL NADU||MADURAI", issuance_date: "2019-02-02" },
    ),
    tintedPassport(
      "korea",
      "en",
      "REPUBLIC OF KOREA PASSPORT",
      readFacts(`
        Surname | HWANG
        Given names | SEO YEON
        Date of birth | ${date(korean.birth, "DD MMM YYYY")}
      `),
      readFacts(`
        Sex | F
        Date of issue | 15 APR 2024
        Date of expiry | 15 APR 2034
      `),
      korean,
      makePapers("TD3 PM KOR M70228815 2024-04-15 2034-04-15", "2014419"),
      { issuance_date: "2024-04-15" },
    ),
    passportWithLabelsLeft(
      "america",
      "en",
      "UNITED STATES OF AMERICA",
      readFacts(`
        Surname / Nom / Apellidos | YAZZIE
        Given Names / Prénoms / Nombres | SHANIA ROSE
        Nationality / Nationalité | UNITED STATES OF AMERICA
        Date of birth | ${date(american.birth, "DD MMM YYYY")}
        Place of birth | ARIZONA, U.S.A.
        Sex | F
        Date of issue | 18 OCT 2017
        Date of expiration | 17 OCT 2027
      `),
      american,
      makePapers("TD3 P USA 561208844 2017-10-18 2027-10-17"),
      { birth_place: "ARIZONA, U.S.A.||ARIZONA", issuance_date: "2017-10-18" },
    ),
  ];
}

function cards(): LabelledDocument[] {
  const finn = makeHolder("Mäkinen", "Aino Helmi", "1971-02-11 F FIN");
  const portuguese = makeHolder("Gonçalves", "Rui Miguel", "1984-09-09 M PRT");
  const spaniard = makeHolder("Etxeberria Muñoz", "Nerea", "1997-11-23 F ESP");
  const pole = makeHolder("Żółkiewski", "Krzysztof", "1968-04-01 M POL");
  const turk = makeHolder("Yildirim", "Emre", "1991-07-17 M TUR");
  const kenyan = makeHolder("Wanjiru", "Faith Nyambura", "1989-10-29 F KEN");
  return [
    bothSides(
      "finland",
      "en",
      "SUOMI FINLAND HENKILÖKORTTI",
      readFacts(`
        Surname | MÄKINEN
        Given names | AINO HELMI
        Date of birth | 11.02.1971
        Sex | F
        Date of expiry | 05.05.2028
      `),
      finn,
      makePapers("TD1 I FIN XA4410028 2023-05-05 2028-05-05"),
      {},
    ),
    bothSides(
      "portugal",
      "pt",
      "REPÚBLICA PORTUGUESA - CARTÃO DE CIDADÃO",
      readFacts(`
        APELIDO(S) | GONÇALVES
        NOME(S) | RUI MIGUEL
        SEXO | M
        DATA DE NASCIMENTO | 09 09 1984
        DATA DE VALIDADE | 14 12 2030
      `),
      portuguese,
      makePapers("TD1 I PRT 14028837 2020-12-14 2030-12-14"),
      {},
    ),
    bothSides(
      "spain",
      "es",
      "ESPAÑA - DOCUMENTO NACIONAL DE IDENTIDAD",
      readFacts(`
        PRIMER APELLIDO | ETXEBERRIA
        SEGUNDO APELLIDO | MUÑOZ
        NOMBRE | NEREA
        FECHA DE NACIMIENTO | 23 11 1997
        VALIDO HASTA | 30 01 2029
      `),
      spaniard,
      makePapers("TD1 ID ESP BKL104477 2024-01-30 2029-01-30", "72810044T"),
      {},
    ),
    bothSides(
      "czechia-td2",
      "en",
      "ČESKÁ REPUBLIKA - OBČANSKÝ PRŮKAZ",
      readFacts(`
        PŘÍJMENÍ / SURNAME | NOVOTNÝ
        JMÉNO / GIVEN NAMES | VÍT
        DATUM NAROZENÍ / DATE OF BIRTH | 06.08.1979
      `),
      makeHolder("Novotný", "Vít", "1979-08-06 M CZE"),
      makePapers("TD2 ID CZE 204817733 2019-03-03 2029-03-03"),
      {},
    ),
    permitBack(
      "germany",
      "de",
      ["AUFENTHALTSTITEL", "BEMERKUNGEN: ERWERBSTÄTIGKEIT ERLAUBT"],
      turk,
      makePapers("TD1 AR D YZ0C84F1T 2025-02-20 2028-02-19"),
    ),
    permitBack("poland-td2", "pl", ["LEGITYMACJA"], pole, makePapers("TD2 I POL CCB77120 2022-08-08 2032-08-08")),
    permitBack(
      "switzerland-long-number",
      "de",
      ["AUSLÄNDERAUSWEIS"],
      kenyan,
      makePapers("TD1 AC CHE D1234987702K 2024-06-01 2029-05-31"),
    ),
  ];
}

function visas(): LabelledDocument[] {
  return [
    visaPage(
      "a-argentina",
      "en",
      readFacts(`
        Issuing post | BUENOS AIRES
        Control number | 20261147720003
        Visa type | R B1/B2
        Entries | M
      `),
      makeHolder("Fernández Quiroga", "Martina", "1995-01-31 F ARG"),
      makePapers("MRV-A VN USA AAF441028 2026-02-02 2036-02-01"),
    ),
    visaPage(
      "a-japan",
      "en",
      readFacts(`
        Valid for | DEUTSCHLAND
        From | 01-04-26
        Until | 30-06-26
        Duration of stay | 90
      `),
      makeHolder("Kobayashi", "Haruto", "2000-02-28 M JPN"),
      makePapers("MRV-A VC D D77201144 2026-04-01 2026-06-30"),
    ),
    visaPage(
      "b-mexico",
      "es",
      readFacts(`
        Válido para | ESTADOS SCHENGEN
        Desde | 15-05-26
        Hasta | 14-11-26
        Entradas | MULT
      `),
      makeHolder("Villaseñor", "José Luis", "1977-12-12 M MEX"),
      makePapers("MRV-B V ESP ESP118204 2026-05-15 2026-11-14"),
    ),
    visaPage(
      "b-kenya",
      "en",
      readFacts(`
        Valid for | SCHENGEN STATES
        From | 02-09-26
        Until | 01-12-26
        Entries | 01
      `),
      makeHolder("Otieno", "Brian Ochieng", "1986-06-18 M KEN"),
      makePapers("MRV-B VC BEL B20441180 2026-09-02 2026-12-01"),
    ),
  ];
}

function withoutZones(): LabelledDocument[] {
  return [
    plain(
      "licence-ireland",
      "en",
      "numbered",
      ["CEADÚNAS TIOMÁNA", "DRIVING LICENCE"],
      readFacts(`
        1. | BRENNAN
        2. | AOIFE
        3. | 17.09.1995 IRELAND
        4a. | 02.02.2024
        4b. | 01.02.2034
        4c. | NDLS
        5. | 102 884 119
      `),
      {
        last_name: "BRENNAN",
        given_names: "AOIFE",
        birth_date: "1995-09-17",
        issuance_date: "2024-02-02",
        expire_date: "2034-02-01",
        document_id: "102884119",
        document_type: licence,
      },
    ),
    plain(
      "licence-france",
      "fr",
      "numbered",
      ["PERMIS DE CONDUIRE", "RÉPUBLIQUE FRANÇAISE"],
      readFacts(`
        1. | Delacour
        2. | Florian
        3. | 30.01.1982 Annecy
        4a. | 19.10.2021
        4b. | 18.10.2036
        4c. | Préfecture de la Haute-Savoie
        5. | 13AA00277
      `),
      {
        last_name: "Delacour",
        given_names: "Florian",
        birth_date: "1982-01-30",
        birth_place: "Annecy",
        issuance_date: "2021-10-19",
        expire_date: "2036-10-18",
        document_id: "13AA00277",
        document_type: licence,
      },
    ),
    plain(
      "licence-italy",
      "it",
      "numbered",
      ["PATENTE DI GUIDA", "REPUBBLICA ITALIANA"],
      readFacts(`
        1. | ROMAGNOLI
        2. | SERENA
        3. | 08/03/91 FERRARA
        4a. | 14/06/2019
        4b. | 08/03/2030
        4c. | MIT-UCO
        5. | U1D40277X
      `),
      {
        last_name: "ROMAGNOLI",
        given_names: "SERENA",
        birth_date: "1991-03-08",
        birth_place: "FERRARA",
        issuance_date: "2019-06-14",
        expire_date: "2030-03-08",
        document_id: "U1D40277X",
        document_type: licence,
      },
    ),
    plain(
      "licence-oregon",
      "en",
      "two-columns",
      ["OREGON USA", "DRIVER LICENSE"],
      readFacts(`
        4d DL NO. | 8841207
        1 NAME | HOLLOWAY
        2 FIRST | DENISE MARIE
        3 DOB | 11/30/1976
        4a ISS | 12/05/2022
        4b EXP | 11/30/2030
        15 SEX | F
        16 HGT | 5-07
      `),
      {
        last_name: "HOLLOWAY",
        given_names: "DENISE MARIE",
        birth_date: "1976-11-30",
        issuance_date: "2022-12-05",
        expire_date: "2030-11-30",
        document_id: "8841207",
        gender: "F||Female",
        document_type: licence,
      },
    ),
    plain(
      "licence-ontario",
      "en",
      "colons",
      ["ONTARIO", "DRIVER'S LICENCE / PERMIS DE CONDUIRE"],
      readFacts(`
        NAME/NOM | MACKENZIE, RORY
        NUMBER/NUMÉRO | M0344-70228-80515
        ISS/DÉL | 2023/05/16
        EXP/EXP | 2028/05/15
        DOB/DDN | 1988/05/15
        SEX/SEXE | M
      `),
      {
        birth_date: "1988-05-15",
        issuance_date: "2023-05-16",
        expire_date: "2028-05-15",
        document_id: "M0344-70228-80515",
        gender: "M||Male",
        document_type: licence,
      },
    ),
    plain(
      "card-portugal-front",
      "pt",
      "two-columns",
      ["REPÚBLICA PORTUGUESA", "CARTÃO DE CIDADÃO"],
      readFacts(`
        APELIDO / SURNAME | SARMENTO
        NOME / GIVEN NAME | INÊS
        SEXO / SEX | F
        NACIONALIDADE / NATIONALITY | PRT
        DATA DE NASCIMENTO / DATE OF BIRTH | 02 05 2001
        N. DOCUMENTO / DOCUMENT NO. | 30112877 4 ZX1
        DATA DE VALIDADE / EXPIRY DATE | 17 09 2029
      `),
      {
        last_name: "SARMENTO",
        given_names: "INÊS",
        birth_date: "2001-05-02",
        gender: "F||Female",
        nationality: countryOf("PRT"),
        document_id: "301128774ZX1",
        expire_date: "2029-09-17",
        document_type: card,
      },
    ),
    plain(
      "card-netherlands-front",
      "nl",
      "two-columns",
      ["KONINKRIJK DER NEDERLANDEN", "IDENTITEITSKAART"],
      readFacts(`
        naam / surname | Bakker
        voornamen / given names | Joris Willem
        nationaliteit / nationality | Nederlandse
        geboortedatum / date of birth | 24.06.1959
        documentnummer / document no. | IR40288L1
        geldig tot / date of expiry | 09.10.2031
        geslacht / sex | M
      `),
      {
        last_name: "Bakker",
        given_names: "Joris Willem",
        birth_date: "1959-06-24",
        nationality: countryOf("NLD"),
        document_id: "IR40288L1",
        expire_date: "2031-10-09",
        gender: "M||Male",
        document_type: card,
      },
    ),
    plain(
      "card-czechia-front",
      "cs",
      "two-columns",
      ["ČESKÁ REPUBLIKA", "OBČANSKÝ PRŮKAZ / IDENTITY CARD"],
      readFacts(`
        PŘÍJMENÍ / SURNAME | VESELÁ
        JMÉNO / GIVEN NAMES | BARBORA
        DATUM NAROZENÍ / DATE OF BIRTH | 13.07.1993
        MÍSTO NAROZENÍ / PLACE OF BIRTH | ZLÍN
        ČÍSLO DOKLADU / DOCUMENT NUMBER | 217740382
        PLATNOST DO / DATE OF EXPIRY | 22.11.2032
        POHLAVÍ / SEX | F
      `),
      {
        last_name: "VESELÁ",
        given_names: "BARBORA",
        birth_date: "1993-07-13",
        birth_place: "ZLÍN",
        document_id: "217740382",
        expire_date: "2032-11-22",
        gender: "F||Female",
        document_type: card,
      },
    ),
    plain(
      "card-germany-colons",
      "de",
      "colons",
      ["DIENSTAUSWEIS", "PERSONALAUSWEIS"],
      readFacts(`
        Familienname | Petersen
        Vorname | Ole
        Geboren am | 05.12.1985
        Geburtsort | Husum
        Ausgestellt am | 01.03.2023
        Gültig bis | 28.02.2033
        Nummer | L9Q4408KT
      `),
      {
        last_name: "Petersen",
        given_names: "Ole",
        birth_date: "1985-12-05",
        birth_place: "Husum",
        issuance_date: "2023-03-01",
        expire_date: "2033-02-28",
        document_id: "L9Q4408KT",
        document_type: card,
      },
    ),
    plain(
      "card-mexico",
      "es",
      "colons",
      ["INSTITUTO NACIONAL ELECTORAL", "CREDENCIAL PARA VOTAR"],
      readFacts(`
        APELLIDOS | SALDÍVAR OCHOA
        NOMBRE | MARIANA
        FECHA DE NACIMIENTO | 19/08/1990
        SEXO | M
        VIGENCIA | 2034
      `),
      { last_name: "SALDÍVAR OCHOA", given_names: "MARIANA", birth_date: "1990-08-19" },
    ),
  ];
}
