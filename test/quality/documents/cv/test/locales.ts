// Words, people and employers of the test split. Everything is invented. Do not tune rules on it.

import type { CvLocale, Person } from "../resume.ts";

export interface TestCvLabels {
  readonly about: string;
  readonly reach: string;
  readonly career: string;
  readonly studies: string;
  readonly abilities: string;
  readonly tongues: string;
  readonly leisure: string;
  readonly born: string;
  /** Period, position, employer. */
  readonly columns: readonly [string, string, string];
}

export type TestCvLocale = CvLocale<TestCvLabels>;

function person(
  name: readonly [string, string],
  address: readonly [street: string, place: string, zip: string, city: string],
  phone: string,
  mail: string,
  url: string,
  birth: string,
): Person {
  const [first, last] = name;
  const [street, place, zip, city] = address;
  return { first, last, street, place, zip, city, phone, mail, url, birth };
}

export const en: TestCvLocale = {
  language: "en",
  months: "January February March April May June July August September October November December".split(" "),
  month: "MMMM YYYY",
  day: "DD/MM/YYYY",
  present: "now",
  labels: {
    about: "About me",
    reach: "Get in touch",
    career: "Employment history",
    studies: "Academic background",
    abilities: "Core competencies",
    tongues: "Languages spoken",
    leisure: "Hobbies",
    born: "Born",
    columns: ["Period", "Position", "Employer"],
  },
  people: [
    person(
      ["Grace", "Lindholm"],
      ["1420 Alder Street", "Eugene, OR 97401", "97401", "Eugene"],
      "(541) 555-0138",
      "grace.lindholm@inbox.example",
      "gracelindholm.example",
      "1989-04-22",
    ),
    person(
      ["Devon", "Prescott-Hayes"],
      ["18 Elm Road", "Cardiff CF14 2EA", "CF14 2EA", "Cardiff"],
      "+44 29 2018 0455",
      "devon@prescott.example",
      "prescott.example",
      "1994-10-03",
    ),
    person(
      ["Kwame", "Boateng"],
      ["6 Harbour View", "Galway H91 X2P4", "H91 X2P4", "Galway"],
      "+353 91 496 120",
      "kwame.boateng@inbox.example",
      "boateng.example/cv",
      "1985-01-17",
    ),
  ],
  jobs: [
    ["Head of Procurement", "Cascadia Timber Co.", "Eugene"],
    ["Clinical Pharmacist", "St Brannock's Hospital", "Cardiff"],
    ["Sous Chef", "The Salt House", "Galway"],
    ["Data Scientist", "Ferngrove Insurance", "Dublin"],
    ["Lab Technician", "Merrow Biotech", "Swansea"],
    ["Site Engineer", "Corrib Civil Works", "Galway"],
  ],
  duties: [
    "Negotiated contracts worth two million a year",
    "Audited medication charts on four wards",
    "Ran a kitchen of nine on busy nights",
    "Built the model that prices flood risk",
  ],
  degrees: [
    ["MPharm Pharmacy", "Llandaff University"],
    ["BEng Civil Engineering", "Western Shore University"],
    ["Diploma in Culinary Arts", "Claddagh Cookery School"],
    ["PhD Statistics", "Ferry Hill University"],
  ],
  skills: [
    "Contract law",
    "R",
    "Menu design",
    "Risk modelling",
    "Dispensing",
    "Surveying",
    "Public speaking",
    "Stock control",
  ],
  languages: [
    ["English", "mother tongue", "en"],
    ["German", "conversational", "de"],
    ["Welsh", "good", "cy"],
    ["Portuguese", "beginner", "pt"],
  ],
  interests: ["Sea swimming", "Board games", "Pottery", "Birdwatching"],
  summaries: [
    "Buyer with a record of fair deals and long partnerships.",
    "Careful scientist who explains risk in plain words.",
  ],
};

