// Postal addresses. A street with a house number is recognised by its words ("Street", "rue", "-straße") or by the postcode and town that follow.
// The address includes the town, the postcode and the flat or floor. A town without a street is not personal data.

import { cities } from "./cities.ts";
import type { PersonalDatum } from "./datum.ts";
import { fold } from "./name-words.ts";

// Lengths are limited, because otherwise every capital letter of a long run would be read to the end of the run.
const capital = String.raw`\p{Lu}[\p{L}\p{M}'’.-]{0,40}`;
// The second letter is in lower case, to exclude the letters of a postcode.
const townWord = String.raw`(?:\p{Lu}[\p{Ll}'’][\p{L}\p{M}'’-]{0,40}|Sta?\.|Bad|Mt\.)`;
const particle = String.raw`(?:de la|de las|de los|de l['’]|d['’]|l['’]|de|del|della|delle|dei|degli|di|da|do|dos|das|du|des|la|le|les|el|los|las|of|the|van|van de|van den|van der|den|der|ter|ten|op|aan|im|am|an der|ob der|in der|auf der|a\.d\.|i\.|y|e|nad|pod|pri|sur|sous|en|lès|upon|on|bei)`;
const town = String.raw`${townWord}(?:[ ](?:${particle}[ ]){0,2}${townWord}){0,3}(?:\s\d{1,2}(?![\d\p{L}-])|\s[A-ZØ](?!\p{L}|\.\p{L})|/${townWord})?`;
const house = String.raw`[1-9]\d{0,3}(?:[-–/]\d{1,4})?(?:[ -]?[a-zA-Z](?![\p{L}\d:]|\.\s?\d)|[ -](?:bis|ter|quater|hs|huis|I{1,3})(?!\p{L}))?(?:/(?:\d{1,4}[a-zA-Z]?|[a-zA-Z](?!\p{L}))){0,2}(?:(?<=[A-Z])[ ]\d{1,3}(?=,))?`;
/** A flat, a floor, a door. */
const unit = String.raw`(?:(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Fl|Rm|Room|Bldg|Building|Block|Appt|Bât|Bâtiment|étage|Etage|Whg|Wohnung|OG|Top|Stiege|piso|puerta|planta|Piso|Puerta|Apto|apto|Bloco|sala|int|interno|scala|piano|bus|bte|boîte|m|lok|kv|кв|apt|byt|em|fszt|ap|bl|sc|et|lgh|as|th|tv|D|Daire|Kat|No|depto|dpto|Depto|Dpto|of|oficina|Of|bureau|Bureau|porte|esc|kv|кв|корп|оф|стр|под|этаж|вх|ет|ап)(?:[.:]?\s?#?\d[\p{L}\d]{0,4}|(?:[.:]\s?|\s)#?[\p{L}\d]{1,5})(?![\p{L}\d])(?:\s?[-/]\s?\d{1,4}|\s[A-Z](?!\p{L}))?|\d{1,2}(?:r|n|t|è|é)\s\d{1,2}a|\d{1,3}(?:st|nd|rd|th)\s(?:[Ff]loor|Fl\.?)|\d{1,2}\.?[ºª°]\.?(?:\s?(?:[A-Z]|izq|dcha|izda|dto|esq|Izq|Dcha|Izda|Dto|Esq)(?!\p{L})\.?)?|#\s?\d{1,3}(?:-\d{1,4})?|\d{1,2}\.\s?(?:OG|Stock|patro|em|th|tv|sal)\.?)`;
const gap = String.raw`(?:,\s?|\s?\n|[ \u00a0]{1,2}|\s[-–·|]\s)`;
/** Between towns and districts a space is not enough: it also separates the words of a town. */
const lineGap = String.raw`(?:,\s?|\s?\n|[ ][-–][ ])`;
const britishPostcode = String.raw`[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[A-Z]{2}`;
/** A postcode that precedes the town. */
const postcode = String.raw`(?:(?:[A-Z]{1,3}[- ])?(?:\d{5}-\d{3}|\d{5}|\d{4}[ ]?[A-Z]{2}|\d{4}-\d{3}|\d{4}|\d{3}[ ]\d{2}|\d{2}-\d{3}|\d{6})|[A-Z]\d{4}[A-Z]{0,3})(?![\d\p{L}])`;
/** A state or county and a postcode that follow the town. */
const after = String.raw`(?:[A-Z]{2,3},?[ ]{1,2}(?:\d{5}(?:-\d{3,4})?|\d{4})|(?!19|20)\d{4}(?=[.,;\s]|$)|(?:(?:[A-Z]{2},?|\(${townWord}\))[ ]{1,2})?[A-Z]\d[A-Z][ ]?\d[A-Z]\d|(?:(?:Co\.|County)[ ]${townWord},?[ ])?(?:[A-Z]\d[\dW][ ]?[A-Z\d]{4}|${britishPostcode})|(?:Co\.|County)[ ]${townWord}|[A-Z][\p{Ll}]{2,20}[ ]\d{5}(?:-\d{4})?|\d{6}|\d{3}[ ]\d{3}|[A-Z]{2}-\d{4,5}|\d{7}|[A-Z]{2,3}(?!-\d)|[-–][ ]?\d{6}|[A-Z]{2}-\d{4,5}|\d{7})(?![\p{L}\d])`;
const place = String.raw`(?:${gap}(?:${postcode}[ ]${town}(?:[ ]\((?:\p{L}{2})\)|[ ][A-Z]{2}(?![\p{L}]))?|(?:${town}${lineGap}){0,3}(?:${town}(?:${gap}|[ ])${after}|${britishPostcode}|${after})))`;
/** Without a postcode a town is part of the address too, after a comma. */
const townOnly = String.raw`(?:,[ ]${town}(?![\p{L}\d]))`;
const district = String.raw`(?:,\s(?:Col\.|Colonia|Barrio|Bairro|Urb\.|Fracc\.|Mah\.)\s${town})`;
const ending = String.raw`(?:(?:,\s?|\s)${unit}){0,4}${district}?(?:${place}|${townOnly})?`;

