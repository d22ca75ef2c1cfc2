// Finds the names of people of many cultures. Capitalised words are a name if enough speaks for it: a title or an announcing word before them,
// a known given name, the form of a family name, personal data beside them, or an e-mail address with the same words.

import { splitWindows } from "../windows.ts";
import type { PersonalDatum, PersonalKind } from "./datum.ts";
import * as words from "./name-words.ts";

const letters = String.raw`[\p{L}\p{M}]`;
// Lengths are limited, because otherwise every capital letter of a long run would be read to the end of the run.
const nameWord = String.raw`\p{Lu}${letters}{0,30}(?:['’ʼ-]${letters}{1,30}){0,3}`;
const particle =
  "(?:van|von|den|der|vom|zu|zur|zum|van der|van den|van de|von der|de|de la|de las|de los|de l'|del|della|di|da|do|dos|das|du|des|la|le|el|al|bin|binti|ibn|ben|bint|bt|af|av|ter|ten|te|y|e|i|wa|ole|arap|'t|in 't|d'|st\\.|ní|nic|mac|ap|ó|os)";
const run = new RegExp(
  String.raw`(?<![\p{L}\p{N}_@/.-])(?:\p{Lu}\.(?:-?\p{Lu}\.){0,3}|${nameWord})(?:[ \u00a0](?:${particle}[ \u00a0]){0,2}(?:\p{Lu}\.(?:-?\p{Lu}\.)?|${nameWord})){0,6}(?![\p{L}\p{N}@_])`,
  "gu",
);

/** Titles and forms of address directly before a name. */
const title =
  /(?<![\p{L}])(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|professor|Doctor|doctor|Doktor|Docteur|docteur|Professeur|professeur|don|doña|señor|señora|señorita|monsieur|madame|dottor|dottoressa|Dottor|Dottoressa|senhor|senhora|doutor|doutora|Doutor|Doutora|Juffrouw|juffrouw|Meneer|meneer|Sir|Dame|Lord|Lady|Father|Sister|Brother|Pastor|Rabbi|Coach|Officer|Detective|Inspector|Nurse|Constable|Sheriff|Colonel|Lieutenant|Admiral|Ambassador|Minister|Mayor|Governor|Councillor|Judge|Captain|Capt|Sergeant|Sgt|President|Senator|Chancellor|Rev|Fr|Sr|Sra|Srta|Srs|Sta|Dña|Doña|Don|D|Herrn?|Frau|Hr|Fr|Ing|Dipl|Mag|Monsieur|Madame|Mademoiselle|M|MM|Mme|Mmes|Mlle|Me|Maître|Señor|Señora|Señorita|Sig|sig|Sig\.ra|sig\.ra|Sig\.na|Signor|signor|Signora|signora|Dott|dott|Dott\.ssa|dott\.ssa|Avv|avv|Senhor|Senhora|Dona|Exmo|Exma|Dra|Profa|Dhr|dhr|Mevr|mevr|Mevrouw|mevrouw|De heer|de heer|Mej|Pan|pan|Pani|pani|Panu|panu|Panem|Państwo|paní|Paní|pán|Pán|slečna|gospodin|gospođa|gosp|g|gđa|Fru|fru|Fröken|Herr|herr|Hra|rva|Rouva|Herra|Domnul|domnul|Doamna|doamna|Dl|dl|Dna|dna|Bay|Bayan|Sayın|sayın|Hacı|Shri|Shree|Smt|Kum|Sardar|Haji|Hajj|Sheikh|Shaikh|Datuk|Dato|Tuan|Puan|Encik|Bapak|Ibu|Pak|Bu|Ustadz|Mzee|Bwana|Bibi|Chief|Alhaji|Alhaja|Imam|Rabbi|Господин|господин|Госпожа|госпожа|г-н|г-жа|Пан|пан|Пані|пані|Panie|panie|Пане|пане|Κύριε|κύριε|Κύριος|κύριος|Κυρία|κυρία|κ)\.{0,2}[ \u00a0](?:(?:Dr|Prof|Ing|med|dent|vet|rer|nat|habil|oec|pol|Dipl|h\.c|jur|phil)\.{0,2}[ \u00a0]){0,3}$/u;

