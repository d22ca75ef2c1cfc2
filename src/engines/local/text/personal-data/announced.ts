// Personal data that only an announcing word reveals, because their form is that of many other things: passports, plates, accounts,
// passwords, birth dates, ages. The words are those of the languages of Europe and of the most spoken ones elsewhere.

import { passesLuhn } from "../check-digits.ts";
import type { PersonalDatum, PersonalKind } from "./datum.ts";

interface Announced {
  readonly kind: PersonalKind;
  readonly confidence: number;
  /** Sources of patterns; the words ignore case, the datum does not. */
  readonly words: string;
  readonly datum: string;
  /** What may stand between them. Default: words such as "number is" and signs. */
  readonly link?: string;
  readonly isValid?: (text: string) => boolean;
}

// Words and signs such as "number", "no.", "is" and ":" between an announcing word and the datum.
const numberWord =
  "numbers?|no|nr|num|n|nº|n°|n\\.º|№|numero|número|numéro|nummer|nummern|numer|numeru|numera|číslo|broj|szám|номер|numarası|numara|số|code|id|is|was|are|of|the|la|el|le|il|o|ist|lautet|sind|est|es|é|è|er|är|on|jest|je|card|karte|carte|plates?|on file|und|and|は|为|是|番号|번호|号码|號碼";
const link = String.raw`(?:[\s"'(]{0,4}(?:(?i:${numberWord})(?!\p{Script=Latin})\.?|[:：=#–—-])){0,6}[\s"'(]{0,4}`;
const letters = String.raw`\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}`;

const months =
  "(?:jan(?:uary|uar|vier|ner)?|j[äa]nner|feb(?:ruary|ruar)?|f[ée]vr(?:ier)?|mar(?:ch|s|zo|ço|zec|ca)?|m[äa]rz|maart|apr(?:il|ile)?|avril|abril|abr|may|mai|mayo|maio|maggio|mei|maj|maja|june?|juni|juin|junio|junho|giugno|july?|juli|juillet|julio|julho|luglio|aug(?:ust|ustus|usti)?|août|agosto|ago|sept?(?:ember|embre|iembre|iembre)?|setembro|settembre|set|okt(?:ober)?|oct(?:ober|obre|ubre)?|outubro|ottobre|out|ott|nov(?:ember|embre|iembre|embro)?|de[czs](?:ember|embre|iembre|embro)?|décembre|diciembre|dicembre|dic|dez|gennaio|gen|enero|ene|janeiro|febbraio|febrero|fevereiro|stycznia|lutego|marca|kwietnia|czerwca|lipca|sierpnia|wrze[śs]nia|pa[źz]dziernika|listopada|grudnia|ledna|[úu]nora|b[řr]ezna|dubna|kv[ěe]tna|[čc]ervna|[čc]ervence|srpna|z[áa][řr][íi]|[řr][íi]jna|prosince|tammikuuta|helmikuuta|maaliskuuta|huhtikuuta|toukokuuta|kesäkuuta|heinäkuuta|elokuuta|syyskuuta|lokakuuta|marraskuuta|joulukuuta|ocak|[şs]ubat|mart|nisan|mayıs|haziran|temmuz|a[ğg]ustos|eyl[üu]l|ekim|kasım|aralık|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря|січня|лютого|березня|квітня|травня|червня|липня|серпня|вересня|жовтня|листопада|грудня|ianuarie|februarie|martie|aprilie|iunie|iulie|augustus|septembrie|octombrie|noiembrie|decembrie|januari|februari|augusti)";