const englishStreet =
  "(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Terrace|Ter|Close|Crescent|Cres|Quay|Place|Pl|Way|Parkway|Pkwy|Highway|Hwy|Gardens|Gdns|Grove|Row|Mews|Hill|Walk|Circle|Cir|Alley|Trail|Trl|Loop|Wharf|Parade|Promenade|Esplanade|Green|Rise|View|Vale|Park|Yard|Gate|Chase|Turnpike|Pike|Plaza|Point|Ridge|Run|Marg|Nagar|Colony|Layout|Cross|Main)";
const romanceStreet =
  "(?:rue|Rue|boul\\.|Boul\\.|blvd|avenue|Avenue|av\\.|Av\\.|boulevard|Boulevard|bd|Bd|place|Place|quai|Quai|chemin|Chemin|allée|Allée|impasse|Impasse|route|Route|cours|Cours|square|Square|passage|Passage|ruelle|Ruelle|sentier|Sentier|faubourg)";
const prefixedStreet =
  "(?:Calle|calle|C/|Avda?\\.|Avenida|avenida|Av\\.|Plaza|plaza|Pza\\.|Paseo|paseo|Pº|Carrera|Cra\\.|Cl\\.|Camino|Ronda|Travesía|Carretera|Via|via|V\\.le|Viale|viale|Piazza|piazza|P\\.zza|Corso|corso|Largo|largo|Vicolo|vicolo|Strada|Rua|rua|R\\.|Praça|praça|Travessa|travessa|Alameda|alameda|Estrada|Rodovia|Beco|Calçada|ul\\.|Ul\\.|ulica|al\\.|Al\\.|aleja|os\\.|pl\\.|Pl\\.|Str\\.|str\\.|Strada|Bd\\.|Bulevardul|Calea|Șos\\.|Aleea|ulice|nám\\.|náměstí|námestie|tř\\.|třída|ул\\.|улица|вул\\.|вулиця|пр\\.|пр-т|просп\\.|проспект|пер\\.|бул\\.|бульвар|наб\\.|ш\\.|шоссе|пл\\.|Οδός|οδός|Λεωφ\\.|Λεωφόρος|Jalan|Jl\\.|Jln|Lorong|Carrer|carrer|Rambla|Avinguda|Straat|Rúa|Κ\\.|Jr\\.|Jirón|Trg|Obala|Pasaje|Psje\\.|Boulevard|Bulevar|Blvd\\.|Rambla|Polígono)";