/** Words before a name that leave no doubt, even if it is one word only. */
const announcement =
  /(?<![\p{L}])(?:(?:(?:full|first|last|given|family|maiden|middle|user|customer|client|contact|patient|applicant|tenant|account|card ?holder(?:['’]s)?|beneficiary|employee|passenger|guest|student|legal)[ _-]?)?names?|surname|forename|(?:vor|nach|familien|geburts|zu)?name|nom(?: de famille| complet)?|prénom|nombres?(?: completo| y apellidos)?|apellidos?|nome(?: completo| e cognome)?|cognome|apelido|sobrenome|naam|voornaam|achternaam|imię(?: i nazwisko)?|nazwisko|jméno|příjmení|meno|priezvisko|név|nume(?:le)?|prenume(?:le)?|navn|fornavn|etternavn|efternavn|namn|förnamn|efternamn|nimi|sukunimi|etunimi|ime(?: i prezime)?|prezime|priimek|ad(?:ı)?(?: soyad(?:ı)?)?|soyad(?:ı)?|isim|имя|фамилия|ф\.?и\.?о\.?|ім['’ʼ]я|прізвище|п\.?і\.?б\.?|име|фамилно име|презиме|όνομα|επώνυμο|ονοματεπώνυμο|nama(?: lengkap)?|họ (?:và )?tên|tên|pangalan|jina)["']?\s{0,3}[:=]\s{0,3}["'«„“]?$/iu;
/** Other words with a colon, which announce one or more people. */
const role =
  /(?<![\p{L}])(?:applicants?|patients?|clients?|customers?|contact(?: person)?|attn|attention|participants?|attendees?|present|signed(?: by)?|sender|recipient|from|to|cc|beneficiary|payee|payer|account holder|card ?holder|holder|owner|driver|tenants?|landlord|employee|manager|supervisor|doctor|physician|nurse|teacher|student|author|reviewers?|witness|guardian|next of kin|emergency contact|spouse|mother|father|guests?|passengers?|insured|policy ?holder|claimant|defendant|plaintiff|buyer|seller|speaker|host|organi[sz]er|assigned to|assignee|reporter|requested by|approved by|prepared by|inhaber(?:in)?|halter(?:in)?|patient(?:in)?|kund(?:e|in)|mieter(?:in)?|vermieter(?:in)?|antragsteller(?:in)?|ansprechpartner(?:in)?|kontakt(?:person)?|empfänger(?:in)?|absender(?:in)?|fahrer(?:in)?|versicherte[rn]?|teilnehmer(?:in|innen)?|unterzeichner|lieferadresse|rechnungsadresse|z\.\s?hd\.|client(?:e|s)?|assuré(?:e)?|locataire|titulaire|bénéficiaire|destinataire|expéditeur|conduct(?:eur|rice)|salarié(?:e)?|employé(?:e)?|demandeur|médecin|à l['’]attention de|paciente|titular|beneficiari[oa]|destinatari[oa]|remitente|solicitante|inquilin[oa]|propietari[oa]|conductor(?:a)?|emplead[oa]|trabajador(?:a)?|contacto|apoderad[oa]|asegurad[oa]|contatto|intestatari[oa]|paziente|inquilin[oa]|mittente|dipendente|richiedente|referente|contato|requerente|inquilin[oa]|funcionári[oa]|proprietári[oa]|contactpersoon|klant|patiënt|huurder|verhuurder|begunstigde|werknemer|bestuurder|t\.a\.v\.|t\.n\.v\.|wnioskodawca|pacjent(?:ka)?|klient(?:ka)?|najemca|odbiorca|nadawca|kierowca|właściciel(?:ka)?|osoba kontaktowa|zákazník|pacient(?:ka)?|nájemce|příjemce|kontaktní osoba|majitel|ügyfél|beteg|kapcsolattartó|címzett|pacient(?:ă)?|beneficiar(?:ă)?|titular(?:ă)?|destinatar|persoană de contact|kund|kunde|pasient|kontaktperson|mottagare|mottaker|modtager|avsändare|avsender|afsender|lejer|leietaker|hyresgäst|asiakas|potilas|vastaanottaja|lähettäjä|yhteyshenkilö|vuokralainen|müşteri|hasta|kiracı|alıcı|gönderen|yetkili|sürücü|клиент|пациент|получатель|отправитель|контактное лицо|водитель|заявитель|клієнт|пацієнт|одержувач|відправник|водій|заявник|klijent|pacijent|primatelj|pošiljatelj|vlasnik|vozač|πελάτης|ασθενής|παραλήπτης|αποστολέας)["']?\s{0,3}:\s{0,3}["'«„“]?$/iu;
/** The same words without a colon. */
const roleWithoutColon = new RegExp(role.source.replace(/\["'\]\?.*$/, String.raw`\s{1,2}$`), "iu");
/** Words without a colon. The name after them has two words or more, or is a known given name. */
const phrase =
  /(?<![\p{L}])(?:my name is|name is|named|called|name|i am|i['’]m|this is|it is|it's|here is|dear|hi|hello|hey|signed by|signed|reviewed by|approved by|written by|prepared by|uploaded by|sent by|submitted by|belongs? to|beneficiary|holder|owner|tenant|applicant|patient|employee|driver|colleague|mother|father|wife|husband|son|daughter|brother|sister|neighbou?r|friend|client|customer|attn|sent to|ask for|contact|regarding|on behalf of|in the name of|care of|c\/o|ich heiße|ich bin|mein name ist|heißt|namens|name|liebe|lieber|hallo|sehr geehrte frau|sehr geehrter herr|lautend auf|im namen von|inhaber(?:in)?|halter(?:in)?|patient(?:in)?|mieter(?:in)?|kund(?:e|in)|kontakt|gez\.|je m['’]appelle|je suis|bonjour|cher|chère|au nom de|conduct(?:eur|rice)|employé(?:e)?|salarié(?:e)?|assuré(?:e)?|locataire|titulaire|patient(?:e)?|signé|me llamo|soy|mi nombre es|hola|estimad[oa]|querid[oa]|a nombre de|nombre|trabajador(?:a)?|emplead[oa]|paciente|titular|apoderad[oa]|conductor(?:a)?|firmado|mi chiamo|sono|ciao|gentile|car[oa]|intestato a|intestata a|a nome di|dipendente|paziente|firmato|chamo-me|me chamo|meu nome é|o meu nome é|sou|olá|prezad[oa]|em nome de|funcionári[oa]|ik ben|ik heet|mijn naam is|beste|geachte|hoort bij|op naam van|t\.n\.v\.|t\.a\.v\.|naam|nazywam się|jestem|na imię mam|należy do|na nazwisko|jmenuji se|jsem|jméno|patří|volám sa|som|patrí|jag heter|mitt namn är|tillhör|hej|jeg heter|jeg hedder|mit navn er|mitt navn er|tilhører|kontakt|kære|kjære|hei|minun nimeni on|olen|nimeni on|kuuluu|nimi|potilas|hetu|adım|ben|ismim|ait|nevem|vagyok|a nevem|numele meu este|mă numesc|mă cheamă|sunt|aparține|nume|zovem se|ja sam|moje ime je|pripada|ime|меня зовут|мене звати|звати мене|я|моё имя|мое имя|моє ім['’ʼ]я|казвам се|зовем се|ја сам|принадлежит|належить|με λένε|λέγομαι|ονομάζομαι|είμαι|αγαπητέ|αγαπητή|nama saya|saya|tôi là|tôi tên là|jina langu ni|ako si)\s{1,3}$/iu;
/** Words after a name: "Chukwuemeka Obiora here." */
const afterwards =
  /^\s(?:here(?![\p{L}])|speaking|writes:|wrote:|schreibt|schrieb|a écrit|escribió|ha scritto|skrev)/iu;
/** The end of a letter: a name stands in the line after it. */
const farewell =
  /(?:regards|wishes|sincerely|faithfully|truly|thanks|thank you|cheers|love|best|grüßen|grüße|gruß|hochachtungsvoll|lg|vg|mfg|cordialement|salutations|bien à vous|amitiés|bises|atentamente|saludos|un abrazo|cordiali saluti|distinti saluti|saluti|cordialmente|atenciosamente|cumprimentos|abraço|groet|groeten|pozdrawiam|poważaniem|pozdravem|pozdravom|üdvözlettel|hilsen|hälsningar|terveisin|mvh|stimă|saygılarımla|selamlar|pozdrav|уважением|повагою|εκτίμηση|salam|hormat saya|trân trọng),?[ \t]{0,3}\r?\n{1,3}[ \t]{0,3}$|(?<![\p{L}])(?:lg|vg|mfg|mvh|vlg|hdgdl)\s$/iu;
/** A name after these words is that of a place. */
const placeWord =
  /(?<![\p{L}])(?:San|Santa|Santo|Saint|Ste|São|Sankt|Mount|Mt\.?|Lake|Port|Fort|Cape|Tel|Villa|Hotel|Café|Restaurant|Camp|Point|Isla|Île)[ \u00a0-]$/u;
const article = /(?<![\p{L}])the\s$/iu;

/** Names of countries in the languages of which most texts are. */
function countryNames(): ReadonlySet<string> {
  const names = new Set<string>();
  const alphabet = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  for (const language of ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "tr"]) {
    const display = new Intl.DisplayNames(language, { type: "region", fallback: "none" });
    for (const first of alphabet)
      for (const second of alphabet)
        for (const word of (display.of(first + second) ?? "").split(/[^\p{L}]+/u))
          if (word.length > 3) names.add(words.fold(word));
  }
  // Countries that are also common as a name.
  for (const name of [
    "jordan",
    "chad",
    "georgia",
    "jersey",
    "martin",
    "maria",
    "barthelemy",
    "pierre",
    "vincent",
    "helena",
    "lucia",
    "kitts",
  ])
    names.delete(name);
  return names;
}

const cities: ReadonlySet<string> = new Set(
  "aachen aberdeen abidjan abuja accra adelaide algiers amman amsterdam ankara antwerp antwerpen athens athina atlanta auckland augsburg baghdad baku baltimore bamako bangalore bangkok barcelona basel bath beijing beirut belfast belgrade bengaluru bergen berlin bern bielefeld bilbao birmingham bochum bogota boise bologna bonn bordeaux boston bratislava braunschweig bremen brighton brisbane bristol brno bruges brugge brussels bruxelles bucharest budapest cairo calgary cambridge canberra cannes caracas cardiff casablanca catania chennai chicago cluj cologne copenhagen cork cracow dakar dallas damascus delhi denver detroit dhaka doha dortmund dresden dubai dublin duisburg durban dusseldorf edinburgh edmonton eindhoven erfurt essen firenze florence frankfurt freiburg galway gdansk geneva geneve genoa genova ghent gent glasgow goteborg gothenburg granada graz guadalajara hamburg hannover hanoi harare havana heidelberg helsinki houston hyderabad innsbruck istanbul izmir jakarta jerusalem johannesburg kabul kampala karachi karlsruhe kassel katowice kiel kiev kinshasa kobenhavn kolkata koln krakow kyiv kyoto lagos lahore lausanne leeds leipzig lille lima limoges linz lisboa lisbon liverpool ljubljana lodz london luanda lusaka luxembourg luzern lyon madrid mainz malaga malmo manchester manila mannheim marrakech marseille medellin melbourne memphis miami milan milano minneapolis minsk montevideo montpellier montreal moscow mumbai munich munchen munster nagoya nairobi nantes naples napoli newcastle nice nurnberg odessa osaka oslo ottawa oxford palermo paris perth philadelphia phoenix pittsburgh porto portland potsdam prague praha pretoria quito regensburg reims rennes reykjavik riga rome roma rostock rotterdam rouen saarbrucken salzburg santiago sarajevo seattle seoul sevilla seville shanghai sheffield shenzhen singapore skopje sofia stockholm strasbourg stuttgart sydney tallinn tampere tehran tokyo torino toronto toulouse trieste tripoli tunis turin turku ulm uppsala utrecht valencia vancouver venice venezia verona vienna vilnius warsaw warszawa washington wellington wien winnipeg wolfsburg wroclaw wuppertal yangon york zagreb zaragoza zurich zermatt victoria waterloo москва киев київ петербург минск софия белград αθήνα θεσσαλονίκη".split(
    " ",
  ),
);

/** Data beside which capitalised words are the name of their person. */
const personal: ReadonlySet<PersonalKind> = new Set<PersonalKind>([
  "NATIONAL_ID",
  "SOCIAL_SECURITY",
  "RESIDENT_NUMBER",
  "HEALTH_NUMBER",
  "PASSPORT",
  "DRIVER_LICENSE",
  "BIRTH_DATE",
  "EMAIL",
  "PHONE",
  "VOTER_NUMBER",
]);

interface Context {
  readonly text: string;
  /** Where other personal data start and end. */
  readonly starts: ReadonlySet<number>;
  readonly ends: ReadonlySet<number>;
  /** Words of the e-mail addresses. */
  readonly mailWords: ReadonlySet<string>;
}

export function createPeopleFinder(): (text: string, others: readonly PersonalDatum[]) => PersonalDatum[] {
  const places = new Set([...countryNames(), ...cities]);
  return (text, others) => {
    const near = others.filter(({ kind }) => personal.has(kind));
    const mails = others.filter(({ kind }) => kind === "EMAIL");
    const context: Context = {
      text,
      starts: new Set(near.map(({ start }) => start)),
      ends: new Set(near.map(({ start, text: datum }) => start + datum.length)),
      mailWords: new Set(
        mails.flatMap((mail) =>
          words
            .fold(mail.text.split("@", 1)[0] ?? "")
            .split(/[^\p{L}]+/u)
            .filter((word) => word.length > 2),
        ),
      ),
    };
    const found = splitWindows(text).flatMap((window) =>
      Array.from(window.text.matchAll(run)).flatMap((match) =>
        judge(match[0], window.start + match.index, context, places),
      ),
    );
    return [...found, ...findWithoutCapitals(text)];
  };
}

interface Word {
  readonly text: string;
  readonly folded: string;
  readonly start: number;
  readonly end: number;
}

/** A name among the capitalised words, or none. */
function judge(whole: string, offset: number, context: Context, places: ReadonlySet<string>): PersonalDatum[] {
  const { text } = context;
  const all = Array.from(whole.matchAll(/[^ \u00a0]+/gu), (match): Word => {
    const word = match[0].replace(/['’]s$/u, "");
    return {
      text: word,
      folded: words.fold(word.replace(/\.$/, "")),
      start: offset + match.index,
      end: offset + match.index + word.length,
    };
  });
  // Leading words that introduce the name, such as a title at the start of a sentence, are not part of it.
  let first = 0;
  while (first < all.length && isIntroduction(all[first], all[first + 1], context)) first++;
  let last = first;
  while (last < all.length && !isBoundary(all[last], all[first])) last++;
  const name = trimParticles(all.slice(first, last));
  const [head] = name;
  if (head === undefined) {
    // A boundary word such as "Konto" in the middle: what follows it may be a name.
    const rest = all.slice(last + 1);
    return rest.length > 0 && last < all.length
      ? judge(text.slice(rest[0]?.start, all.at(-1)?.end), rest[0]?.start ?? 0, context, places)
      : [];
  }
  const tail = last < all.length - 1 ? judgeRest(all.slice(last + 1), context, places) : [];
  const confidence = confidenceOf(name, all, context, places);
  if (confidence === null) {
    const inner = innerName(name);
    return inner === null ? tail : [toDatum(inner, text, 0.8), ...tail];
  }
  return [toDatum(confidence.name, text, confidence.confidence), ...tail];
}

function judgeRest(rest: readonly Word[], context: Context, places: ReadonlySet<string>): PersonalDatum[] {
  const [head, end] = [rest[0], rest.at(-1)];
  if (head === undefined || end === undefined) return [];
  return judge(context.text.slice(head.start, end.end), head.start, context, places);
}

function toDatum(name: readonly Word[], text: string, confidence: number): PersonalDatum {
  const [start, end] = [name[0]?.start ?? 0, name.at(-1)?.end ?? 0];
  return { text: text.slice(start, end), start, kind: "NAME", confidence };
}

function isIntroduction(word: Word | undefined, next: Word | undefined, { text }: Context): boolean {
  if (word === undefined) return false;
  // "mevrouw Van den Broeck"
  if (capitalParticle.test(word.text) && title.test(text.slice(Math.max(0, word.start - 30), word.start))) return false;
  if (next !== undefined && isKorean([word, next])) return false;
  // A month or another ordinary word may be a given name if a name follows: "Julio Iglesias".
  if (isGiven(word) && (!isOrdinary(word) || (next !== undefined && !isOrdinary(next)))) return false;
  return (
    isOrdinary(word) ||
    title.test(`${text.slice(word.start, word.end)} `) ||
    (/^\p{Lu}{2,}$/u.test(word.text) && word.text.length < 5 && !words.firstFamilyNames.has(word.folded))
  );
}

const capitalParticle =
  /^(?:Al|El|De|Da|Do|Di|Du|D|La|Le|Lo|Ap|Ibn|Bin|Ben|Van|Von|Der|Den|Dos|Das|Del|Della|Los|Las|St|Mac|Abu|Umm|Bint|Abd|Ní|Nic|Ó|Te|Ter|Ten)$/u;

/** A word that cannot be part of a name. Initials can. */
function isBoundary(word: Word | undefined, head: Word | undefined): boolean {
  if (word === undefined) return true;
  if (/^\p{Lu}\.?$/u.test(word.text) || /^\p{Ll}/u.test(word.text)) return false;
  if (capitalParticle.test(word.text)) return false;
  if (word === head) return isOrdinary(word) && !isGiven(word) && !words.firstFamilyNames.has(word.folded);
  if (
    head !== undefined &&
    words.firstFamilyNames.has(head.folded) &&
    words.syllable.test(word.folded) &&
    word.folded.length < 4
  )
    return false;
  return isOrdinary(word) && !words.givenNames.has(word.folded) && !words.familyNames.has(word.folded);
}

function trimParticles(name: readonly Word[]): readonly Word[] {
  let end = name.length;
  while (end > 0 && /^\p{Ll}/u.test(name[end - 1]?.text ?? "")) end--;
  return name.slice(0, end);
}

function isGiven({ folded }: Word): boolean {
  if (words.givenNames.has(folded)) return true;
  if (folded.includes("-")) return folded.split("-").every((part) => words.givenNames.has(part));
  if (!/^\p{Script=Cyrillic}{4,}$/u.test(folded)) return false;
  // Case endings: "Андрію", "Ольги", "Иваном"
  const stems = [folded.slice(0, -1), folded.slice(0, -2)];
  return stems.some((stem) =>
    ["", "а", "я", "й", "ь", "о", "ій", "ий"].some((ending) => words.givenNames.has(stem + ending)),
  );
}

/** An accent makes another word: the Vietnamese "Văn" is not the Dutch "van". */
function isOrdinary({ text, folded }: Word): boolean {
  return (
    words.notNames.has(folded) &&
    (!/^[\x20-\x7e]*$/.test(folded) || text.toLowerCase() === folded || words.notNames.has(text.toLowerCase()))
  );
}

function isCertainlyGiven(word: Word): boolean {
  return isGiven(word) && !words.ambiguousNames.has(word.folded) && !isOrdinary(word);
}

function isFamily({ folded, text }: Word): boolean {
  return (
    words.familyNames.has(folded) ||
    (text.length > 4 && words.familyEnding.test(folded)) ||
    /^(?:Mac|Mc|O['’]|Fitz|Al-|El-|Ben-|Ní$|Nic$)\p{Lu}?/u.test(text)
  );
}

function confidenceOf(
  name: readonly Word[],
  all: readonly Word[],
  context: Context,
  places: ReadonlySet<string>,
): { name: readonly Word[]; confidence: number } | null {
  const { text } = context;
  const [head, end] = [name[0], name.at(-1)];
  if (head === undefined || end === undefined) return null;
  const before = text.slice(Math.max(0, head.start - 60), head.start);
  const after = text.slice(end.end, end.end + 40);
  const folded = name.map((word) => word.folded);
  const nextWord = all.find(({ start }) => start > end.start);
  const isThing =
    folded.some((word) => words.thingWords.has(word)) ||
    (nextWord !== undefined && words.thingWords.has(nextWord.folded)) ||
    words.brands.has(folded.slice(0, 2).join(" ")) ||
    words.brands.has(folded.slice(0, 3).join(" ")) ||
    /^\s(?:&|und|and|et|y|e|i)\s(?:Sons|Söhne|Fils|Hijos|Figli|Co|Partner|Associates|Cie|Filhos)/u.test(after) ||
    /^\s(?:GmbH|AG|KG|Inc|Ltd|LLC|SA|SAS|S\.A|BV|B\.V|AB|A\/S|Oy|plc|station|bushes|street|model)/u.test(after);
  if (/[\p{L}.][ \u00a0]$/u.test(before) && title.test(before.slice(-30)) && !isThing)
    return { name: name.slice(0, 4), confidence: 0.93 };
  // Most text before a name has no colon: the long patterns are tried only where one is.
  const hasColon = /[:=]\s{0,3}["'«„“]?$/.test(before);
  if (hasColon && announcement.test(before)) return { name: name.slice(0, 5), confidence: 0.93 };
  if (isKorean(name) || isKorean(name.toReversed())) return { name, confidence: 0.85 };
  if (isThing || placeWord.test(before)) return null;
  const isPlace = folded.every((word) => places.has(word)) || (name.length === 1 && places.has(head.folded));
  if (isPlace && !isCertainlyGiven(head)) return null;
  const hasGiven = name.some(isGiven);
  const hasCapitals = name.some(({ text: word }) => /^\p{Lu}{2,}$/u.test(word));
  const hasTwo = name.filter(({ text: word }) => word.length > 1).length > 1;
  if (hasColon && role.test(before) && (hasTwo || hasGiven)) return { name: name.slice(0, 5), confidence: 0.9 };
  if (farewell.test(before) && (hasTwo || hasGiven || /^\s*(?:\n|$)/.test(after)))
    return { name: name.slice(0, 4), confidence: 0.88 };
  const isLine = /(?:^|\n)[ \t]*$/.test(before) && /^[ \t]*(?:\r?\n|$)/.test(after);
  if (
    /[\p{L}.]\s{1,3}$/u.test(before) &&
    phrase.test(before.slice(-30)) &&
    ((isGiven(head) && !isOrdinary(head) && !places.has(head.folded)) ||
      (hasTwo && !name.some(({ folded: word }) => places.has(word))))
  )
    return { name: name.slice(0, 5), confidence: 0.88 };
  const hasPlace = name.some(({ folded: word }) => places.has(word));
  if (hasTwo && !hasCapitals && !hasPlace && roleWithoutColon.test(before.slice(-30))) return { name, confidence: 0.8 };
  if (hasTwo && afterwards.test(after)) return { name, confidence: 0.85 };
  if (
    folded.some(
      (word) =>
        word.length > 2 && (context.mailWords.has(word) || word.split("-").some((part) => context.mailWords.has(part))),
    )
  )
    return { name, confidence: 0.9 };
  if (
    hasTwo &&
    !hasCapitals &&
    isBesidePersonal(before, head.start, end.end, context) &&
    !name.some(({ folded: word }) => places.has(word))
  )
    return { name, confidence: 0.82 };
  if (isCertainlyGiven(head)) {
    if (hasTwo) return article.test(before) ? null : { name: name.slice(0, 5), confidence: 0.85 };
    if (article.test(before)) return null;
    // A word in capitals is more often an abbreviation.
    return /^\p{Lu}{2,}$/u.test(head.text) ? null : { name, confidence: 0.72 };
  }
  if (hasTwo && isGiven(head) && !words.riskyNames.has(head.folded) && !isOrdinary(head) && !hasCapitals)
    return article.test(before) || places.has(end.folded) ? null : { name: name.slice(0, 5), confidence: 0.8 };
  if (hasTwo && isGiven(head) && name.slice(1).some(isFamily))
    return article.test(before) ? null : { name, confidence: 0.8 };
  const isSurelyFamily = words.familyNames.has(end.folded) && !words.ambiguousNames.has(end.folded);
  const isOddHead = isOrdinary(head) || places.has(head.folded) || words.ambiguousNames.has(head.folded);
  if (name.length < 4 && hasTwo && !hasCapitals && !isOddHead && !places.has(end.folded) && !article.test(before)) {
    if (isSurelyFamily || (end.text.length > 5 && words.certainFamilyEnding.test(end.folded)))
      return { name, confidence: 0.75 };
  }
  // J. R. Whitfield
  if (/^(?:\p{Lu}\.){2}|^\p{Lu}\. \p{Lu}\./u.test(text.slice(head.start, end.end)) && /\p{Ll}{2}/u.test(end.text))
    return { name, confidence: 0.78 };
  if (isEastAsian(name) || (isLine && hasTwo && hasGiven)) return { name, confidence: 0.8 };
  // In a list or a form, any word before a given name is the family name: "Kovács István, …"
  const isEntry = /(?:^|[\n,;:(|])[ \t]*$/.test(before) && /^[ \t]*(?:[\n,;)|]|$)/.test(after);
  if (name.length === 2 && isEntry && isCertainlyGiven(end) && !places.has(head.folded))
    return { name, confidence: 0.78 };
  // A family name before a given name: "Zurbriggen Reto", "Петров Иван"
  if (name.length >= 2 && name.slice(1).some(isCertainlyGiven) && isFamily(head)) return { name, confidence: 0.8 };
  if (/(?:ович|евич|ич|овна|евна|івна|ична)$/u.test(end.folded) && hasTwo) return { name, confidence: 0.88 };
  return null;
}

/** The part from the first certain given name on, if more follows: "Kund Sven Svensson". */
function innerName(name: readonly Word[]): readonly Word[] | null {
  const at = name.findIndex((word, index) => index > 0 && isCertainlyGiven(word));
  if (at < 1 || placeWord.test(`${name[at - 1]?.text} `)) return null;
  const inner = name.slice(at);
  if (inner.some(({ folded }) => words.thingWords.has(folded))) return null;
  return inner;
}

function isBesidePersonal(before: string, start: number, end: number, { text, starts, ends }: Context): boolean {
  const gapBefore = /[\s,;:—–()|/-]{1,4}$/u.exec(before)?.[0].length ?? 0;
  if (gapBefore > 0 && ends.has(start - gapBefore)) return true;
  // Up to a label of a few words: ", phone +27 …", ", hetu 171147-264F"
  for (let at = end; at < Math.min(text.length, end + 30); at++) {
    if (starts.has(at)) return at > end;
    if (at > end && /[\n.!?]/.test(text.charAt(at)) && /\s/.test(text.charAt(at + 1))) return false;
  }
  return false;
}

/** "Park Seo-yeon" */
function isKorean([family, given, ...rest]: readonly Word[]): boolean {
  if (family === undefined || given === undefined || rest.length > 0 || !words.firstFamilyNames.has(family.folded))
    return false;
  return (
    /^\p{Lu}\p{Ll}+-\p{Ll}+$/u.test(given.text) && given.folded.split("-").every((part) => words.syllable.test(part))
  );
}

function isEastAsian(name: readonly Word[]): boolean {
  const [head, ...rest] = name;
  if (head === undefined || rest.length === 0 || rest.length > 3 || !words.firstFamilyNames.has(head.folded))
    return false;
  if (!rest.every(({ folded }) => words.syllable.test(folded) && folded.length < 10)) return false;
  // Two syllables, or the accents of Vietnamese: one syllable is too often a word.
  return (
    rest.length > 1 ||
    /\p{M}/u.test(
      name
        .map(({ text }) => text)
        .join("")
        .normalize("NFD"),
    ) ||
    (rest[0]?.folded.length ?? 0) > 4 ||
    (words.commonChineseNames.has(head.folded) && rest.every((word) => !isOrdinary(word)))
  );
}

const han = String.raw`[\p{Script=Han}々]`;
const kana = String.raw`[\p{Script=Hiragana}\p{Script=Katakana}ー]`;
const withoutCapitals: readonly (readonly [confidence: number, pattern: RegExp])[] = [
  [
    0.93,
    new RegExp(
      String.raw`(?<=(?:姓名|氏名|お名前|名前|担当者?|联系人|聯絡人|收件人|收货人|患者|申请人|申請人|申請者|客户|客戶|お客様|署名|本人|宛先|成员|员工)\s{0,2}(?:[:：は是为]\s{0,2}|\s))(?:${han}{1,3}[ 　](?:${han}|${kana}){1,3}(?!\p{L}{0,8}[:：]|\p{L})|${han}{1,4}(?:${han}|${kana}){1,4}|${kana}{2,8}[ 　・]${kana}{2,8})(?=様|さん|です|[^\p{L}]|$)`,
      "gu",
    ),
  ],
  [
    0.9,
    new RegExp(
      String.raw`(?<=我叫|我是|我的名字是|私は|私の名前は)[${words.chineseFamilyNames}]?${han}{1,3}(?=[^\p{L}]|です|と申|住|，|$)`,
      "gu",
    ),
  ],
  [
    0.9,
    new RegExp(
      String.raw`(?<=^|[^\p{Script=Han}]|[的是给和与由向])[${words.chineseFamilyNames}]${han}{1,2}(?=先生|女士|小姐|老师|老師|经理|經理|医生|醫生|同学)`,
      "gu",
    ),
  ],
  [
    0.9,
    new RegExp(
      String.raw`(?<![\p{Script=Han}])(?!拝啓|前略|株式会社|担当|お客|皆)${han}{2,4}[ 　]?(?:${han}|${kana}){0,3}(?=様|さん|氏(?!\p{L})|殿|くん|ちゃん)`,
      "gu",
    ),
  ],
  [
    0.93,
    /(?<=(?:성명|이름|성함|담당자?|환자|고객|신청인|수신|받는 ?사람|보내는 ?사람)\s{0,2}[:：은는]?\s{0,2})[가-힣]{2,4}(?=[^가-힣]|님|씨|입니다|이고|$)/gu,
  ],
  [
    0.92,
    /(?<![가-힣])[김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원천방공][가-힣]{1,2}(?=\s?(?:님|씨|귀하|선생님|과장|대리|부장|사장|교수)(?:께|의|이|은|는|을|에게|과|께서)?(?![가-힣]))/gu,
  ],
  [
    0.9,
    /(?<=(?:^|[^\p{L}\p{M}])(?:الاسم(?: الكامل)?|اسم (?:المريض|العميل|الزبون)|السيدة?|اسمي|الأستاذة?|الدكتورة?|نام(?: و نام خانوادگی)?|نام خانوادگی|آقای|خانم|نام من|שם(?: מלא| פרטי| משפחה)?|שמי|מר|גב['׳]|ד["״]ר|לכבוד|नाम|मेरा नाम|श्री|श्रीमती|নাম|আমার নাম|பெயர்|పేరు|പേര്|ชื่อ|ชื่อ-นามสกุล|นาย|นางสาว|นาง|คุณ|نام|میرا نام)\s{0,2}[:：]?\s{0,2})[\p{L}\p{M}]{2,20}(?:[ \u00a0][\p{L}\p{M}]{2,20}){1,2}/gu,
  ],
];

function findWithoutCapitals(text: string): PersonalDatum[] {
  return withoutCapitals.flatMap(([confidence, pattern]) =>
    Array.from(
      text.matchAll(pattern),
      (match): PersonalDatum => ({ text: match[0].trim(), start: match.index, kind: "NAME", confidence }),
    ),
  );
}