export const de: TestCvLocale = {
  language: "de",
  months: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(" "),
  month: "MMMM YYYY",
  day: "D. MMMM YYYY",
  present: "dato",
  labels: {
    about: "Über mich",
    reach: "So erreichen Sie mich",
    career: "Beruflicher Werdegang",
    studies: "Schule und Studium",
    abilities: "Fachkompetenzen",
    tongues: "Sprachkenntnisse",
    leisure: "Freizeit",
    born: "Geboren am",
    columns: ["Zeitraum", "Position", "Arbeitgeber"],
  },
  people: [
    person(
      ["Leopold", "Gruber"],
      ["Ringstraße 8", "4600 Wels", "4600", "Wels"],
      "+43 7242 496 011",
      "leopold.gruber@briefkasten.example",
      "lgruber.example",
      "1982-06-09",
    ),
    person(
      ["Noemi", "Aeschlimann"],
      ["Seestrasse 101", "8700 Küsnacht", "8700", "Küsnacht"],
      "+41 44 496 02 33",
      "noemi@aeschlimann.example",
      "aeschlimann.example",
      "1995-02-14",
    ),
  ],
  jobs: [
    ["Filialleiter", "Alpenmarkt Handels GmbH", "Wels"],
    ["Pflegefachfrau", "Spital am Zürichsee", "Männedorf"],
    ["Softwarearchitektin", "Gletscher Systems AG", "Zürich"],
    ["Lagerlogistiker", "Traun Spedition", "Linz"],
    ["Projektassistentin", "Museum Seeblick", "Rapperswil"],
  ],
  duties: [
    "Verantwortung für zwölf Mitarbeitende",
    "Umstellung auf digitale Dokumentation",
    "Optimierung der Lagerwege",
    "Organisation von Ausstellungen",
  ],
  degrees: [
    ["Lehre Einzelhandel", "Berufsschule Wels"],
    ["Bachelor Pflege", "Fachhochschule Linth"],
    ["Master Informatik", "Technische Hochschule Säntis"],
    ["Matura", "Realgymnasium Traun"],
  ],
  skills: ["Personalführung", "Kotlin", "Wundversorgung", "Staplerschein", "Excel", "Eventplanung", "Kubernetes"],
  languages: [
    ["Deutsch", "Erstsprache", "de"],
    ["Italienisch", "gut", "it"],
    ["Englisch", "verhandlungssicher", "en"],
    ["Spanisch", "Anfänger", "es"],
  ],
  interests: ["Skitouren", "Imkerei", "Klavier", "Segelfliegen"],
  summaries: [
    "Praktiker mit Herz für den Handel und ruhiger Hand in der Führung.",
    "Entwicklerin, die komplexe Systeme einfach macht.",
  ],
};

export const fr: TestCvLocale = {
  language: "fr",
  months: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(" "),
  month: "MM/YYYY",
  day: "DD/MM/YYYY",
  present: "à ce jour",
  labels: {
    about: "À propos",
    reach: "Me contacter",
    career: "Parcours professionnel",
    studies: "Études et diplômes",
    abilities: "Savoir-faire",
    tongues: "Langues parlées",
    leisure: "Loisirs",
    born: "Né(e) le",
    columns: ["Période", "Poste", "Employeur"],
  },
  people: [
    person(
      ["Aurélie", "Castaing"],
      ["3 impasse des Acacias", "64000 Pau", "64000", "Pau"],
      "05 59 01 44 71",
      "aurelie.castaing@boite.example",
      "castaing.example",
      "1990-09-30",
    ),
    person(
      ["Bastien", "Du Moulin"],
      ["Rue de Bourg 20", "1003 Lausanne", "1003", "Lausanne"],
      "+41 21 496 01 77",
      "bastien@dumoulin.example",
      "dumoulin.example",
      "1986-03-12",
    ),
  ],
  jobs: [
    ["Infirmière libérale", "Cabinet des Gaves", "Pau"],
    ["Chef de rayon", "Épicerie du Lac", "Lausanne"],
    ["Géomètre", "Topo Pyrénées", "Tarbes"],
    ["Professeur de musique", "Conservatoire du Léman", "Nyon"],
    ["Webmestre", "Studio Ourson", "Genève"],
  ],
  duties: [
    "Soins à domicile pour trente patients",
    "Gestion des stocks et des commandes",
    "Relevés topographiques en montagne",
    "Direction d'un orchestre de jeunes",
  ],
  degrees: [
    ["Diplôme d'État d'infirmier", "Institut de soins du Béarn"],
    ["BTS Géomètre", "Lycée des Cimes"],
    ["Bachelor en musique", "Haute école du Léman"],
  ],
  skills: ["Écoute", "Topographie", "Solfège", "Vente", "Pansements", "HTML", "Pédagogie"],
  languages: [
    ["Français", "natif", "fr"],
    ["Italien", "bon niveau", "it"],
    ["Anglais", "B2", "en"],
    ["Basque", "débutant", "eu"],
  ],
  interests: ["Escalade", "Piano", "Jardinage", "Cinéma"],
  summaries: [
    "Soignante attentive, à l'aise avec les familles et les équipes.",
    "Musicien et pédagogue, attaché au travail collectif.",
  ],
};

