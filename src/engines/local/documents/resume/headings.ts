// The headings of a curriculum vitae, by section and language. Accents and capitals do not matter.

import { foldCase } from "../fold-case.ts";

export type SectionName =
  | "summary"
  | "objective"
  | "work"
  | "education"
  | "skills"
  | "languages"
  | "certifications"
  | "courses"
  | "publications"
  | "interests"
  | "contact"
  | "other";

const headings: Readonly<Record<SectionName, Readonly<Record<string, string>>>> = {
  summary: {
    en: "summary|profile|about|about me|professional summary|executive summary|career summary|personal summary|personal profile|professional profile|career profile|personal statement|summary of qualifications|who i am|bio|introduction|profile summary|overview",
    de: "profil|über mich|kurzprofil|zusammenfassung|persönliches profil|berufliches profil|zur person",
    fr: "profil|à propos|à propos de moi|résumé|profil professionnel|présentation|qui suis-je|accroche",
    es: "perfil|sobre mí|resumen|perfil profesional|acerca de mí|extracto|presentación|resumen profesional",
    it: "profilo|chi sono|profilo professionale|profilo personale|su di me|sommario|presentazione|riepilogo",
    pt: "perfil|sobre mim|resumo|perfil profissional|resumo profissional|sobre|apresentação|perfil pessoal",
    nl: "profiel|over mij|samenvatting|persoonlijk profiel|profielschets|wie ben ik",
    pl: "profil|o mnie|podsumowanie|profil zawodowy|podsumowanie zawodowe",
    nordic:
      "profil|om mig|om meg|sammanfattning|sammendrag|resumé|profiili|tietoa minusta|tiivistelmä|kort om mig|profiltekst",
    central:
      "profil|o mně|shrnutí|o mne|rólam|összefoglaló|bemutatkozás|despre mine|profilo|rezumat|hakkımda|özet|profil profesional",
    east: "о себе|про себе|профиль|обо мне|προφίλ|σχετικά με εμένα",
  },
  objective: {
    en: "objective|career objective|objectives|professional objective|career goal|career goals|job objective",
    de: "ziel|berufsziel|karriereziel|berufliche ziele",
    fr: "objectif|objectif professionnel|objectifs",
    es: "objetivo|objetivo profesional|objetivos",
    it: "obiettivo|obiettivo professionale|obiettivi|posizione ricercata",
    pt: "objetivo|objetivo profissional|objetivos|objectivo",
    nl: "doel|doelstelling|carrièredoel",
    pl: "cel|cel zawodowy|cele zawodowe",
    nordic: "mål|karriärmål|tavoite",
  },
  work: {
    en: "experience|work experience|professional experience|employment|employment history|work history|career history|relevant experience|career|professional background|employment experience|experiences|professional history|industry experience|work|selected experience|positions|positions held",
    de: "berufserfahrung|berufliche erfahrung|beruflicher werdegang|werdegang|berufspraxis|praktische erfahrung|berufliche laufbahn|berufstätigkeit|erfahrung|praxiserfahrung|berufliche stationen|arbeitserfahrung|beruflicher hintergrund|berufserfahrungen|praktika",
    fr: "expérience|expériences|expérience professionnelle|expériences professionnelles|parcours professionnel|parcours|emplois|expérience de travail",
    es: "experiencia|experiencia laboral|experiencia profesional|trayectoria profesional|historial laboral|experiencias|experiencia de trabajo|trayectoria",
    it: "esperienza|esperienze|esperienza lavorativa|esperienze lavorative|esperienza professionale|esperienze professionali|carriera|percorso professionale",
    pt: "experiência|experiência profissional|experiências profissionais|histórico profissional|experiências|percurso profissional|experiência de trabalho|trajetória profissional",
    nl: "werkervaring|ervaring|professionele ervaring|arbeidsverleden|loopbaan|relevante werkervaring|beroepservaring",
    pl: "doświadczenie|doświadczenie zawodowe|przebieg kariery|kariera|historia zatrudnienia|praca zawodowa|zatrudnienie",
    nordic:
      "arbetslivserfarenhet|erfarenhet|arbetserfarenhet|yrkeserfarenhet|anställningar|erhvervserfaring|erfaring|arbejdserfaring|arbeidserfaring|yrkeserfaring|työkokemus|ansættelser",
    central:
      "pracovní zkušenosti|praxe|zkušenosti|pracovné skúsenosti|skúsenosti|prax|munkatapasztalat|szakmai tapasztalat|experiență|experiență profesională|experienta profesionala|iş deneyimi|deneyim|iş tecrübesi|radno iskustvo|delovne izkušnje",
    east: "опыт работы|опыт|досвід роботи|досвід|професионален опит|трудов стаж|εργασιακή εμπειρία|επαγγελματική εμπειρία|εμπειρία",
  },
  education: {
    en: "education|education and training|academic background|academic qualifications|educational background|academic history|academic education|education background|qualifications|education and qualifications|studies|academics|academic record",
    de: "ausbildung|bildung|bildungsweg|studium|schulbildung|akademische ausbildung|bildungsgang|hochschulbildung|akademischer werdegang|ausbildung und studium|studium und ausbildung|schule|schulische ausbildung|bildungshintergrund|aus- und weiterbildung",
    fr: "formation|formations|éducation|études|diplômes|parcours scolaire|formation académique|parcours académique|diplômes et formations|scolarité|cursus",
    es: "educación|formación|formación académica|estudios|educación y formación|datos académicos|formación reglada|titulación|estudios realizados",
    it: "istruzione|formazione|istruzione e formazione|studi|educazione|titoli di studio|percorso di studi|formazione accademica|percorso formativo",
    pt: "educação|formação|formação académica|formação acadêmica|educação e formação|habilitações|habilitações literárias|escolaridade|habilitações académicas|estudos",
    nl: "opleiding|opleidingen|onderwijs|scholing|studie|opleiding en training|opleidingen en cursussen",
    pl: "wykształcenie|edukacja|studia|wykształcenie i szkolenia",
    nordic: "utbildning|utbildningar|uddannelse|utdanning|utdannelse|koulutus|uddannelser",
    central:
      "vzdělání|vzdelanie|tanulmányok|végzettség|iskolai végzettség|educație|studii|educaţie|educație și formare|eğitim|eğitim bilgileri|obrazovanje|izobrazba",
    east: "образование|освіта|образование и обучение|εκπαίδευση|σπουδές",
  },
  skills: {
    en: "skills|technical skills|key skills|core skills|professional skills|it skills|other skills|competencies|core competencies|competences|technologies|expertise|areas of expertise|computer skills|soft skills|hard skills|software|tools|strengths|skill set|skills summary|technical expertise|digital skills|abilities|key competencies|skills and tools|software skills|technical proficiencies|specialties|specialities",
    de: "kenntnisse|fähigkeiten|kompetenzen|it-kenntnisse|edv-kenntnisse|fachkenntnisse|skills|besondere kenntnisse|weitere kenntnisse|qualifikationen|technische kenntnisse|stärken|persönliche stärken|edv kenntnisse|it kenntnisse|software-kenntnisse|schwerpunkte|fachliche kompetenzen|computerkenntnisse|kernkompetenzen",
    fr: "compétences|compétences techniques|compétences clés|savoir-faire|savoir-être|aptitudes|compétences informatiques|informatique|outils|logiciels|atouts|qualités|compétences professionnelles|compétences personnelles|compétences numériques",
    es: "habilidades|competencias|aptitudes|conocimientos|destrezas|habilidades técnicas|conocimientos informáticos|informática|competencias digitales|capacidades|competencias profesionales|fortalezas|conocimientos técnicos",
    it: "competenze|capacità|abilità|competenze tecniche|competenze informatiche|capacità e competenze|competenze digitali|conoscenze informatiche|conoscenze|competenze professionali|punti di forza|capacità tecniche",
    pt: "competências|habilidades|competências técnicas|conhecimentos|aptidões|competências digitais|informática|habilidades técnicas|conhecimentos informáticos|qualificações|competências pessoais",
    nl: "vaardigheden|competenties|kennis|computervaardigheden|technische vaardigheden|kernkwaliteiten|kwaliteiten|eigenschappen|it-vaardigheden|digitale vaardigheden|sterke punten",
    pl: "umiejętności|kompetencje|kwalifikacje|umiejętności techniczne|kluczowe umiejętności|obsługa komputera|znajomość oprogramowania|mocne strony",
    nordic:
      "kompetenser|färdigheter|kunskaper|kompetencer|færdigheder|ferdigheter|kompetanse|taidot|osaaminen|it-kompetencer|datakunskaper|kvalifikationer|egenskaper",
    central:
      "dovednosti|znalosti|schopnosti|zručnosti|készségek|képességek|kompetenciák|competențe|abilități|aptitudini|beceriler|yetenekler|yetkinlikler|vještine|veščine",
    east: "навыки|ключевые навыки|навички|умения|профессиональные навыки|δεξιότητες|ικανότητες",
  },
  languages: {
    en: "languages|language|language skills|languages spoken|linguistic skills|foreign languages|language proficiency",
    de: "sprachen|sprachkenntnisse|fremdsprachen|fremdsprachenkenntnisse",
    fr: "langues|langues étrangères|compétences linguistiques|langues parlées",
    es: "idiomas|lenguas|lenguajes|competencias lingüísticas",
    it: "lingue|lingue straniere|competenze linguistiche|conoscenze linguistiche|lingue conosciute",
    pt: "idiomas|línguas|competências linguísticas|línguas estrangeiras",
    nl: "talen|taalkennis|talenkennis|taalvaardigheden|taalvaardigheid",
    pl: "języki|języki obce|znajomość języków|znajomość języków obcych|języki obce i poziom",
    nordic: "språk|språkkunskaper|sprog|sprogkundskaber|kielitaito|kielet|språkkunnskaper|språkferdigheter",
    central:
      "jazyky|jazykové znalosti|jazykové zručnosti|nyelvek|nyelvtudás|nyelvismeret|limbi străine|limbi|diller|yabancı dil|yabancı diller|jezici|jeziki",
    east: "языки|иностранные языки|мови|знание языков|чужди езици|γλώσσες|ξένες γλώσσες",
  },
  certifications: {
    en: "certifications|certification|certificates|certificate|licenses|licences|licenses and certifications|licences and certifications|certifications and licenses|certifications and licences|professional certifications|accreditations|professional qualifications",
    de: "zertifikate|zertifizierungen|zertifikat|bescheinigungen",
    fr: "certifications|certificats|certification|habilitations",
    es: "certificaciones|certificados|certificación|licencias",
    it: "certificazioni|certificati|attestati|abilitazioni|certificazione",
    pt: "certificações|certificados|certificação",
    nl: "certificaten|certificeringen|certificering|diploma's en certificaten",
    pl: "certyfikaty|uprawnienia|certyfikaty i uprawnienia",
    nordic: "certifikat|certifieringar|certificeringer|sertifiseringer|sertifikater|sertifikaatit|certifikater",
    central: "certifikáty|certifikace|tanúsítványok|certificări|certificate|sertifikalar|certifikati|osvědčení",
    east: "сертификаты|сертифікати|πιστοποιήσεις",
  },
  courses: {
    en: "courses|training|coursework|professional development|trainings|further training|continuing education|courses and training|additional training|relevant coursework|seminars|workshops",
    de: "weiterbildung|weiterbildungen|fortbildung|fortbildungen|kurse|schulungen|seminare|lehrgänge",
    fr: "formation continue|formations complémentaires|cours|stages et formations",
    es: "cursos|formación complementaria|cursos y seminarios|formación adicional|otros cursos|seminarios",
    it: "corsi|corsi di formazione|formazione complementare|corsi e seminari|aggiornamento professionale",
    pt: "cursos|formação complementar|cursos complementares|cursos e formações|formações",
    nl: "cursussen|trainingen|bijscholing|cursussen en trainingen",
    pl: "kursy|szkolenia|kursy i szkolenia|szkolenia i kursy",
    nordic: "kurser|kurs|kurssit|kurser och utbildningar",
    central: "kurzy|školení|školenia|tanfolyamok|képzések|cursuri|kurslar|tečajevi",
    east: "курсы|курси|дополнительное образование|σεμινάρια",
  },
  publications: {
    en: "publications|papers|selected publications|research publications|articles",
    de: "veröffentlichungen|publikationen",
    fr: "publications|articles",
    es: "publicaciones|artículos",
    it: "pubblicazioni|articoli",
    pt: "publicações|artigos",
    nl: "publicaties|artikelen",
    pl: "publikacje|artykuły",
    nordic: "publikationer|publikasjoner|julkaisut",
    central: "publikace|publikácie|publikációk|publicații|yayınlar",
    east: "публикации|публікації|δημοσιεύσεις",
  },
  interests: {
    en: "interests|hobbies|personal interests|hobbies and interests|interests and hobbies|activities|leisure|activities and interests|pastimes",
    de: "hobbys|hobbies|interessen|freizeit|persönliche interessen|hobbys und interessen|interessen und hobbys|freizeitaktivitäten",
    fr: "loisirs|centres d'intérêt|intérêts|centres d'intérêts|passions|hobbies|loisirs et intérêts|activités|activités extra-professionnelles",
    es: "intereses|aficiones|hobbies|pasatiempos|aficiones e intereses|intereses personales",
    it: "interessi|hobby|interessi personali|hobby e interessi|passioni|tempo libero|interessi e hobby",
    pt: "interesses|hobbies|passatempos|interesses pessoais|interesses e passatempos",
    nl: "hobby's|interesses|hobby|hobbys|vrije tijd|hobby's en interesses|interesses en hobby's",
    pl: "zainteresowania|hobby|pasje|zainteresowania i hobby",
    nordic:
      "intressen|fritidsintressen|interesser|fritidsinteresser|hobbyer|fritid|harrastukset|kiinnostuksen kohteet|fritidsaktiviteter",
    central:
      "zájmy|koníčky|záujmy|érdeklődés|hobbi|érdeklődési kör|hobbik|interese|hobby-uri|pasiuni|ilgi alanları|hobiler|hobiji|interesi|zájmy a koníčky",
    east: "интересы|хобби|інтереси|захоплення|увлечения|ενδιαφέροντα|χόμπι",
  },
  contact: {
    en: "contact|contact details|contact information|contact me|personal details|personal information|personal data|personal info|details|contacts|personal|get in touch|address|contact info",
    de: "kontakt|persönliche daten|kontaktdaten|persönliche angaben|angaben zur person|persönliches|kontaktinformationen|personalien|anschrift",
    fr: "contact|coordonnées|informations personnelles|contacts|état civil|me contacter|données personnelles",
    es: "contacto|datos personales|datos de contacto|información personal|información de contacto|contactos",
    it: "contatti|contatto|dati personali|informazioni personali|recapiti|dati anagrafici|informazioni di contatto",
    pt: "contacto|contato|contactos|contatos|dados pessoais|informação pessoal|informações pessoais|dados de contacto|informações de contato",
    nl: "contact|persoonsgegevens|persoonlijke gegevens|contactgegevens|personalia|gegevens|persoonlijke informatie",
    pl: "kontakt|dane osobowe|dane kontaktowe|informacje kontaktowe|dane",
    nordic:
      "kontakt|personuppgifter|kontaktuppgifter|kontaktoplysninger|personlige oplysninger|personopplysninger|kontaktinformasjon|yhteystiedot|henkilötiedot|personlige data|personalia",
    central:
      "kontakt|osobní údaje|kontaktní údaje|osobné údaje|elérhetőség|elérhetőségek|személyes adatok|kapcsolat|date personale|date de contact|informații personale|iletişim|kişisel bilgiler|osobni podaci",
    east: "контакты|личные данные|контакти|лични данни|контактная информация|особисті дані|επικοινωνία|στοιχεία επικοινωνίας|προσωπικά στοιχεία",
  },
  other: {
    en: "references|awards|honors|honours|projects|volunteering|volunteer work|volunteer experience|volunteer|achievements|additional information|awards and honors|awards and honours|personal projects|selected projects|memberships|professional memberships|affiliations|military service|patents|portfolio|links|social media|driving licence|driving license|referees|miscellaneous|community|leadership|key projects|key achievements|social|online|follow me|declaration|hobby projects|community service|research|conferences|presentations",
    de: "referenzen|projekte|ehrenamt|ehrenamtliches engagement|auszeichnungen|sonstiges|engagement|wehrdienst|führerschein|mitgliedschaften|preise|stipendien|weitere informationen|projekterfahrung|links|soziales engagement|zivildienst|bundesfreiwilligendienst",
    fr: "références|projets|bénévolat|distinctions|divers|prix|permis|permis de conduire|engagement associatif|réalisations|vie associative|informations complémentaires|liens|réseaux sociaux|projets personnels|récompenses|réseaux",
    es: "referencias|proyectos|voluntariado|premios|otros datos|otros|información adicional|logros|carnet de conducir|datos de interés|otros datos de interés|reconocimientos|redes|redes sociales|enlaces|permiso de conducir",
    it: "referenze|progetti|volontariato|premi|altro|ulteriori informazioni|patente|patente di guida|riconoscimenti|social|link|altre informazioni|attività di volontariato|trattamento dei dati personali",
    pt: "referências|projetos|projectos|voluntariado|prémios|prêmios|informações adicionais|outros|carta de condução|outras informações|redes sociais|informação adicional|trabalho voluntário|conquistas",
    nl: "referenties|projecten|vrijwilligerswerk|prijzen|overig|overige|nevenactiviteiten|rijbewijs|nevenfuncties|overige informatie|sociale media|bestuurswerk",
    pl: "referencje|projekty|wolontariat|nagrody|dodatkowe informacje|osiągnięcia|prawo jazdy|klauzula|inne|informacje dodatkowe|dodatkowe|nagrody i wyróżnienia",
    nordic:
      "referenser|projekt|referencer|referanser|prosjekter|projekter|ideellt arbete|frivilligt arbejde|frivillig arbeid|frivilligt arbete|suosittelijat|projektit|utmärkelser|körkort|övrigt|kørekort|førerkort|frivilligarbejde|verv",
    central:
      "reference|projekty|dobrovolnictví|referencie|referenciák|projektek|önkéntesség|referințe|proiecte|voluntariat|referanslar|projeler|reference a doporučení|řidičský průkaz|další informace|reference na vyžádání|gönüllülük|ödüller|nagrade|reference osob",
    east: "рекомендации|проекты|достижения|дополнительная информация|проєкти|рекомендації|συστάσεις",
  },
};