const suffixedStreet = String.raw`\p{Lu}[\p{L}\p{M}'’.-]{0,40}(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer|ring|stieg|steig|graben|markt|hof|berg|straat|laan|plein|gracht|kade|dijk|singel|steeg|dreef|baan|lei|gatan|vägen|gränd|torget|stigen|gata|veien|vegen|gate|gaten|plass|bakken|gade|vej|vænget|stræde|allé|torv|katu|tie|kuja|polku|tori|utca|körút|tér|stræti|gata|braut|vegur)`;
const hungarianStreet = String.raw`(?:\p{Lu}[\p{L}]{1,30}[ ]){1,3}(?:utca|út|körút|tér|u\.|krt\.|sokak|Sokak|Sok\.|Cad\.|Caddesi|caddesi|Cd\.|Sk\.|Mah\.|Mahallesi|Bulvarı|gatve|iela|tänav|mnt|pst|g\.|pr\.|gt\.|katu|ulica|ulice|náměstí|námestie|nábřeží|třída|trg|cesta|gate|gata|vei|veg|vej|gade|gatan|vägen|tie|allé|plass|plads|torg|проспект|переулок|бульвар|улица|площадь|набережная|шоссе|проезд|вулиця|провулок|площа)`;

const patterns: readonly (readonly [confidence: number, pattern: RegExp])[] = [
  // 12 Regent Quay, Aberdeen AB11 5BE
  [
    0.93,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}.,/-])(?:(?:Flat|Unit|Apt\.?|Apartment|Suite|No\.?)\s\d{1,4}[A-Za-z]?,\s)?\d{1,5}[A-Za-z]?(?:[-/]\d{1,4})?,?\s(?:(?:${capital}|\d{1,3}(?:st|nd|rd|th))\s){0,4}(?:(?:${capital}|\d{1,3}(?:st|nd|rd|th))\s)${englishStreet}(?!\p{L})\.?(?:\s(?:North|South|East|West|N|S|E|W|NE|NW|SE|SW|Upper|Lower|\d{1,2})(?!\p{L}))?${ending}`,
      "gu",
    ),
  ],
  // 27 bis avenue des Tilleuls, 69003 Lyon
  [
    0.92,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}.,/-])${house},?\s${romanceStreet}\s(?:${particle}\s?){0,2}${capital}(?:[ ](?:${particle}[ ])?${capital}){0,4}${ending}`,
      "gu",
    ),
  ],
  // Calle de la Luna 8, 3º B, 28004 Madrid; ul. Długa 14/5, 31-147 Kraków
  [
    0.92,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])${prefixedStreet}\s?(?:(?:${particle}|bana|kneza|kralja|svetog)\s?){0,3}[„"«]?(?:${capital}|\d{1,2}(?=\s\p{L}))(?:[ ](?:${particle}[ ]){0,2}(?:${capital}|\d{1,2}(?=\s\p{L}))){0,4}[“”"»]?,?\s(?:n[º°.]{0,2}\s?|nr\.?\s?|№\s?|No:?\s?|č\.\s?|д\.\s?|буд\.\s?|s/n)?(?:${house})(?:,?\s(?:kv|кв)\.\s?\d{1,4})?${ending}`,
      "gu",
    ),
  ],
  // Lindwurmstraße 88, 80337 München; Vesterbrogade 41, 1620 København V
  [
    0.92,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${capital}[ ]){0,3}(?:${suffixedStreet}|${capital}[ ](?:Straße|Strasse|Str\.|Weg|Platz|Allee|Gasse|Ring|Damm|Ufer))\s${house}${ending}`,
      "gu",
    ),
  ],
  [
    0.92,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\p{Lu}\p{L}{1,30}[ ]Mah(?:\.|allesi),?[ ])?${hungarianStreet},?\s(?:No:?\s?|д\.\s?|буд\.\s?)?${house}\.?${ending}`,
      "gu",
    ),
  ],
  // Korunní 56, 120 00 Praha 2: any words, but only with a postcode and a town.
  [
    0.9,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:(?:pod|nad|op|aan|am|im|an der|in der|auf der)\s|(?:Am|Im|An der|Auf der|In der|Zum|Zur|Unter den|Van|De|Het|'t|C/o|Kv\.)\s)?${capital}(?:[ ](?:${particle}[ ]){0,2}${capital}){0,4},?\s(?:n[º°.]?\s?)?${house}(?:(?:,\s?|\s)${unit}){0,2}${gap}${postcode}[ ]${town}`,
      "gu",
    ),
  ],
  // 1011 Budapest, Fő utca 12.
  [
    0.935,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])\d{4}\s${town},\s${hungarianStreet}\s\d{1,4}(?:[-/]\d{1,4})?\.?(?:,?\s(?:[IVX]{1,4}\.?|\d{1,2}\.?|fszt\.)(?:/|\sem\.\s?)\d{1,3}\.?)?`,
      "gu",
    ),
  ],
  // King Fahd Road 7433, Riyadh 12271
  [
    0.9,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${capital}[ ]){1,4}(?:Road|Street|Avenue|Boulevard|Highway)\s\d{1,5}${place}`,
      "gu",
    ),
  ],
  // 1-2-3 Shibuya, Shibuya-ku, Tokyo 150-0002
  [
    0.93,
    /(?<![\p{L}\p{N}-])\d{1,3}(?:-\d{1,3}){1,2}(?:-\d{1,4})?,?\s\p{Lu}[\p{L}-]{1,25}(?:,\s\p{Lu}[\p{L}-]{1,25}){1,3}(?:,?\s〒?\d{3}-\d{4})(?!\d)/gu,
  ],
  // Ballymacarbry, Co. Waterford E91 X5R2
  [
    0.92,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${town},\s){1,3}(?:Co\.|County)[ ]${townWord},?[ ][A-Z]\d[\dW][ ]?[A-Z\d]{4}(?![\p{L}\d])`,
      "gu",
    ),
  ],
  // No. 12, Jalan Bukit Bintang, 55100 Kuala Lumpur
  [
    0.93,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:(?:No\.?|Lot|Unit)\s?)?\d{1,4}[A-Z]?(?:-\d{1,4})?,\s(?:Jalan|Jln\.?|Lorong|Persiaran|Taman)\s${capital}(?:\s(?:${capital}|\d{1,3}/?\d{0,3}[A-Z]?)){0,4}${ending}`,
      "gu",
    ),
  ],
  // Flat 402, Shanti Apartments, MG Road, Pune 411001
  [
    0.93,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:(?:Flat|House|H\.?\s?No|Plot|Door|Villa|Shop|Apt|Apartment|Unit|D\.?\s?No)\.?\s?(?:No\.?\s?)?#?\d{1,5}(?:[/-]\d{1,4}){0,2}[A-Z]?|[A-Z]-?\d{1,4}(?:/\d{1,4})?|\d{1,4}/[A-Z\d]{1,4})(?:,\s(?:${capital}|\d{1,3}(?:st|nd|rd|th)?)(?:\s(?:${capital}|\d{1,3})){0,4}){1,5}(?:\s|,\s|\s?[-–]\s?)\d{3}\s?\d{3}(?!\d)`,
      "gu",
    ),
  ],
  [
    0.93,
    /(?:香港|九龍|新界|(?:台|臺)(?:北|中|南)市|高雄市|新北市|桃園市)\p{Script=Han}{2,16}[\d０-９]{1,4}號(?:[\d０-９]{1,3}樓)?(?:之?[\d０-９]{1,3}室?)?/gu,
  ],
  // Blk 412 Bedok North Ave 2 #08-115, Singapore 460412
  [
    0.93,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:Blk|Block|BLK)\s\d{1,4}[A-Z]?,?\s${capital}(?:\s(?:${capital}|\d{1,3})){0,5}(?:,?\s#\d{1,3}-\d{1,4}[A-Z]?)?(?:,?\sSingapore\s\d{6})?`,
      "gu",
    ),
  ],
  // Laugavegur 26, 101 Reykjavík
  [
    0.93,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])\p{Lu}\p{L}{2,30}(?:vegur|gata|stræti|braut|stígur|holt|gerði|tún|hlíð)\s${house},\s\d{3}[ ]${town}`,
      "gu",
    ),
  ],
  // Calle 72 # 10-34, Bogotá; Carrera 7 No. 45-12
  [
    0.93,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:Calle|Cll?\.?|Carrera|Cra\.?|Kra\.?|Avenida|Av\.?|Transversal|Diagonal)\s\d{1,3}[A-Z]?(?:\s(?:Bis|Sur|Norte|Este|Oeste))?\s?(?:#|No\.?|N[°º]\.?)\s?\d{1,3}[A-Z]?\s?-\s?\d{1,3}(?:,\s${unit}){0,2}${townOnly}?`,
      "gu",
    ),
  ],
  // House 14, Road 7, Dhanmondi, Dhaka 1205
  [
    0.93,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:House|Plot|Flat|Holding)\s(?:(?:No\.?|#)\s?)?\d{1,4}(?:[-/]?[A-Z\d]{1,3})?,\s(?:Road|Street|Lane|Sector|Block|Avenue|Gali)\s(?:(?:No\.?|#)\s?)?[A-Z\d][\d/A-Z-]{0,5}(?:,\s(?:${town}|[A-Z]-\d{1,2}(?:/\d{1,2})?)){1,4}(?:[ -]\d{4,6}(?!\d))?`,
      "gu",
    ),
  ],
  // The Old Rectory, Church Lane, Little Bardfield, Essex CM7 4TW
  [
    0.935,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:(?:The\s)?${capital}(?:[ ]${capital}){0,3},\s)(?:${capital}[ ]){1,3}${englishStreet}(?:,\s${town}){0,3},?\s${britishPostcode}(?![\p{L}\d])`,
      "gu",
    ),
  ],
  // 25 Lê Lợi, Quận 1, TP. Hồ Chí Minh
  [
    0.94,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:[Ss]ố\s)?\d{1,4}(?:/\d{1,4}){0,2}[A-Z]?\s(?:(?:đường|phố|Đường|Phố)\s)?${capital}(?:[ ](?:${capital}|\d{1,2})){0,4}(?:,\s(?:(?:[Pp]hường|P\.|[Qq]uận|Q\.|[Hh]uyện|[Tt]hành phố|TP\.?|[Tt]ỉnh|[Xx]ã)\s?(?:\d{1,2}|${capital}(?:[ ]${capital}){0,3}))){1,4}(?:,\s(?:Hà Nội|Hồ Chí Minh|Đà Nẵng|Hải Phòng|Cần Thơ))?`,
      "gu",
    ),
  ],
  // г. Санкт-Петербург, Невский пр., д. 28, кв. 5
  [
    0.93,
    /(?<![\p{L}\p{N}])(?:(?:г|м|гр)\.\s?\p{Lu}[\p{L}-]{2,30},\s)?\p{Lu}[\p{L}-]{2,30}(?:\s\p{Lu}[\p{L}-]{2,30})?\s(?:пр|ул|пер|ш|наб|бул|пл|просп|вул)\.,?\s(?:д\.\s?|буд\.\s?)?\d{1,4}[а-яА-Я]?(?:\/\d{1,3})?(?:,\s(?:корп|стр|кв|оф)\.\s?\d{1,4}){0,3}/gu,
  ],
  [
    0.92,
    new RegExp(
      String.raw`(?<!\p{L})[Ll]ieu-dit\s(?:(?:Le|La|Les|L['’])\s?)?${capital}(?:[ ]${capital}){0,3},\s\d{5}[ ]${town}`,
      "gu",
    ),
  ],
  // רחוב הרצל 15, תל אביב; شارع الملك فهد 12، الرياض
  [
    0.9,
    /(?<![\p{L}\p{N}])[בל]?(?:רחוב|רח['׳]|שדרות|שד['׳])\s[\u05d0-\u05ea"״'׳]{2,20}(?:\s[\u05d0-\u05ea"״'׳]{2,20}){0,2}\s\d{1,4}(?:\/\d{1,3})?(?:,\s[\u05d0-\u05ea]{2,15}(?:\s[\u05d0-\u05ea]{2,15})?)?/gu,
  ],
  [
    0.9,
    /(?<![\p{L}\p{N}])(?:\d{1,4}\s)?شارع\s\p{Script=Arabic}{2,20}(?:\s\p{Script=Arabic}{2,20}){0,3}(?:\s\d{1,4})?[،,]\s\p{Script=Arabic}{3,15}/gu,
  ],
  [
    0.92,
    /(?<![\p{L}\p{N}])P\.?\s?O\.?\s?Box\s+\d{1,6}(?:-\d{5})?(?!\d)(?:,\s\p{Lu}\p{Ll}[\p{L}'’-]{1,30}(?:\s\p{Lu}\p{Ll}[\p{L}'’-]{1,30})?(?:,?\s(?:[A-Z]{2}\s)?\d{4,5}(?!\d))?)?|(?<!\p{L})Postfach\s\d[\d ]{1,7}\d(?:,\s\d{5}\s\p{Lu}\p{L}{1,40})?|(?<!\p{L})(?:B\.?P\.?|Apartado(?: de Correos)?|Casella Postale|Caixa Postal|Postbus|Boîte postale)\s\d{1,6}(?!\d)/gu,
  ],
  // 東京都港区芝公園4丁目2番8号, 北京市朝阳区建国路88号, 서울특별시 강남구 테헤란로 152
  [
    0.93,
    /(?:〒\s?\d{3}-?\d{4}\s{0,2})?(?:東京都|北海道|京都府|大阪府|\p{Script=Han}{2,3}県)[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ーヶ々\d０-９-]{2,40}?[\d０-９一二三四五六七八九十]{1,4}(?:(?:丁目|番地?|号|[-－−‐ー])[\d０-９]{0,4}){1,5}(?:号室|号)?(?:の\d{1,4})?/gu,
  ],
  [
    0.93,
    /(?:(?:(?![省市])\p{Script=Han}){2,7}(?:省|自治区))?(?:(?!市)\p{Script=Han}){2,6}市(?:(?:(?![区县區縣市])\p{Script=Han}){1,8}[区县區縣市])?[\p{Script=Han}\d]{2,20}[\d０-９]{1,5}(?:号|號|弄)(?:[\p{Script=Han}\d]{0,10}?\d{1,5}(?:室|号|楼|單元|单元|座|栋)){0,3}/gu,
  ],
  [
    0.93,
    /[가-힣]{1,6}(?:특별시|광역시|특별자치시|특별자치도|시|도)\s(?:[가-힣]{1,6}[시군구]\s){1,2}[가-힣\d]{1,12}(?:로|길|동|대로)(?:\s?\d{1,4}(?:번길)?)?\s?\d{1,5}(?:-\d{1,4})?(?:,?\s\d{1,4}[동호층]){0,3}/gu,
  ],
];