export const es: TestCvLocale = {
  language: "es",
  months: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(" "),
  month: "MMMM YYYY",
  day: "D MMMM YYYY",
  present: "hoy",
  labels: {
    about: "Sobre mí",
    reach: "Datos de contacto",
    career: "Trayectoria profesional",
    studies: "Estudios",
    abilities: "Destrezas",
    tongues: "Lenguas",
    leisure: "Aficiones",
    born: "Nacida el",
    columns: ["Periodo", "Cargo", "Empresa"],
  },
  people: [
    person(
      ["Valentina", "Restrepo"],
      ["Carrera 43 N.º 12-30", "050021 Medellín", "050021", "Medellín"],
      "+57 604 496 0123",
      "valentina.restrepo@buzon.example",
      "vrestrepo.example",
      "1993-12-01",
    ),
    person(
      ["Joaquín", "Larraín"],
      ["Avenida Italia 1450", "7500000 Santiago", "7500000", "Santiago"],
      "+56 2 2496 0177",
      "joaquin@larrain.example",
      "larrain.example",
      "1984-07-23",
    ),
  ],
  jobs: [
    ["Diseñadora industrial", "Muebles Antioquia S.A.S.", "Medellín"],
    ["Jefe de bodega", "Viña Los Aromos", "Talca"],
    ["Enfermera jefe", "Clínica del Valle", "Envigado"],
    ["Contador", "Grupo Cordillera", "Santiago"],
    ["Guía turístico", "Andes Libres", "Pucón"],
  ],
  duties: [
    "Diseño de tres líneas de producto",
    "Control de inventarios y despachos",
    "Capacitación de personal nuevo",
    "Cierre contable mensual",
  ],
  degrees: [
    ["Ingeniería de Diseño", "Universidad de los Aburrá"],
    ["Enfermería", "Universidad del Café"],
    ["Contaduría Pública", "Instituto Mapocho"],
  ],
  skills: ["SolidWorks", "Inventarios", "Primeros auxilios", "Tributación", "Liderazgo", "Catas", "Rhino"],
  languages: [
    ["Español", "lengua materna", "es"],
    ["Inglés", "avanzado", "en"],
    ["Italiano", "elemental", "it"],
    ["Alemán", "A1", "de"],
  ],
  interests: ["Ciclismo de montaña", "Salsa", "Astronomía", "Cerámica"],
  summaries: [
    "Diseñadora que une la artesanía local con la producción en serie.",
    "Contador meticuloso con gusto por enseñar.",
  ],
};