/** Titles of the whole document, which are neither headings nor names. */
const titles = new Set(
  "curriculum vitae|curriculum|cv|resume|résumé|lebenslauf|tabellarischer lebenslauf|hoja de vida|currículum vitae|currículum|currículo|curriculo|życiorys|levensloop|meritförteckning|ansioluettelo|životopis|önéletrajz|özgeçmiş|резюме|βιογραφικό σημείωμα|europass|europass curriculum vitae|curriculum vitae europass|europass cv|cv europass|bewerbung|bewerbungsunterlagen|europass lebenslauf"
    .split("|")
    .map(foldCase),
);

const sections = new Map<string, SectionName>();
for (const [name, languages] of Object.entries(headings) as [SectionName, Readonly<Record<string, string>>][])
  for (const phrase of Object.values(languages).flatMap((list) => list.split("|")))
    for (const key of [foldCase(phrase), toSpaced(foldCase(phrase))]) if (!sections.has(key)) sections.set(key, name);

const longestHeading = 60;
/** Two headings in one: "Skills & Languages". */
const conjunction = /\s*(?:&|\+|\/|,)\s*|\s+(?:and|und|et|y|e|ed|en|i|och|og|ja|a|és|și|ve|и|та)\s+/u;

/** The section that a line starts; null: the line is no heading. */
export function findSection(line: string): SectionName | null {
  const text = toPlain(line);
  if (text === "" || text.length > longestHeading) return null;
  const known = sections.get(text);
  if (known !== undefined) return known;
  const parts = text.split(conjunction);
  if (parts.length < 2 || parts.length > 3) return null;
  // The last part may depend on the first: "education and relevant training".
  const found = parts.map((part) => sections.get(part.trim()));
  return found.every((section) => section !== undefined) ? (found[0] ?? null) : null;
}

export function isDocumentTitle(line: string): boolean {
  return titles.has(toPlain(line));
}

/** Without numbering and decoration. */
function toPlain(line: string): string {
  if (line.length > 2 * longestHeading) return "";
  return foldCase(line.replace(/^[^\p{L}]+|[^\p{L})]+$/gu, "").replace(/\s+/g, " "));
}

/** Some headings are printed with spaces between the letters. */
function toSpaced(text: string): string {
  return [...text.replaceAll(" ", "")].join(" ");
}
