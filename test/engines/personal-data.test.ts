// Personal data in texts. The numbers are examples that institutions publish, or are computed by their rules; the people are invented.

import { describe, expect, test } from "bun:test";
import { kinds } from "../../src/engines/local/text/personal-data/datum.ts";
import { findPersonalData, loadPersonalData } from "../../src/engines/local/text/personal-data.ts";
import tune from "../quality/text/personal-data-tune.json" with { type: "json" };
import secondTune from "../quality/text/personal-data-tune-second.json" with { type: "json" };

const find = await loadPersonalData();

/** What was found, as "subcategory: text". */
const seen = (text: string) => find(text).map((datum) => `${kinds[datum.kind][1]}: ${datum.text}`);

/** Label of the kind, a word that announces it, a valid number. */
const identifiers: readonly (readonly [label: string, word: string, number: string])[] = [
  ["BR_CPF", "CPF", "111.444.777-35"],
  ["BR_CNPJ", "CNPJ", "11.222.333/0001-81"],
  ["BR_CNPJ", "CNPJ", "12.ABC.345/01DE-35"],
  ["PL_PESEL", "PESEL", "44051401359"],
  ["PL_NIP", "NIP", "123-456-32-18"],
  ["IT_CODICE_FISCALE", "codice fiscale", "RSSMRA85T10A562S"],
  ["IT_PARTITA_IVA", "partita IVA", "00743110157"],
  ["NL_BSN", "BSN", "111222333"],
  ["ES_DNI", "DNI", "12345678Z"],
  ["ES_NIE", "NIE", "X-1234567-L"],
  ["ES_CIF", "CIF", "A58818501"],
  ["FR_NIR", "sécurité sociale", "2 55 08 14 168 025 38"],
  ["DE_STEUER_ID", "Steuer-ID", "86095742719"],
  ["DE_RENTENVERSICHERUNG", "Rentenversicherungsnummer", "15 070649 C 103"],
  ["CH_AHV", "AHV-Nr.", "756.9217.0769.85"],
  ["BE_NATIONAL_NUMBER", "rijksregisternummer", "85.07.30-033.28"],
  ["SE_PERSONNUMMER", "personnummer", "811228-9874"],
  ["NO_FODSELSNUMMER", "fødselsnummer", "15078834231"],
  ["FI_HETU", "hetu", "131052-308T"],
  ["IS_KENNITALA", "kennitala", "120174-3399"],
  ["EE_LT_PERSONAL_CODE", "isikukood", "36805280109"],
  ["CZ_SK_RODNE_CISLO", "rodné číslo", "710319/2745"],
  ["RO_CNP", "CNP", "1630615123457"],
  ["BG_EGN", "ЕГН", "7523169263"],
  ["HR_OIB", "OIB", "33392005961"],
  ["YU_JMBG", "JMBG", "0101006500006"],
  ["PT_NIF", "NIF", "501964843"],
  ["GR_AFM", "ΑΦΜ", "094259216"],
  ["RU_INN", "ИНН", "7707083893"],
  ["RU_INN", "ИНН", "500100732259"],
  ["RU_SNILS", "СНИЛС", "112-233-445 95"],
  ["TR_TCKN", "T.C. Kimlik No", "10000000146"],
  ["GB_NHS", "NHS", "943 476 5919"],
  ["IE_PPS", "PPS", "1234567T"],
  ["IN_AADHAAR", "Aadhaar", "2341 2341 2346"],
  ["CN_RESIDENT_ID", "身份证", "11010519491231002X"],
  ["HK_ID", "HKID", "A123456(3)"],
  ["TW_ID", "身分證字號", "A123456789"],
  ["JP_MY_NUMBER", "マイナンバー", "1234 5678 9018"],
  ["SG_NRIC", "NRIC", "S1234567D"],
  ["TH_ID", "เลขประจำตัวประชาชน", "1-2345-67890-12-1"],
  ["AU_TFN", "TFN", "123 456 782"],
  ["AU_ABN", "ABN", "51 824 753 556"],
  ["ZA_ID", "ID number", "8001015009087"],
  ["CA_SIN", "SIN", "130-692-544"],
  ["MX_CURP", "CURP", "BOXW310820HNERXN09"],
  ["AR_CUIT", "CUIT", "20-12345678-6"],
  ["CL_RUT", "RUT", "12.345.678-5"],
  ["US_ABA", "routing", "021000021"],
  ["DE_VAT", "USt-IdNr.", "DE136695976"],
  ["AT_VAT", "UID", "ATU13585627"],
  ["BE_VAT", "btw", "BE0428759497"],
  ["FR_VAT", "TVA", "FR40303265045"],
  ["IT_VAT", "P.IVA", "IT00743110157"],
  ["PL_VAT", "VAT", "PL8567346215"],
  ["FI_VAT", "ALV", "FI20774740"],
  ["SE_VAT", "moms", "SE123456789701"],
  ["DK_VAT", "moms", "DK13585628"],
  ["LU_VAT", "TVA", "LU15027442"],
  ["GB_VAT", "VAT", "GB980780684"],
  ["IE_VAT", "VAT", "IE6433435F"],
  ["HU_VAT", "VAT", "HU12892312"],
  ["EE_VAT", "KMKR", "EE100931558"],
  ["SK_VAT", "IČ DPH", "SK2022749619"],
  ["SI_VAT", "VAT", "SI50223054"],
  ["MT_VAT", "VAT", "MT11679112"],
  ["CH_UID", "MWST", "CHE-100.155.212"],
];