export const it: TestCvLocale = {
  language: "it",
  months: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split(" "),
  month: "MM/YYYY",
  day: "D MMMM YYYY",
  present: "in corso",
  labels: {
    about: "Chi sono",
    reach: "Recapiti",
    career: "Esperienze lavorative",
    studies: "Titoli di studio",
    abilities: "Capacità",
    tongues: "Conoscenze linguistiche",
    leisure: "Tempo libero",
    born: "Nato il",
    columns: ["Periodo", "Mansione", "Datore di lavoro"],
  },
  people: [
    person(
      ["Matteo", "Ghirardi"],
      ["Via Po 15", "10124 Torino", "10124", "Torino"],
      "+39 011 496 0588",
      "matteo.ghirardi@casella.example",
      "ghirardi.example",
      "1991-05-27",
    ),
    person(
      ["Ilaria", "De Santis"],
      ["Corso Umberto 200", "80138 Napoli", "80138", "Napoli"],
      "+39 081 496 0712",
      "ilaria@desantis.example",
      "desantis.example",
      "1988-11-13",
    ),
  ],
  jobs: [
    ["Restauratrice", "Bottega Partenope", "Napoli"],
    ["Capo cantiere", "Edil Monviso", "Torino"],
    ["Magazziniere", "Logistica Sestriere", "Rivoli"],
    ["Insegnante di sostegno", "Istituto Croce", "Caserta"],
    ["Barista", "Caffè Lagrange", "Torino"],
  ],
  duties: [
    "Restauro di dipinti del Seicento",
    "Sicurezza di venti operai",
    "Carico e scarico merci",
    "Preparazione di lezioni individuali",
  ],
  degrees: [
    ["Diploma di restauro", "Accademia del Golfo"],
    ["Diploma di geometra", "Istituto Cavour"],
    ["Laurea in Scienze dell'educazione", "Università del Vesuvio"],
  ],
  skills: ["Doratura", "Lettura del disegno", "Muletto", "Latte art", "Ascolto attivo", "Primo soccorso"],
  languages: [
    ["Italiano", "lingua madre", "it"],
    ["Spagnolo", "buono", "es"],
    ["Inglese", "scolastico", "en"],
    ["Rumeno", "ottimo", "ro"],
  ],
  interests: ["Scacchi", "Calcetto", "Acquerello", "Trekking"],
  summaries: [
    "Artigiana paziente, con attenzione ai dettagli e ai materiali.",
    "Tecnico affidabile, abituato a tempi stretti.",
  ],
};

export const pl: TestCvLocale = {
  language: "pl",
  months: "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień".split(" "),
  month: "MM/YYYY",
  day: "DD.MM.YYYY",
  present: "do teraz",
  labels: {
    about: "O mnie",
    reach: "Kontakt",
    career: "Przebieg kariery",
    studies: "Edukacja",
    abilities: "Kompetencje",
    tongues: "Znajomość języków",
    leisure: "Hobby",
    born: "Urodzona",
    columns: ["Okres", "Stanowisko", "Pracodawca"],
  },
  people: [
    person(
      ["Weronika", "Jabłońska"],
      ["ul. Żwirki 5", "20-022 Lublin", "20-022", "Lublin"],
      "+48 81 496 01 20",
      "weronika.jablonska@skrzynka.example",
      "jablonska.example",
      "1992-04-05",
    ),
    person(
      ["Paweł", "Krzemiński"],
      ["ul. Górna 19", "35-001 Rzeszów", "35-001", "Rzeszów"],
      "+48 17 496 03 55",
      "pawel@krzeminski.example",
      "krzeminski.example",
      "1987-09-18",
    ),
  ],
  jobs: [
    ["Architekt krajobrazu", "Zielone Miasto Sp. z o.o.", "Lublin"],
    ["Operator CNC", "Dolina Lotnicza S.A.", "Rzeszów"],
    ["Kierownik sklepu", "Delikatesy Źródło", "Zamość"],
    ["Tester oprogramowania", "Kwant Labs", "Lublin"],
  ],
  duties: [
    "Projekt trzech parków miejskich",
    "Ustawianie maszyn i kontrola jakości",
    "Planowanie grafików",
    "Automatyzacja testów",
  ],
  degrees: [
    ["Inżynier architektury krajobrazu", "Uniwersytet Roztocze"],
    ["Technik mechanik", "Zespół Szkół nr 2"],
    ["Licencjat zarządzania", "Wyższa Szkoła Bieszczadzka"],
  ],
  skills: ["AutoCAD", "Programowanie CNC", "Selenium", "Rysunek odręczny", "Obsługa kasy", "Dobór roślin"],
  languages: [
    ["angielski", "C1", "en"],
    ["ukraiński", "komunikatywny", "uk"],
    ["francuski", "A2", "fr"],
    ["włoski", "B1", "it"],
  ],
  interests: ["Wspinaczka", "Ogrodnictwo", "Gra na gitarze", "Kajaki"],
  summaries: [
    "Projektantka z wyczuciem przestrzeni i cierpliwością do roślin.",
    "Doświadczony operator dbający o precyzję.",
  ],
};