/** Words that announce an address, whose form we may not know: the line or the sentence up to its end. */
const announced =
  /(?<![\p{L}])(?:(?:(?:home|postal|mailing|billing|shipping|delivery|street|residential|permanent)\s)?address|\p{L}{0,12}adresse|\p{L}{0,10}anschrift|adres(?:s|a|ă)?|adresa|adressen?|osoite|cím|lakcím|domicilio|direcci[óo]n|morada|endereço|indirizzo|adreça|alamat|địa chỉ|адрес[аи]?|адреса|διεύθυνση|住所|地址|주소|العنوان|כתובת|पता)\s?(?:is\s|ist\s|lautet\s|est\s|es\s|[:：])\s{0,3}(?<datum>[^\n;：]{8,120})/giu;

/** The results may overlap. */
export function findAddresses(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  for (const [confidence, pattern] of patterns)
    for (const match of text.matchAll(pattern)) {
      const start =
        match.index - (unitBefore.exec(text.slice(Math.max(0, match.index - 60), match.index))?.[0].length ?? 0);
      const end = extend(text, match.index + withoutEnd(match[0]).length);
      found.push({ text: text.slice(start, end), start, kind: "ADDRESS", confidence });
    }
  for (const match of text.matchAll(unitAndTown)) {
    const parts = match[0].split(", ");
    const last = parts.findLastIndex((part) => cities.has(fold(part)));
    if (last > 1)
      found.push({ text: parts.slice(0, last + 1).join(", "), start: match.index, kind: "ADDRESS", confidence: 0.92 });
  }
  for (const match of text.matchAll(announced)) {
    const datum = match.groups?.["datum"] ?? "";
    // It ends before the next field or sentence.
    const address = withoutEnd(
      datum.split(
        /[.。](?=\s|$)(?<!\b\p{L}{1,4}\.)|\s(?=\p{L}+[:：])|,\s(?=(?:tel|phone|mobile|e-?mail|fax)\b)/iu,
        1,
      )[0] ?? "",
    );
    if (!/\d/.test(address) || !/\p{L}{3}/u.test(address) || /@|https?:/.test(address)) continue;
    const start = match.index + match[0].length - datum.length;
    // A name may come first.
    const isCertain = /^[^,]*\d/.test(address) && !isProse(address);
    found.push({ text: address, start, kind: "ADDRESS", confidence: isCertain ? 0.945 : 0.75 });
  }
  // Without the space it looks like any code.
  for (const match of text.matchAll(new RegExp(String.raw`(?<![\p{L}\p{N}])${britishPostcode}(?![\p{L}\p{N}])`, "gu")))
    if (match[0].includes(" ")) found.push({ text: match[0], start: match.index, kind: "POSTCODE", confidence: 0.6 });
  return found;
}