describe("national identifiers", () => {
  test.each(identifiers)("%s after %s: %s", (label, word, number) => {
    const found = findPersonalData(`${word} ${number}`).filter((datum) => datum.label === label);
    expect(found.map(({ text }) => text)).toEqual([number]);
  });

  // The last digit of the Icelandic number states the century.
  const checked = identifiers.filter(([label]) => label !== "IS_KENNITALA");
  test.each(checked)("%s after %s is not found with a wrong check digit: %s", (label, word, number) => {
    // One other digit in the last place always breaks a check digit that is there, and in some numbers the one before it.
    const at = number.search(/\d\D*$/);
    const wrong = [1, 2, 3, 4, 5].map(
      (step) => number.slice(0, at) + ((Number(number[at]) + step) % 10) + number.slice(at + 1),
    );
    const found = wrong.filter((text) => findPersonalData(`${word} ${text}`).some((datum) => datum.label === label));
    expect(found).toEqual([]);
  });

  test("numbers whose form is common need an announcing word", () => {
    for (const [, , number] of identifiers.filter(([label]) => /BSN|OIB|EGN|TFN|ABA|AFM|INN|SIN/.test(label)))
      expect(seen(`It was ${number} in the end.`)).toEqual([]);
  });

  test("a word announces a number up to 60 characters after it, and 15 before it", () => {
    const isFound = (text: string) => findPersonalData(text).some((datum) => datum.text === "123456789");
    const words = (length: number) => " e".repeat(length / 2);
    expect([60, 62].map((gap) => isFound(`NIF${words(gap - 2)}: 123456789`))).toEqual([true, false]);
    expect([14, 18].map((gap) => isFound(`123456789${words(gap - 2)}, NIF`))).toEqual([true, false]);
  });

  test("a number that is announced as something else is not taken for an identifier", () => {
    expect(seen("Order no. 44051401359 was shipped, invoice 8001015009087 follows.")).toEqual([]);
    expect(seen("It was 44051401359.")).toEqual(["NationalIdentificationNumber: 44051401359"]);
  });
});

