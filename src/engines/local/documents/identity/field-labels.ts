// The labels of fields on identity documents. Case and accents are ignored, and a phrase matches whole words only. Brackets and slashes separate
// words: "Surname(s)" is listed as "surname s", and "Né(e) le" as "né e le".

export type LabelledField =
  | "last_name"
  | "given_names"
  /** A surname, given names or a full name, depending on the other labels of the document. */
  | "name"
  | "full_name"
  /** A full name that begins with the surname, as its label states: "Surname and given names". */
  | "full_name_surname_first"
  | "birth_date"
  | "birth_place"
  /** A date and a place in one field: "born on … in …". */
  | "birth_date_place"
  | "issuance_date"
  | "expire_date"
  | "document_id"
  /** The number of the person, which is returned as the number of a document that shows no other. */
  | "person_id"
  | "nationality"
  | "gender"
  | "address"
  | "issuing_state"
  /** Its value is not returned. The label still marks where the value before it ends. */
  | "other";

/** Phrases by field, separated by `|`. The inner keys only group them: by language, or by region for languages with few phrases. */
export const fieldLabels: Readonly<Record<LabelledField, Readonly<Record<string, string>>>> = {
  last_name: {
    en: "surname|surnames|surname s|last name|last names|family name|ln|primary identifier",
    de: "nachname|familienname|nachnamen",
    fr: "nom|noms|nom de famille|nom s",
    es: "apellidos|apellido|primer apellido|apellido s",
    it: "cognome|cognomi",
    pt: "apelido|apelidos|apelido s|sobrenome|sobrenomes",
    nl: "naam|achternaam|familienaam|geslachtsnaam",
    pl: "nazwisko|nazwiska",
    nordic: "efternamn|efternavn|etternavn|sukunimi|eftirnafn",
    central: "příjmení|priezvisko|családi név|vezetéknév|priimek|prezime|perekonnanimi|uzvārds|pavardė",
    south: "nume|numele|nume de familie|soyadı|soyad|επώνυμο|kunjom|mbiemri",
    east: "фамилия|прізвище|презиме|прозвішча",
    asia: "姓|성",
  },
  given_names: {
    en: "given names|given name|given name s|first name|first names|first name s|forename|forenames|forename s|christian names|fn|secondary identifier|other names|first and middle names",
    de: "vorname|vornamen|vorname n",
    fr: "prénom|prénoms|prénom s",
    es: "nombres|nombre s",
    it: "nomi|prenome|prenomi|nome i",
    pt: "nome s próprio s|nomes próprios|nome próprio|nomes|prenomes",
    nl: "voornaam|voornamen|voorna a m en",
    pl: "imię|imiona|imię imiona",
    nordic: "förnamn|fornavn|fornavne|etunimet|etunimi|eiginnafn",
    central: "jméno|jména|meno|mená|utónév|utónevek|keresztnév|ime|eesnimed|eesnimi|vārds|vārdi|vardas|vardai",
    south: "prenume|prenumele|adı|ad|όνομα|isem|emri",
    east: "имя|ім'я|име|отчество",
    asia: "名|이름",
  },
  name: { en: "name", es: "nombre", it: "nome", de: "namen" },
  full_name: {
    en: "full name|name of holder|holder|name in full|holder's name|cardholder",
    es: "nombre completo|nombre y apellidos",
    pt: "nome completo|nome e sobrenome",
    fr: "nom complet",
    de: "vollständiger name",
    it: "nome e cognome",
  },
  full_name_surname_first: {
    en: "surname name|surname given names|surname first name|surname and name|surname and given name|surname and given names|surname and first name|family name and given name|family name and given names",
    es: "apellidos y nombres",
    fr: "nom et prénom|nom et prénoms",
    de: "name und vorname|name vorname|nachname vorname",
    it: "cognome e nome",
    central: "családi és utónév",
    asia: "姓名|氏名|성명",
  },
  birth_date: {
    en: "date of birth|birth date|birthdate|dob|born|born on|d o b",
    de: "geburtsdatum|geburtstag|geboren am|geb am|geboren",
    fr: "date de naissance|date de naiss|né e le|né le|née le|date naissance",
    es: "fecha de nacimiento|fecha nacimiento|fec nac|f nacimiento|nacimiento",
    it: "data di nascita|nato a il|nato il|nata il|nascita",
    pt: "data de nascimento|data nascimento|nascimento",
    nl: "geboortedatum|geboren op",
    pl: "data urodzenia",
    nordic: "födelsedatum|födelsetid|fødselsdato|født|fødselsdag|syntymäaika|fæðingardagur",
    central:
      "datum narození|dátum narodenia|születési idő|születési dátum|született|datum rojstva|datum rođenja|sünniaeg|dzimšanas datums|gimimo data",
    south: "data nașterii|doğum tarihi|ημερομηνία γέννησης|ημ γέννησης|data tat twelid|datëlindja",
    east: "дата рождения|дата народження|дата на раждане|день рождения",
    asia: "出生日期|生年月日|생년월일|出生",
  },
  birth_place: {
    en: "place of birth|birth place|birthplace|pob|city of birth|country of birth",
    de: "geburtsort|geboren in",
    fr: "lieu de naissance|né e à|née à|né à|lieu naissance",
    es: "lugar de nacimiento|lugar nacimiento",
    it: "luogo di nascita|nato a|nata a",
    pt: "local de nascimento|naturalidade|lugar de nascimento",
    nl: "geboorteplaats|plaats van geboorte",
    pl: "miejsce urodzenia",
    nordic: "födelseort|fødested|syntymäpaikka|fæðingarstaður",
    central:
      "místo narození|miesto narodenia|születési hely|kraj rojstva|mjesto rođenja|sünnikoht|dzimšanas vieta|gimimo vieta",
    south: "locul nașterii|loc naștere|doğum yeri|τόπος γέννησης|vendlindja",
    east: "место рождения|місце народження|място на раждане",
    asia: "出生地|출생지",
  },
  birth_date_place: {
    en: "date and place of birth|place and date of birth|born on and at",
    de: "geburtstag und ort|geburtsdatum und ort|geburtstag und geburtsort|geburtsdatum und geburtsort",
    fr: "date et lieu de naissance",
    es: "fecha y lugar de nacimiento|lugar y fecha de nacimiento",
    it: "luogo e data di nascita|data e luogo di nascita",
    pt: "data e local de nascimento|local e data de nascimento",
    nl: "geboortedatum en plaats|plaats en datum van geboorte",
    pl: "data i miejsce urodzenia",
  },
  issuance_date: {
    en: "date of issue|date issued|issue date|issued|issued on|issuing date|issuing|iss|date of issuance|valid from",
    de: "ausstellungsdatum|ausgestellt am|tag der ausstellung|ausstellungstag|datum|ausstellung",
    fr: "date de délivrance|délivré le|délivrée le|date d'émission|date d'établissement|délivré e le",
    es: "fecha de expedición|fecha de emisión|fecha expedición|emisión|expedición|expedido",
    it: "data di rilascio|rilasciato il|data rilascio|rilasciata il|data di emissione|emissione",
    pt: "data de emissão|data emissão|data de expedição|emitido em|data da emissão|data da expedição",
    nl: "datum van afgifte|afgiftedatum|afgegeven op|datum afgifte|datum van verstrekking|verstrekkingsdatum",
    pl: "data wydania|data wystawienia",
    nordic:
      "utfärdandedatum|utfärdad|utgivningsdatum|udstedelsesdato|udstedt|utstedt|utstedelsesdato|myönnetty|myöntämispäivä|antopäivä",
    central:
      "datum vydání|dátum vydania|kiállítás dátuma|kiállítás kelte|datum izdaje|datum izdavanja|välja antud|väljaandmise kuupäev|izdošanas datums|išdavimo data",
    south:
      "data eliberării|data emiterii|eliberat la|veriliş tarihi|verildiği tarih|düzenlenme tarihi|ημερομηνία έκδοσης|data e lëshimit",
    east: "дата выдачи|дата видачі|дата на издаване",
    asia: "签发日期|发证日期|交付年月日|발급일",
  },
  expire_date: {
    en: "date of expiry|expiry date|expiration date|expires|expires on|expiry|exp|valid until|valid till|valid to|valid thru|date of expiration|date expires|validity",
    de: "gültig bis|ablaufdatum|gültigkeit|gültig bis zum",
    fr: "date d'expiration|date d'expir|expire le|valable jusqu'au|valable jusqu'à|expiration|fin de validité|date de fin de validité|date d'échéance",
    es: "fecha de caducidad|fecha de vencimiento|válido hasta|validez|caducidad|vence|vencimiento|fecha de expiración|vigencia",
    it: "data di scadenza|scadenza|valida fino al|valido fino al",
    pt: "data de validade|validade|válido até|data validade|válida até|data de caducidade",
    nl: "geldig tot|datum van verval|vervaldatum|geldig t m|datum verval",
    pl: "termin ważności|data ważności|data upływu ważności|ważny do",
    nordic:
      "giltigt till|giltig till|giltig t o m|gyldig til|gyldighed|udløbsdato|utløpsdato|voimassa|viimeinen voimassaolopäivä|sista giltighetsdag|gäller till",
    central:
      "platnost do|platí do|platnosť do|érvényes|érvényesség|lejárat|veljavnost|velja do|datum isteka|vrijedi do|kehtiv kuni|kehtib kuni|derīgs līdz|galioja iki",
    south:
      "data expirării|valabilitate|valabil până la|geçerlilik tarihi|son geçerlilik|geçerlik tarihi|ημερομηνία λήξης|ισχύει έως|data e skadimit",
    east: "дата окончания срока действия|срок действия|действителен до|дійсний до|термін дії|валидност|дата на валидност",
    asia: "有效期至|有効期間満了日|만료일|有效期限",
  },
  document_id: {
    en: "passport no|passport number|document no|document number|doc no|card no|card number|id no|id number|identity card no|identity card number|identity no|identity number|licence no|licence number|license no|license number|driver license no|driver licence no|driver's license no|driving licence no|driver's license number|dl|dl no|dln|dl number|lic no|lic|id card number|passport|permit no|permit number|visa no|visa number|control no|doc number|no|number|document id|customer identifier",
    de: "passnummer|pass nr|reisepass nr|ausweisnummer|ausweis nr|dokumentennummer|dokument nr|kartennummer|personalausweis nr|seriennummer|führerschein nr|nummer|nr|führerscheinnummer",
    fr: "n° de passeport|numéro de passeport|passeport n°|passeport no|n° du document|numéro du document|n° de document|numéro de document|carte nationale d'identité n°|n° carte|numéro de la carte|n° de permis|numéro de permis|no du passeport|n° du passeport|n°|numéro|document n°|no de document",
    es: "pasaporte n°|pasaporte no|nº de pasaporte|número de pasaporte|número de documento|nº documento|núm soporte|dni núm|dni|idesp|número|no de pasaporte|n° de documento|no de documento|nº de documento|num documento|nº|número de licencia|licencia no",
    it: "passaporto n|passaporto n°|numero di passaporto|numero del passaporto|n° documento|numero documento|documento n|carta d'identità n|numero carta|numero|passaporto no|numero del documento|numero patente",
    pt: "n° do passaporte|número do passaporte|passaporte n°|passaporte no|nº documento|nº do documento|n° documento|número do documento|n° do documento|número de documento|nº registro|registro geral|nº de documento|bilhete de identidade n°|nº do passaporte|carta de condução n°|n° registro|passaporte nº",
    nl: "paspoortnummer|paspoort nr|documentnummer|document nr|kaartnummer|nummer kaart|rijbewijsnummer|identiteitskaart nr|paspoort no",
    pl: "numer paszportu|nr paszportu|numer dokumentu|numer dowodu|seria i numer|nr dowodu|numer dowodu osobistego|numer karty|nr dokumentu",
    nordic:
      "passnummer|pass nr|kortnummer|kort nr|id kort nr|passin numero|passi nro|dokumentnummer|dokument nr|kortin numero|pass no|körkortsnummer|numero nro",
    central:
      "číslo dokladu|číslo pasu|číslo průkazu|číslo op|číslo občianskeho preukazu|číslo|okmányazonosító|okmányszám|útlevél száma|személyazonosító igazolvány szám|številka|broj|dokumendi number|passi number|pases numurs|numurs|paso numeris|numeris|útlevélszám|číslo cestovního pasu|okmány száma",
    south:
      "seria|seria și numărul|nr pașaport|numărul pașaportului|seri no|seri numarası|pasaport no|belge no|αριθμός|αρ διαβατηρίου|αριθμός διαβατηρίου|αριθμός δελτίου|numri i dokumentit|număr",
    east: "номер паспорта|паспорт|номер|номер документа|документ №|паспорт №|серия и номер|№ паспорта|№",
    asia: "护照号|护照号码|旅券番号|여권번호|证件号码",
  },
  person_id: {
    en: "personal no|personal number|personal id no|national id number|national identification number|nin|personal identification number|uid",
    de: "personalnummer|ahv nr|persönliche nummer",
    fr: "n° national|numéro national|numéro personnel|no personnel|n° personnel",
    es: "curp|nuip|número personal|rut|run|nif",
    it: "codice fiscale",
    pt: "cpf|nif|número de identificação civil|nº id civil|n° id civil",
    nl: "persoonsnummer|bsn|burgerservicenummer|rijksregisternummer|persoonlijk nummer|identificatienummer van het register",
    pl: "pesel|numer pesel",
    nordic: "personnummer|personnr|fødselsnummer|henkilötunnus|cpr nr|personbeteckning",
    central: "rodné číslo|személyi azonosító|emšo|oib|isikukood|personas kods|asmens kodas|osobní číslo|személyi szám",
    south: "cnp|t c kimlik no|tc kimlik no|kimlik no|afm",
    east: "персональный номер|егн|рнокпп|запис №",
    asia: "公民身份号码|주민등록번호",
  },
  nationality: {
    en: "nationality|citizenship",
    de: "staatsangehörigkeit|staatsbürgerschaft|nationalität",
    fr: "nationalité",
    es: "nacionalidad",
    it: "nazionalità|cittadinanza",
    pt: "nacionalidade",
    nl: "nationaliteit",
    pl: "obywatelstwo|narodowość",
    nordic: "nationalitet|medborgarskap|statsborgerskap|kansalaisuus|þjóðerni",
    central:
      "státní občanství|státní příslušnost|občianstvo|štátne občianstvo|állampolgárság|državljanstvo|kodakondsus|pilsonība|tautība|pilietybė",
    south: "cetățenia|cetățenie|uyruğu|uyruk|υπηκοότητα|ιθαγένεια|shtetësia|nazzjonalità",
    east: "гражданство|громадянство",
    asia: "国籍|국적",
  },
  gender: {
    en: "sex|gender",
    de: "geschlecht",
    fr: "sexe",
    es: "sexo",
    it: "sesso",
    nl: "geslacht",
    pl: "płeć",
    nordic: "kön|køn|kjønn|sukupuoli|kyn",
    central: "pohlaví|pohlavie|neme|nem|spol|sugu|dzimums|lytis",
    south: "sexul|cinsiyeti|cinsiyet|φύλο|gjinia",
    east: "пол|стать",
    asia: "性别|性別|성별",
  },
  address: {
    en: "address|residence|residential address|home address|permanent address",
    de: "anschrift|adresse|wohnort|wohnanschrift|hauptwohnsitz",
    fr: "adresse|domicile",
    es: "domicilio|dirección|lugar de domicilio",
    it: "indirizzo|residenza|indirizzo di residenza|comune di residenza",
    pt: "morada|endereço|residência",
    nl: "adres|woonplaats|verblijfplaats",
    pl: "adres|adres zameldowania|adres zamieszkania|miejsce zamieszkania",
    nordic: "adress|bopæl|osoite|bostad|bosted|bostadsort",
    central: "adresa|trvalý pobyt|bydliště|lakcím|naslov|prebivalište|elukoht|dzīvesvieta|lakóhely",
    south: "domiciliu|adres|ikametgah|διεύθυνση|adresa",
    east: "адрес|место жительства|адреса|місце проживання|постоянен адрес",
    asia: "住址|住所|주소",
  },
  issuing_state: {
    en: "code of issuing state|issuing state|country code|country|code of state|issuing country|state code|country of issue",
    de: "staat|kode|code|ausstellender staat",
    fr: "code du pays|pays|code pays|pays code|état émetteur|code de l'état émetteur",
    es: "código del país|país|clave del país|código país",
    it: "codice paese|codice stato|paese",
    pt: "código do país|país emissor|código do estado emissor",
    nl: "landcode|code van de staat|land",
    pl: "kod kraju|kod państwa|państwo",
    nordic: "landskod|landekode|maatunnus|landkode",
  },
  other: {
    en: "authority|issuing authority|issued by|place of issue|type|signature|signature of bearer|holder's signature|height|hgt|weight|wgt|eyes|eye|hair|colour of eyes|color of eyes|class|rest|restrictions|end|endorsements|donor|dd|veteran|religious name|name at birth|birth name|access number|can|occupation|profession|marital status|remarks|category|categories|duration of stay|number of entries|entries|kind of permit|type of permit|type of visa|blood group|father's name|mother's name|spouse|real id|audit no|rev|organ donor|state of|age|observations|endorsements and observations|issuing office",
    de: "behörde|ausstellende behörde|typ|art|größe|augenfarbe|geburtsname|unterschrift|unterschrift der inhaberin|unterschrift des inhabers|zugangsnummer|ordens oder künstlername|beruf|heimatort|klasse|klassen|anmerkungen|art des titels|familienstand|passart|doktorgrad",
    fr: "autorité|autorité de délivrance|type|taille|couleur des yeux|signature|signature du titulaire|nom d'usage|lieu de délivrance|profession|délivré par|délivrée par|catégorie|catégories|type de titre|remarques|nationalité et sexe|motif du séjour|nom d'usage épouse|lieu d'origine",
    es: "autoridad|tipo|firma|equipo|hijo de|hija de|hijo a de|can|firma del titular|estatura|lugar de expedición|clave de elector|sección|localidad|municipio|estado civil|observaciones|tipo de permiso|clase",
    it: "autorità|tipo|statura|colore degli occhi|firma|firma del titolare|rilasciata da|emessa da|emesso da|stato civile|professione|connotati|segni particolari|comune di|cognome e nome del padre|categoria",
    pt: "autoridade|tipo|assinatura|altura|filiação|órgão emissor|órgão expedidor|estado civil|local de emissão|categoria|doc origem|observações|assinatura do titular",
    nl: "autoriteit|instantie|lengte|type|handtekening|handtekening houder|afgegeven door|bevoegde autoriteit|soort|opmerkingen|categorie",
    pl: "organ wydający|organ|typ|wzrost|kolor oczu|podpis|podpis posiadacza|imiona rodziców|nazwisko rodowe|imię ojca|imię matki|miejsce wydania|wydany przez|can",
    nordic:
      "myndighet|utfärdande myndighet|typ|type|längd|højde|høyde|namnteckning|allekirjoitus|pituus|viranomainen|myndighed|underskrift|tyyppi",
    central:
      "vydal|úřad|úrad|typ|podpis|hatóság|kiállító hatóság|típus|aláírás|anyja neve|születési név|rodné příjmení|rodinný stav|organ|magasság|výška",
    south:
      "emisă de|eliberat de|autoritatea|tip|tipul|semnătura|makam|veren makam|boy|imza|baba adı|ana adı|anne adı|αρχή έκδοσης|εκδούσα αρχή|τύπος|ύψος",
    east: "орган выдавший документ|кем выдан|орган|подпись|тип|підпис|издаден от|рост|код подразделения",
  },
};