const date = String.raw`(?:\d{4}[-./]\s?\d{1,2}[-./]\s?\d{1,2}|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)|(?:大正|昭和|平成|令和)\s?\d{1,2}年\s?\d{1,2}月\s?\d{1,2}日|(?i:\d{1,2}-${months}-\d{2,4})|\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4}|(?i:\d{1,2}(?:st|nd|rd|th|er|\.|º|-го)?(?:\s+(?:of|de|d[ie]))?\s+${months}\.?,?(?:\s+(?:de|of|del))?\s+\d{4}|${months}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})|\d{4}年\s?\d{1,2}月\s?\d{1,2}日|\d{4}년\s?\d{1,2}월\s?\d{1,2}일)`;
// Up to the date there may be a place ("nato a Roma il"), but not the end of a sentence.
const untilDate = String.raw`(?:(?![.!?]\s+\p{Lu})[^\d;]){0,45}?`;

const announced: readonly Announced[] = [
  {
    kind: "SECRET",
    confidence: 0.9,
    words:
      "passwords?|passwort|kennwort|passphrase|passwd|pwd|passcode|mot de passe|mdp|contraseña|clave|senha|parola|wachtwoord|lösenord|adgangskode|passord|salasana|has[łl]o|heslo|jelszó|şifre|parol[aă]|пароль|κωδικός|密码|密碼|パスワード|暗証番号|비밀번호|passwd",
    link: String.raw`(?:\s{1,4}(?:is|was|ist|war|lautet|lautete|est|était|es|era|é|è|jest|to|je|är|er|on|este|is nu)\s{1,4}|\s{0,4}[:：=]\s{0,4}|\s{1,4}(?=\S{0,40}[\d!#$%&*_@+]))["'«„“]?`,
    datum: String.raw`[^\s"',;»“”]{4,100}`,
    isValid: (text) => !/^(?:must|should|has|is|reset|policy|and|for|field)$/i.test(text),
  },
  {
    kind: "SECRET",
    confidence: 0.88,
    words: "pass|pw|psw",
    link: String.raw`\s{0,2}[:=]\s{0,2}["']?`,
    datum: String.raw`[^\s"',;»“”]{4,100}`,
    isValid: (text) => /[\d!#$%&*_@+]/.test(text.replace(/[.!?]+$/, "")) && /\p{L}/u.test(text),
  },
  // With what it is for between them: "the password for the router is Maple_88"
  {
    kind: "SECRET",
    confidence: 0.88,
    words:
      "password|passphrase|passwort|kennwort|mot de passe|contraseña|clave|senha|wachtwoord|lösenord|has[łl]o|heslo|пароль",
    link: String.raw`\s[^\d\n.;:=]{2,40}?(?:\s(?:is|ist|lautet|est|es|é|è|jest|je|är)\s|\s?[:=]\s?)["'«„“]?`,
    datum: String.raw`[^\s"',;»“”]{4,100}`,
    isValid: (text) => /[\d!#$%&*_@+]/.test(text.replace(/[.!?]+$/, "")) && /\p{L}/u.test(text),
  },
  {
    kind: "SECRET",
    confidence: 0.9,
    words: String.raw`(?:[\p{L}]{1,20}-)?(?:(?:my|your|the|his|her|our) pin|(?-i:PINs?|PIN-?Code|TAN|CSC|OTP)|CVV2?|CVC2?|pin code|door code|access code|alarm code|gate code|entry code|verification code|security code|code pin|sicherheitscode|zugangscode)`,
    datum: String.raw`\d{3,8}`,
  },
  {
    kind: "SECRET",
    confidence: 0.9,
    words:
      "(?:api|access|auth|secret|private|bearer|refresh|client)[-_ ]?(?:key|token|secret)|token|secret|bearer|authorization",
    link: String.raw`\s{0,4}(?:[:=]|is|bearer)\s{0,4}["']?`,
    datum: String.raw`[\p{L}\d_\-./+]{12,200}={0,2}`,
    isValid: (text) => /\d/.test(text) && /\p{L}/u.test(text),
  },
  {
    kind: "PASSPORT",
    confidence: 0.95,
    words: String.raw`passports?|travel document|pas(?=[ ](?:č|nr|no))|(?:reise)?pass(?=[ -]?(?:nr|nummer|no))|reisepass(?:nummer|nr)?|passeport|pasaporte|passaporto|passaporte|paspoort(?:nummer|nr)?|paszport\p{L}*|pasportu?|cestovn[íi] pas|útlevél\p{L}*|pa[şs]aport|pasaport|passi|pass(?:port)?nummer|(?:загран)?паспорт\p{L}*(?: серия)?|διαβατήριο\p{L}*|护照\p{L}{0,2}|護照\p{L}{0,2}|旅券|パスポート|여권\p{L}{0,2}|جواز السفر|דרכון|hộ chiếu|paspor`,
    link: `${link}(?:[A-Z]{2,3}[ ])?`,
    datum: String.raw`[A-Z]{0,3} ?\d{2} ?\d{2} ?\d{3,6}|[A-Z]{1,3}\d{6,9}|[A-Z]{2}[A-Z\d]{6}\d|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8}|\d{2}[A-Z]{2}\d{5}|[A-Z]{2}[A-Z\d]\d{6}|\d{6,9}|[A-Z]\d{2}[A-Z\d]{5,6}`,
    isValid: hasDigits,
  },
  {
    kind: "DRIVER_LICENSE",
    confidence: 0.93,
    words: String.raw`driv(?:er|ing)(?:['’]?s)? licen[cs]es?|driver licen[cs]e|licen[cs]e (?:no|number)|(?-i:DL)|f[üu]hrerschein(?:-?(?:nr|nummer))?|permis(?: de conduire)?|(?:licencia|carnet|permiso) de conduc\p{L}+|patente(?: di guida)?|carta de condu[çc][ãa]o|carteira de (?:motorista|habilita[çc][ãa]o)|(?-i:CNH)|rijbewijs(?:nummer)?|k[øo]rekort(?:nummer)?|f[øo]rerkort(?:nummer)?|k[öo]rkort(?:snummer)?|ajokortti|prawo jazdy|prawa jazdy|[řr]idi[čc]sk\p{L}+ pr[ůu]kaz\p{L}*|vodi[čc]sk\p{L}+ pr[ea]uk\p{L}*|jogos[íi]tv[áa]ny\p{L}*|permis(?:ul)? de conducere|voza[čc]ka|s[üu]r[üu]c[üu] belgesi|ehliyet|водительск\p{L}+ удостоверени\p{L}+|удостоверение водителя|права|άδεια οδήγησης|運転免許\p{L}{0,3}|驾驶证\p{L}{0,2}|駕照|운전면허\p{L}{0,4}|SIM (?=\d)`,
    datum: String.raw`\d{5}/\d{2}/\d{4}|[A-Z]{1,2}-\d{6,7} \d|\d{2} \d{3} \d{3}|(?:[A-Z]{2} )?[A-Z0-9][A-Z0-9-]{4,19}|[A-Z]{1,2}\d{1,3}(?:[ -]\d{2,4}){2,4}|\d{2} ?[A-Z]{2} ?\d{6}|\d{2} \d{2} \d{6}|\d{3}[ -]\d{3}[ -]\d{3}|\d{5}/\d{2}/\d{4}|[A-Z]{2}[- ]?\d{2}[ ]?\d{11}`,
    isValid: hasDigits,
  },
  // With the holder's name between them: "the passport of Ann Lee is AB123456"
  {
    kind: "PASSPORT",
    confidence: 0.86,
    words: "passports?|reisepass|passeport|pasaporte|passaporto|passaporte|paspoort|paszport",
    link: String.raw`[^\d\n.;:]{1,60}?(?:\s(?:is|ist|lautet|est|es|é|è|jest|no\.?|nr\.?|number|numéro|número|numero)\s|:\s?)`,
    datum: String.raw`[A-Z]{1,3}\d{6,9}|\d{8,9}`,
  },
  {
    kind: "VEHICLE_NUMBER",
    confidence: 0.93,
    words: String.raw`(?-i:VIN)|vehicle identification|ch[aâ]ssis(?: number)?|fahrgestell\p{L}*|(?-i:FIN)|num[ée]ro de s[ée]rie|telaio|bastidor`,
    datum: "[A-HJ-NPR-Z0-9]{17}",
    isValid: hasDigits,
  },
  {
    kind: "LICENSE_PLATE",
    confidence: 0.9,
    words: String.raw`licen[cs]e plates?|tag(?= [A-Z]{2,3} ?\d{3,4})|vehicle(?: reg(?:istration)?)?(?: (?:no|number))?|number plates?|registration(?: plate)?|plates?(?: reads)?|reg\.?|rego|(?:kfz-?)?kennzeichen|plaque(?: d['’]immatriculation)?|immatriculation|immatricul[ée]e?|matr[íi]cula(?:ci[óo]n)?|placas?|targa|targata|chapa|kenteken|nummerplaat|nummerplade|registreringsnummer|reg\.?nr|rekisteri(?:numero|tunnus)|tablice? rejestracyjn\p{L}*|rejestracj\p{L}*|(?:numer|nr)\p{L}* rejestracyjn\p{L}*|nr rej\.?|kontrollschild|skiltnummer|kjennemerke|e[čc]v|(?:nr\.? )?înmatriculare|номер авто\p{L}*|ナンバー|SPZ|[šs]pz|registra[čc]n[íi] zna[čc]k\p{L}*|rendsz[áa]m\p{L}*|num[ăa]r de înmatriculare|registracij\p{L}*|registarsk\p{L}+ \p{L}+|plaka(?:s[ıi])?|гос\.?\s?номер\p{L}*|регистрационный номер|номерной знак|πινακίδα|车牌\p{L}{0,2}|車牌|ナンバープレート|차량번호|번호판`,
    // "EL 48291": the letters of a plate are no article.
    link: link.replace("(?i:", String.raw`(?!(?!N[OR])\p{Lu}{2}[ -]?\d)(?i:`),
    datum: String.raw`\p{Script=Han}{2,4} ?\d{2,3} ?\p{Script=Hiragana} ?\d{1,2}-?\d{2}|\d{2,3}[가-힣] ?\d{4}|[\p{Lu}\d]{1,4}(?:[ -]?[\p{Lu}\d]{1,4}){1,3}|\p{Script=Han}[A-Z]·?[A-Z\d]{5,6}|\d{2,3}[가-힣] ?\d{4}`,
    isValid: (text) => /\d/.test(text) && /\p{L}/u.test(text) && text.length >= 4 && text.length <= 13,
  },
  {
    kind: "LICENSE_PLATE",
    confidence: 0.85,
    words: String.raw`patente|car|van|truck|lorry|bmw|audi|vw|golf|ford|toyota|tesla|transit|opel|vauxhall|skoda|škoda|fiat|renault|peugeot|volvo|auto|wagen|fahrzeug|voiture|v[ée]hicule|coche|veh[íi]culo|carro|macchina|samoch[óo]d\p{L}*`,
    link: String.raw`(?:\s?[:(]\s?|\s(?:with|mit|con|com|avec|,)?\s?)`,
    datum: String.raw`[A-Z]{2}\d{2} [A-Z]{3}|[A-Z]{1,3}-[A-Z]{1,2} \d{1,4}|[A-Z]{2}-\d{3}-[A-Z]{2}|\d{4} [BCDFGHJKLMNPRSTVWXYZ]{3}|[A-Z]{2} \d{3} [A-Z]{2}|[A-Z]{3}\d[A-Z]\d{2}|[A-Z]{2} ?\d{1,2} ?[A-Z]{1,3} ?\d{4}`,
  },
  {
    kind: "ROUTING_NUMBER",
    confidence: 0.94,
    words: "sort(?:[ -]?code)?|(?-i:S/C)",
    datum: String.raw`\d{2}[- ]?\d{2}[- ]?\d{2}`,
  },
  {
    kind: "ROUTING_NUMBER",
    confidence: 0.93,
    words: "bankleitzahl|(?-i:BLZ|BSB|CLABE)|transit(?: number)?",
    datum: String.raw`\d{3}[- ]?\d{3}(?:[- ]?\d{2})?|\d{5}-\d{3}`,
  },
  {
    kind: "SWIFT_CODE",
    confidence: 0.96,
    words: String.raw`(?:SWIFT|BIC)(?:\s?[/-]\s?(?:BIC|SWIFT|Code))?`,
    datum: "[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?",
  },
  {
    kind: "BANK_ACCOUNT",
    confidence: 0.9,
    words: String.raw`(?:bank |checking |savings |current )?account(?: (?:number|no\.?|#))?|acct?|acc\\.? (?=no|nr|num)|a/c|konto(?:nummer|nr)?|kontonr|compte(?: bancaire)?|cuenta(?: bancaria)?|conta(?: corrente| banc[áa]ria)?|c/c|conto(?: corrente)?|rekening(?:nummer|nr)?|bankkonto|tilinumero|tili|rachun(?:ek|ku)|nr konta|bankgiro|plusgiro|[čc][íi]slo [úu][čc]tu|[úu][čc]et|bankszámla(?:szám)?|cont(?:ul)?(?: bancar)?|hesap(?: no)?|р/с|расч[её]тный сч[её]т|сч[её]т|口座番号|账号|帳號|계좌번호|clabe`,
    datum: String.raw`\d(?:[ -]{0,2}\d|\.\d){5,31}(?:/\d{4})?`,
    isValid: (text) => text.replace(/\D/g, "").length >= 6 && !/^\d{4}-\d{2}-\d{2}$/.test(text),
  },
  {
    kind: "TAX_NUMBER",
    confidence: 0.85,
    words:
      "(?-i:TIN|EIN|ITIN)|(?:VAT|tax(?:payer)?)(?: (?:id(?:entification)?|number|no|registration|reg))?|steuer-?(?:nummer|nr)|TVA|UID",
    datum: String.raw`[A-Z]{0,3}\d[\d -]{5,14}\d[A-Z]?`,
  },
  {
    kind: "NATIONAL_ID",
    confidence: 0.82,
    words: String.raw`(?-i:NINO|NI number)|national (?:id(?:entity|entification)?|insurance)(?: (?:card|number|no))?|identity (?:card|number|no|document)|id(?:entity)? card|personal (?:identity|identification) (?:number|code)|carte (?:nationale )?d['’]identit[ée]|CNI|carta d['’]identit[àa]|identiteitskaart|ausweis-?(?:nr|nummer)|personalausweis\p{L}*|doklad totożności|ob[čc]ansk\p{L}+ pr[ůu]kaz\p{L}*|szem[ée]lyi igazolv[áa]ny\p{L}*|buletin|carte de identitate|серия и номер|kimlik|osobn\p{L}+ iskaznic\p{L}*|nacionalni id|ID[- ](?:no|nr|number)`,
    datum: "[A-Z0-9][A-Z0-9 -]{4,17}[A-Z0-9]",
    isValid: (text) => (text.match(/\d/g)?.length ?? 0) >= 4 && !/^\d{4}-\d{2}-\d{2}/.test(text),
  },
  {
    kind: "DEVICE_NUMBER",
    confidence: 0.97,
    words: "IMEI(?:SV)?",
    datum: String.raw`\d{2}[ -]?\d{6}[ -]?\d{6}[ -]?\d{1,2}|\d{6}[ -]\d{2}[ -]\d{6}[ -]\d{1,2}`,
    isValid: (text) => {
      const digits = text.replace(/\D/g, "");
      return digits.length !== 15 || passesLuhn(digits);
    },
  },
  {
    kind: "CARD_EXPIRY",
    confidence: 0.9,
    words: String.raw`exp(?:iry|ires|iration|\.)?(?: date)?|valid (?:thru|until|to)|good thru|gültig bis|ablaufdatum|expire(?: le| fin)?|caduca(?:\s+el)?|vence|válid[oa] (?:até|hasta)|validade|vencimiento|scade(?:nza)?|scad\.|ważna do|платна|godna do|verfällt|validité|validez|caducidad|vencimento|ważność|platnost|geldig tot|verfalldatum|giltig t\.?o\.?m|gyldig til|lejárat|valabil până la|son kullanma`,
    datum: String.raw`(?:0[1-9]|1[0-2])\s?[/-]\s?(?:20\d{2}|\d{2})`,
    isValid: () => true,
  },
  {
    kind: "BIRTH_DATE",
    confidence: 0.94,
    words: String.raw`born|b-?day|date of birth|birth ?(?:date|day)|D\.?O\.?B\.?|née?s?|né\(e\)|date de naissance|naissance|geboren\p{L}*|geb\.|geburtsdatum|geburtstag|nacid[oa]s?|naci[óo]|fecha de nac(?:imiento|\.)|f\. ?nac\.?|nat[oa]|nascit[ao]|nascid[oa]|data (?:di|de) nasc(?:ita|imento)|nasceu|geboortedatum|f[øo]dt|f[øo]dselsdato|f[öo]dd|f[öo]delse(?:datum|dag)|syntynyt|syntym[äa]aika|urodzon[ya]|ur\.|data urodzenia|naroze[nň]\p{L}*|nar\.|datum narozen[íi]|d[áa]tum narodenia|sz[üu]letett|sz[üu]let[ée]si\s?\p{L}*|sz[üu]l\.|n[ăa]scut[ăa]?|data na[șs]terii|do[ğg]um(?: tarihi)?|do[ğg]umlu|ro[đd]en[ao]?|datum ro[đd]enja|rojen[ao]?|родил(?:ся|ась)|дата рождения|г\.?\s?р\.|народи(?:вся|лася)|дата народження|роден[аи]?|дата на раждане|γεννήθηκ\p{L}*|ημερομηνία γέννησης|fæddur|fædd|sündinud|sünniaeg|dzimis\p{L}*|dzimšanas datums|gimė|gimimo data|生年月日|出生(?:日期|年月日)?|生日|생년월일|출생|تاريخ الميلاد|מולד[ת]?|תאריך לידה|ngày sinh|sinh ngày|tanggal lahir|lahir|tarikh lahir|kaarawan|วันเกิด|जन्म(?: तिथि)?`,
    link: untilDate,
    datum: date,
  },
  {
    kind: "AGE",
    confidence: 0.88,
    words:
      "age/sex|aged?|turn(?:ed|s|ing)|alter|âge|edad|età|idade|leeftijd|ålder|alder|ikä|kor|vârsta|wiek|věk|возраст|yaş|年齢|年龄|나이",
    link: String.raw`["']?\s{0,3}[:：=]?\s{0,3}["']?`,
    datum: String.raw`\d{1,3}(?!\s*(?:[-–%:/.,]\d|\+|(?:or|and) (?:older|over|above|under|younger)|to\b|°|\d|(?:percent|euros?|dollars?|km|m|kg|times|pages|degrees)\b))`,
    isValid: isAge,
  },
];

const patterns = announced.map((rule) => ({
  ...rule,
  pattern: new RegExp(
    String.raw`(?<![${letters}\d])(?i:${rule.words})(?![${letters}]{2}|[a-z])\.?${rule.link ?? link}(?<datum>${rule.datum})(?![\p{Script=Latin}\p{N}])`,
    "dgu",
  ),
}));

/** "34 years old", "34-jährige": the words follow the number. */
const ageBefore =
  /(?<![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}.,/-])\d{1,3}(?=(?:[ -]|\s)?(?:(?:years?|yrs?)[ -](?:old|of age)|y\/o\b|yo\b|year-olds?\b|jahre alt|-?jährige?[rsn]?|ans\b(?!\s+(?:d|plus|de))|años(?: de edad)?(?![\p{L}]| de)|anni(?! fa)\b|anos(?: de idade)?(?![\p{L}]| de| atrás)|jaar oud|år gammel|år gammal|-årig\p{L}*|-vuotias\p{L}*|vuotta vanha|lat(?:ek|ka)?(?= i| ma|,)|-lat(?:ek|ka)|let(?:ý|á)|éves|de ani|yaşında|godina star\p{L}*|лет(?=[,. ]|$)|років|歳|才|岁|歲|세(?![가-힣])|살(?![가-힣])))/giu;

/** "Her brothers are 24.": the number ends the clause. */
const ageOfPerson =
  /(?<=(?<!\p{L})(?:he|she|i|who|(?:grand)?(?:mother|father|son|daughter)s?|brothers?|sisters?|wife|husband|partner|twins?|child(?:ren)?|kids?|boys?|girls?|patient|er|sie|ich|sohn|tochter|bruder|schwester|mutter|vater|kind|hij|zij|ze|ik|han|hun|hon|jag|jeg|hän)\s(?:is|are|was|am|ist|bin|war|wird|ben|er|är|on)\s(?:now |only |just |already |erst |jetzt |schon |nur )?|(?<!\p{L})(?:ma|mam|je (?:mu|jí|mi)|ему|ей|мне|їй|йому|мені)\s)\d{1,3}(?=[.,;!?](?:\s|$)|\s(?:jaar|år|lat|let|лет|года?|рік|роки|років)(?!\p{L})|\s(?:and|but|now|today|und)(?!\p{L})|$)/giu;

/** "am 12. März 1958 in Köln geboren": the word follows the date. */
const birthDateBefore = new RegExp(
  String.raw`(?<![\p{L}\p{N}])${date}(?=[^\d\n.;]{0,30}(?:(?<!\p{L})(?:geboren|born|birth ?date|date of birth|DOB|né|née|születet\p{L}*|doğumlu|生まれ|生(?!\p{L})|出生|출생)(?!\p{L})|生まれ|出生|출생|년생))`,
  "giu",
);

/** "*12.08.1977" */
const birthSign = new RegExp(String.raw`(?<=(?:^|[\s(,;])[*✶]\s?)${date}(?!\d)`, "gu");

/** The results may overlap. */
export function findAnnounced(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  for (const { kind, confidence, pattern, isValid } of patterns)
    for (const match of text.matchAll(pattern)) {
      const datum = trimDatum(match.groups?.["datum"] ?? "");
      const start = match.indices?.groups?.["datum"]?.[0] ?? match.index;
      if (datum === "" || isValid?.(datum) === false) continue;
      found.push({ text: datum, start, kind, confidence });
    }
  for (const match of [...text.matchAll(birthDateBefore), ...text.matchAll(birthSign)])
    found.push({ text: match[0], start: match.index, kind: "BIRTH_DATE", confidence: 0.88 });
  for (const match of [...text.matchAll(ageBefore), ...text.matchAll(ageOfPerson)])
    if (isAge(match[0])) found.push({ text: match[0], start: match.index, kind: "AGE", confidence: 0.88 });
  return found;
}

/** Without the punctuation that ends a sentence. */
function trimDatum(datum: string): string {
  return datum.replace(/[.,;:?)]{1,4}$/, "").trimEnd();
}

function hasDigits(text: string): boolean {
  return (text.match(/\d/g)?.length ?? 0) >= 3;
}

function isAge(digits: string): boolean {
  return Number(digits) <= 120;
}
