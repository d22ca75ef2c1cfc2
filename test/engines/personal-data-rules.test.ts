// Rules of personal data that decide where a name or an address begins and ends. The people are invented.

import { describe, expect, test } from "bun:test";
import { kinds } from "../../src/engines/local/text/personal-data/datum.ts";
import { loadPersonalData } from "../../src/engines/local/text/personal-data.ts";

const find = await loadPersonalData();

/** What was found, as "subcategory: text". */
const seen = (text: string) => find(text).map((datum) => `${kinds[datum.kind][1]}: ${datum.text}`);

describe("a role before a name is not part of the name", () => {
  test.each([
    ["Mitarbeiterin Katharina Wolkenstein fehlt.", "Katharina Wolkenstein"],
    ["Die Versicherungsnehmerin Annegret Sommerfeld zahlt.", "Annegret Sommerfeld"],
    ["Ring Lennart Ekdahl i morgon.", "Lennart Ekdahl"],
    ["Soita Anni Koskela illalla.", "Anni Koskela"],
    ["Subsemnatul Gheorghe Munteanu declară.", "Gheorghe Munteanu"],
    ["Klientė Rasa Kazlauskienė laukia.", "Rasa Kazlauskienė"],
    ["Learner Nomvula Khumalo passed.", "Nomvula Khumalo"],
    ["Sou Jussara Albuquerque, de Recife.", "Jussara Albuquerque"],
    ["Die AHV-Nummer von Urs Bärtschi fehlt.", "Urs Bärtschi"],
    ["Der Anruf von Fatma Yıldız kam um neun.", "Fatma Yıldız"],
    ["Die Daten von Herrn Torben Ahlers fehlen.", "Torben Ahlers"],
  ])("%s", (text, name) => {
    expect(seen(text)).toEqual([`Name: ${name}`]);
  });

  test.each([
    "Nurse Practitioner Programme 2025",
    "Witness Protection Act 1998, section 3.",
    "Customer Service Centre, open 9 to 5.",
    "Kontakt Deutsche Bahn, Gleis 7.",
    "Guest House Alpenblick, 12 Zimmer.",
  ])("what is no name stays none: %s", (text) => {
    expect(seen(text)).toEqual([]);
  });

  test("a role announces a name that no list knows", () => {
    expect(seen("the tenant Braxwell Cutshire left")).toEqual(["Name: Braxwell Cutshire"]);
    expect(seen("The pump Braxwell Cutshire left")).toEqual([]);
  });

  test("a particle of nobility is part of the name", () => {
    expect(seen("Kontoinhaberin Gundula von Strachwitz BIC: DEUTDEFF")).toContain("Name: Gundula von Strachwitz");
  });
});

describe("addresses", () => {
  test.each([
    "14 Talaat Harb Street, Downtown, Cairo",
    "3 Rathmines Park, Dublin 6, D06 X2P4",
    "Ballymacarbry, Co. Waterford E91 X5R2",
    "The Old Forge, 3 Mill Lane, Hay-on-Wye HR3 5DQ",
    "2/1, 45 Byres Road, Glasgow G11 5RG",
    "1450 rue Sherbrooke Ouest, bureau 300, Montréal (Québec) H3G 1K4",
    "Oudegracht 187-bis, 3511 NE Utrecht",
    "Невский проспект 28, Санкт-Петербург",
    "Cumhuriyet Mah. Lale Sok. No:7 Daire:3, 06420 Çankaya/Ankara",
    "King Fahd Road 7433, Riyadh 12271",
    "P.O. Box 30197-00100, Nairobi",
    "12/A, 4th Cross, Indiranagar, Bengaluru - 560038",
    "1-2-3 Shibuya, Shibuya-ku, Tokyo 150-0002",
  ])("%s", (address) => {
    expect(seen(`I live at ${address}.`)).toEqual([`Address: ${address}`]);
  });
});

describe("numbers", () => {
  test.each([
    ["vehicle MH 12 AB 4821", "LicensePlate: MH 12 AB 4821"],
    ["registreringsnummer EL 48291", "LicensePlate: EL 48291"],
    ["IMEI 352030-06-576699-1", "Other: 352030-06-576699-1"],
    ["CPF 111 444 777 35", "NationalIdentificationNumber: 111 444 777 35"],
    ["GPS N 52.5200 E 13.4050", "Location: N 52.5200 E 13.4050"],
    ["the root password was Tr0ub4dor&3.", "Password: Tr0ub4dor&3"],
    ["paspoort NX7B92KF4", "PassportNumber: NX7B92KF4"],
    ["Maestro 5018 0000 0009", "CreditCard: 5018 0000 0009"],
  ])("%s", (text, found) => {
    expect(seen(text)).toEqual([found]);
  });

  test("the code of a product with 13 digits is no card, although its last digit fits", () => {
    expect(seen("Kod produktu 5901234123457, partia 0482.")).toEqual([]);
  });
});