describe("other kinds", () => {
  const cases: readonly (readonly [text: string, found: readonly string[]])[] = [
    [
      "IBAN de89-3704-0044-0532-0130-00, BIC DEUTDEFF",
      ["BankAccountNumber: de89-3704-0044-0532-0130-00", "SwiftCode: DEUTDEFF"],
    ],
    ["GB29.NWBK.6016.1331.9268.19 IS MINE", ["BankAccountNumber: GB29.NWBK.6016.1331.9268.19"]],
    ["Visa 4111 1111 1111 1111 12/29", ["CreditCard: 4111 1111 1111 1111"]],
    [
      'Write to !def!xyz%abc@example.com or "john doe"@example.org.',
      ["Email: !def!xyz%abc@example.com", 'Email: "john doe"@example.org'],
    ],
    ["log user=ann@example.org x", ["Email: ann@example.org"]],
    [
      "Mail an jürgen@bücher.example oder δοκιμή@παράδειγμα.δοκιμή.",
      ["Email: jürgen@bücher.example", "Email: δοκιμή@παράδειγμα.δοκιμή"],
    ],
    ["ann [at] example [dot] org", ["Email: ann [at] example [dot] org"]],
    ["git clone https://joe:s3cret@git.example.com/x.git", ["URL: https://joe:s3cret@git.example.com/x.git"]],
    ["See https://example.com/docs/install and www.example.org.", []],
    ["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", ["Other: bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]],
    ["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp", []],
    ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", ["Other: 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"]],
    ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", []],
    ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", ["Other: 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"]],
    ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", []],
    ["at 48.8584° N, 2.2945° E", ["Location: 48.8584° N, 2.2945° E"]],
    ["at 52°31'12\"N 13°24'18\"E", ["Location: 52°31'12\"N 13°24'18\"E"]],
    ["geboren am 3. Mai 1980", ["Date: 3. Mai 1980"]],
    ["né à Lyon le 3 mai 1980", ["Date: 3 mai 1980"]],
    ["生年月日 1980年5月3日", ["Date: 1980年5月3日"]],
    ["IMEI 356938035643809 or IMEI 356938035643808", ["Other: 356938035643809"]],
    ["Call 030 901820 now", ["Phone: 030 901820"]],
    ["Lieferschein 030 901820", []],
    ["Telefoonnummer: 06-12345678 of GSM 0475 12 34 56", ["Phone: 06-12345678", "Phone: 0475 12 34 56"]],
    ["電話は03-1234-5678です。", ["Phone: 03-1234-5678"]],
    ["звоните 8 916 555-12-34", ["Phone: 8 916 555-12-34"]],
    ["id,name\n17,+41 61 555 01 23\n18,none", ["Phone: +41 61 555 01 23"]],
    ["Die Lieferung 0049-2231-88 kommt morgen.", []],
    ["She lives at 77 Massachusetts Ave.", ["Address: 77 Massachusetts Ave"]],
    ["ID number 4302050242086", ["NationalIdentificationNumber: 4302050242086"]],
    ["Das Passwort für das WLAN lautet Kaffee-2024!", ["Password: Kaffee-2024!"]],
    ["The password for the portal is wrong.", []],
    ["*12.08.1977, született: 1984. 03. 21.", ["Date: 12.08.1977", "Date: 1984. 03. 21"]],
    ["Prawo jazdy nr 00123/15/1465", ["DriverLicenseNumber: 00123/15/1465"]],
    ["nr konta 61 1090 1014 0000 0712 1981 2874", ["BankAccountNumber: 61 1090 1014 0000 0712 1981 2874"]],
    ["차량번호 12가 3456, номер авто АА 1234 ВВ", ["LicensePlate: 12가 3456", "LicensePlate: АА 1234 ВВ"]],
    ["Nomvula Khumalo, 31, from Durban", ["Name: Nomvula Khumalo", "Age: 31"]],
    ["Her brothers are 24.", ["Age: 24"]],
    ["2001:db8::1 and 10.0.0.1, not ::1, 127.0.0.1 or 10:30:00", ["IP: 2001:db8::1", "IP: 10.0.0.1"]],
  ];
  test.each(cases)("%s", (text, found) => expect(seen(text)).toEqual([...found]));
});

describe("names", () => {
  const cases: readonly (readonly [text: string, found: readonly string[]])[] = [
    ["Herr Dr. Müller und Frau Öztürk kommen.", ["Müller", "Öztürk"]],
    ["Name: Xyla Qwortz", ["Xyla Qwortz"]],
    ["We met Wanjiru Kamau and Nguyễn Văn Nam in Lisbon.", ["Wanjiru Kamau", "Nguyễn Văn Nam"]],
    ["Best regards,\nQwerin", ["Qwerin"]],
    ["姓名：王小明，来自上海", ["王小明"]],
    ["山田太郎様、こんにちは", ["山田太郎"]],
    ["성명: 홍길동", ["홍길동"]],
    ["Меня зовут Ольга Кузнецова.", ["Ольга Кузнецова"]],
    ["Hugo Boss and Wells Fargo are companies, Victoria Station is a place.", []],
    ["In May and June the roses of Florence bloom.", []],
    ["Die Rechnung der Firma ist bezahlt.", []],
    ["mevrouw Van den Broeck en Park Seo-yeon", ["Van den Broeck", "Park Seo-yeon"]],
    ["Kovács István, J. R. Whitfield, Nguyen Van An", ["Kovács István", "J. R. Whitfield", "Nguyen Van An"]],
    ["Договор подписан Андрієм Мельником.", ["Андрієм Мельником"]],
    ['{"firstName": "Ivana", "lastName": "Qwortz"}', ["Ivana", "Qwortz"]],
    ["Yesterday Inspector Clara Bennett left.", ["Clara Bennett"]],
    [
      "Participants: Wanjiru Kamau, Braylon Cutshaw and Ewa Nowicka.",
      ["Wanjiru Kamau", "Braylon Cutshaw", "Ewa Nowicka"],
    ],
    ["Müller, Hans-Peter; Schulze, Anke", ["Müller, Hans-Peter", "Schulze, Anke"]],
    ["our daughter Ama and my friend Qwerin", ["Ama", "Qwerin"]],
    ["hi, i'm tariq and i need help", ["tariq"]],
    ["this is done, and i am tired", []],
    ["Pozdrawiam, Wojtek", ["Wojtek"]],
    ["Dear Customer, dear Katalin!", ["Katalin"]],
    ["联系人李娜，佐藤健一です。", ["李娜", "佐藤健一"]],
    ["मेरा नाम राहुल शर्मा है", ["राहुल शर्मा"]],
    ["Ombeline d'Harcourt", ["Ombeline d'Harcourt"]],
    ["I, Jedediah Crowhurst, declare it. /s/ Harlan Westbrook", ["Jedediah Crowhurst", "Harlan Westbrook"]],
    ["Hallo, hier ist Dörte vom Empfang.", ["Dörte"]],
    ["Los Angeles and St. Moritz are towns.", []],
    ["San Antonio, Tel Aviv and the Jackson-Hewitt pump are no people.", []],
  ];
  test.each(cases)("%s", (text, found) => expect(seen(text)).toEqual(found.map((name) => `Name: ${name}`)));
});

describe("addresses", () => {
  test.each([
    "221B Baker Street, London NW1 6XE",
    "350 Fifth Avenue, 21st Floor, New York, NY 10118",
    "12 Queen Street West, Toronto, ON M5H 2N2",
    "10 rue de Rivoli\n75004 Paris",
    "Calle Mayor 15, 2º Izq., 50001 Zaragoza",
    "Av. Paulista, 1578 - Bela Vista, São Paulo - SP, 01310-200",
    "Via Roma 10, 00184 Roma (RM)",
    "Stephansplatz 3/12, 1010 Wien",
    "Karl Johans gate 22, 0026 Oslo",
    "Mannerheimintie 14 A 12, 00100 Helsinki",
    "Václavské náměstí 1, 110 00 Praha 1",
    "ul. Piotrkowska 112/4, 90-007 Łódź",
    "1052 Budapest, Váci utca 12",
    "ул. Ленина, д. 5, кв. 12",
    "Flat 402, Shanti Apartments, MG Road, Pune 411001",
    "No. 12, Jalan Bukit Bintang, 55100 Kuala Lumpur",
    "Calle 72 # 10-34, Bogotá",
    "House 14, Road 7, Dhanmondi, Dhaka 1205",
    "The Old Rectory, Church Lane, Little Bardfield, Essex CM7 4TW",
    "Unit 5/22 Bondi Road, Bondi NSW 2026",
    "Room 1203, No. 88 Nanjing Road, Shanghai 200001",
    "Office 804, Al Manara Tower, Business Bay, Dubai",
    "45 Bode Thomas Street, Surulere, Lagos",
    "Laugavegur 26, 101 Reykjavík",
    "25 Lê Lợi, Quận 1, TP. Hồ Chí Minh",
    "г. Санкт-Петербург, Невский пр., д. 28, кв. 5",
    "İstiklal Caddesi No: 78 D: 4, 34433 Beyoğlu/İstanbul",
    "Viale Europa 3/B, 37138 Verona VR",
    "12, Jalan Ampang, 50450 Kuala Lumpur",
    "大阪府大阪市北区梅田3-1-3",
    "北京市朝阳区建国路88号",
    "서울특별시 강남구 테헤란로 152",
  ])("%s", (address) => expect(seen(`Send it to: ${address}`)).toEqual([`Address: ${address}`]));

  test("a town, a road and a number alone are no address", () => {
    expect(seen("Take the A40 to Cologne, exit 12, and stay in Room 14 of the Park Hotel.")).toEqual([]);
  });
});

describe("mentions", () => {
  test("every occurrence of a value is found, with other separators too", () => {
    const text = "CPF 111.444.777-35. Confirm that 11144477735 is right. Later: 111.444.777-35!";
    expect(seen(text)).toEqual([
      "NationalIdentificationNumber: 111.444.777-35",
      "NationalIdentificationNumber: 11144477735",
      "NationalIdentificationNumber: 111.444.777-35",
    ]);
  });

  test("the family name of a person who was found is found alone, unless it is an ordinary word", () => {
    expect(seen("Name: Ada Qwortz. The letter of Qwortz arrived.")).toEqual(["Name: Ada Qwortz", "Name: Qwortz"]);
    expect(seen("Name: Ada Park. The Park is closed.")).toEqual(["Name: Ada Park"]);
  });

  test("the results are in the order of the text and do not overlap", () => {
    const text = "Ada Qwortz, ada@example.org, DE89 3704 0044 0532 0130 00, +49 30 901820";
    const found = find(text);
    for (const { text: datum, start } of found) expect(text.slice(start, start + datum.length)).toBe(datum);
    for (const [index, { start }] of found.entries()) {
      const before = found[index - 1];
      if (before !== undefined) expect(start).toBeGreaterThanOrEqual(before.start + before.text.length);
    }
    expect(found).toHaveLength(4);
  });
});

test.each([tune, secondTune])("precision and recall on the sets for tuning stay above 97 %", (set) => {
  const counts = { right: 0, found: 0, wanted: 0 };
  for (const { text, personal } of set.cases) {
    const left = personal.map(({ content, subcategory }) => `${subcategory}: ${content}`);
    const found = seen(text);
    counts.found += found.length;
    counts.wanted += left.length;
    for (const datum of found) {
      const at = left.indexOf(datum);
      if (at === -1) continue;
      left.splice(at, 1);
      counts.right++;
    }
  }
  expect(counts.wanted).toBeGreaterThan(300);
  expect(counts.right / counts.found).toBeGreaterThan(0.97);
  expect(counts.right / counts.wanted).toBeGreaterThan(0.97);
});