/** The texts before a house number: "Unit ", "Villa 24, ", "Room 1203, No. ", "Flat A, 12/F, Wharf House, " */
const unitBefore =
  /(?<![\p{L}\p{N}])(?:(?:(?:Flat|Unit|Apt|Apartment|Suite|Room|Villa|Shop|Office|Level|Floor|Building|Bldg|Tower|Block|Plot|Door|No|Lane|Section|Bât|Bâtiment|Apto|Appartement|Appt)\.?\s(?:(?:No\.?\s?)?#?(?:\d{1,5}[A-Za-z]?(?:[-/]\d{1,4})?|[A-Z]),\s)?|\d{1,2}\/(?:F|\d),\s)|(?:\p{Lu}[\p{L}'’]{1,20}[ ]){1,3}(?:House|Court|Building|Towers?|Apartments|Mansions?|Lodge|Heights|Residency|Plaza|Cottage|Farm|Farmhouse|Barn|Hall|Manor|Mill|Villa|Grange|Rectory|Vicarage|Chambers|Buildings),\s|The(?:[ ]\p{Lu}[\p{L}'’]{1,20}){1,3},\s|Résidence(?:[ ](?:\p{Lu}[\p{L}'’]{1,20}|des?|du|la|les)){1,4},\s){0,4}(?:(?:No|Nr)\.\s?)?$/u;
/** "Office 804, Al Manara Tower, Business Bay, Dubai": an address only if it ends with a known town. */
const unitAndTown =
  /(?<![\p{L}\p{N}])(?:Flat|Unit|Apartment|Suite|Room|Villa|Shop|Office|Building|Plot|House)\s(?:No\.?\s?)?#?\d{1,5}[A-Z]?(?:,\s(?:Street\s\d{1,4}|\p{Lu}[\p{L}'’-]{1,20}(?:[ ](?:\p{Lu}[\p{L}'’-]{1,20}|\d{1,2})){0,3})){2,5}(?![\p{L}\p{N}])/gu;

/** The end of the address with further towns, which are known as such, and a postcode after them. */
function extend(text: string, start: number): number {
  let end = start;
  for (;;) {
    const rest = text.slice(end, end + 80);
    const lastWord = /[\p{L}\p{M}-]+$/u.exec(text.slice(start - 30, end))?.[0] ?? "";
    const postcode = cities.has(fold(lastWord)) ? nextPostcode.exec(rest)?.[0] : undefined;
    const next = postcode ?? nextTowns.map((pattern) => pattern.exec(rest)?.[0]).find(isKnownTown);
    if (next === undefined) return end;
    end += next.length;
  }
}

function isKnownTown(text: string | undefined): boolean {
  return text !== undefined && cities.has(fold(text.replace(/^,\s/u, "")));
}

/** Of three words, two or one. */
const nextTowns = [2, 1, 0].map(
  (count) =>
    new RegExp(String.raw`^,\s\p{Lu}[\p{L}\p{M}-]{2,30}(?: [\p{L}\p{M}-]{2,30}){${count}}(?![\p{L}\p{N}-])`, "u"),
);
const nextPostcode = /^,?\s(?:\d{3}\s\d{3}|\d{4,6})(?![\p{L}\p{N}])/u;

/** Addresses have few long words in lower case. */
function isProse(text: string): boolean {
  return (
    (text.match(/(?<![\p{L}.-])\p{Ll}[\p{L}\p{M}]{3,}(?![.\p{L}])/gu)?.length ?? 0) > 1 || text.split(" ").length > 14
  );
}

function withoutEnd(address: string): string {
  return address.replace(/[\s,.;:(–-]{1,8}$/u, "");
}