export const pt: TestCvLocale = {
  language: "pt",
  months: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split(" "),
  month: "MMM YYYY",
  day: "DD/MM/YYYY",
  present: "atual",
  labels: {
    about: "Resumo",
    reach: "Fale comigo",
    career: "Histórico profissional",
    studies: "Escolaridade",
    abilities: "Habilidades técnicas",
    tongues: "Idiomas falados",
    leisure: "Passatempos",
    born: "Nascimento",
    columns: ["Período", "Cargo", "Empresa"],
  },
  people: [
    person(
      ["Larissa", "Tavares"],
      ["Rua do Sol 90", "50030-230 Recife", "50030-230", "Recife"],
      "+55 81 4960-1177",
      "larissa.tavares@caixa.example",
      "ltavares.example",
      "1996-08-08",
    ),
    person(
      ["Eduardo", "Nakamura"],
      ["Alameda Santos 2000", "01418-200 São Paulo", "01418-200", "São Paulo"],
      "+55 11 4960-2288",
      "eduardo@nakamura.example",
      "nakamura.example",
      "1983-02-20",
    ),
  ],
  jobs: [
    ["Engenheira de alimentos", "Polpas do Agreste Ltda.", "Recife"],
    ["Gerente de produto", "Banco Araucária", "São Paulo"],
    ["Nutricionista", "Hospital Boa Vista", "Olinda"],
    ["Designer gráfico", "Estúdio Jabuti", "Campinas"],
  ],
  duties: [
    "Lançamento de quatro sabores novos",
    "Gestão de equipe com doze pessoas",
    "Orientação de pacientes",
    "Criação de identidade visual",
  ],
  degrees: [
    ["Bacharelado em Engenharia de Alimentos", "Universidade do Capibaribe"],
    ["MBA em Finanças", "Escola de Negócios Paulista"],
    ["Graduação em Nutrição", "Faculdade Mangue"],
  ],
  skills: ["Análise sensorial", "Scrum", "Illustrator", "Dietoterapia", "Excel avançado", "Pesquisa com usuários"],
  languages: [
    ["Português", "nativo", "pt"],
    ["Inglês", "fluente", "en"],
    ["Japonês", "intermediário", "ja"],
    ["Espanhol", "básico", "es"],
  ],
  interests: ["Capoeira", "Fotografia de rua", "Maracatu", "Xadrez"],
  summaries: ["Engenheira curiosa, apaixonada por frutas do Nordeste.", "Gerente com foco em simplicidade e dados."],
};

export const sv: TestCvLocale = {
  language: "sv",
  months: "januari februari mars april maj juni juli augusti september oktober november december".split(" "),
  month: "YYYY-MM",
  day: "YYYY-MM-DD",
  present: "nuvarande",
  labels: {
    about: "Om mig",
    reach: "Kontaktuppgifter",
    career: "Arbetslivserfarenhet",
    studies: "Utbildning",
    abilities: "Färdigheter",
    tongues: "Språk",
    leisure: "Fritidsintressen",
    born: "Född",
    columns: ["Tid", "Befattning", "Arbetsgivare"],
  },
  people: [
    person(
      ["Elin", "Sandström"],
      ["Björkgatan 3", "582 22 Linköping", "582 22", "Linköping"],
      "+46 13 496 011",
      "elin.sandstrom@brev.example",
      "sandstrom.example",
      "1994-03-16",
    ),
    person(
      ["Henrik", "Åkerlund"],
      ["Kyrkogatan 12", "831 30 Östersund", "831 30", "Östersund"],
      "+46 63 496 022",
      "henrik@akerlund.example",
      "akerlund.example",
      "1980-10-10",
    ),
  ],
  jobs: [
    ["Förskollärare", "Linköpings kommun", "Linköping"],
    ["Skogsmästare", "Jämtskog AB", "Östersund"],
    ["Testingenjör", "Roxen Avionik", "Linköping"],
    ["Receptionist", "Hotell Storsjön", "Östersund"],
  ],
  duties: [
    "Ansvar för en grupp på arton barn",
    "Planering av avverkning",
    "Provning av styrsystem",
    "Bemötande av gäster på tre språk",
  ],
  degrees: [
    ["Förskollärarexamen", "Östgöta högskola"],
    ["Jägmästarexamen", "Norrlands skogsuniversitet"],
    ["Teknikprogrammet", "Birgittaskolan"],
  ],
  skills: ["Drama", "GIS", "LabVIEW", "Motorsåg", "Bokningssystem", "Pedagogik"],
  languages: [
    ["Svenska", "modersmål", "sv"],
    ["Engelska", "flytande", "en"],
    ["Tyska", "grundläggande", "de"],
    ["Finska", "god", "fi"],
  ],
  interests: ["Längdskidor", "Körsång", "Svampplockning", "Stickning"],
  summaries: ["Trygg pedagog som tycker om att arbeta utomhus.", "Ingenjör med öga för detaljer."],
};

export const cs: TestCvLocale = {
  language: "cs",
  months: "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec".split(" "),
  month: "MM/YYYY",
  day: "D. MM. YYYY",
  present: "dosud",
  labels: {
    about: "O mně",
    reach: "Kontaktní údaje",
    career: "Pracovní zkušenosti",
    studies: "Vzdělání",
    abilities: "Dovednosti",
    tongues: "Jazykové znalosti",
    leisure: "Zájmy",
    born: "Datum narození",
    columns: ["Období", "Pozice", "Zaměstnavatel"],
  },
  people: [
    person(
      ["Tereza", "Kučerová"],
      ["Sokolská 14", "779 00 Olomouc", "779 00", "Olomouc"],
      "+420 585 496 012",
      "tereza.kucerova@schranka.example",
      "kucerova.example",
      "1993-06-21",
    ),
    person(
      ["Ondřej", "Havlík"],
      ["Nádražní 40", "301 00 Plzeň", "301 00", "Plzeň"],
      "+420 377 496 044",
      "ondrej@havlik.example",
      "havlik.example",
      "1986-12-15",
    ),
  ],
  jobs: [
    ["Učitelka chemie", "Gymnázium Hejčín", "Olomouc"],
    ["Strojní inženýr", "Plzeňské strojírny a.s.", "Plzeň"],
    ["Fyzioterapeutka", "Lázně Slatina", "Přerov"],
    ["Vedoucí směny", "Pivovar Radbuza", "Plzeň"],
  ],
  duties: ["Příprava žáků na soutěže", "Návrh převodovek", "Rehabilitace po úrazech", "Řízení týmu patnácti lidí"],
  degrees: [
    ["Magistr chemie", "Univerzita Haná"],
    ["Inženýr strojírenství", "Vysoká škola technická Západ"],
    ["Bakalář fyzioterapie", "Zdravotní fakulta Jeseník"],
  ],
  skills: ["Laboratorní technika", "SolidWorks", "Masáže", "Řízení lidí", "První pomoc", "Excel"],
  languages: [
    ["angličtina", "pokročilá", "en"],
    ["němčina", "střední", "de"],
    ["ruština", "základy", "ru"],
    ["slovenština", "výborná", "sk"],
  ],
  interests: ["Turistika", "Hra na housle", "Vaření", "Cyklistika"],
  summaries: ["Učitelka s nadšením pro pokusy a přírodu.", "Konstruktér se smyslem pro přesnost."],
};
