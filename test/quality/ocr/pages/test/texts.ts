// Texts and tables of the test split, written for it. Do not tune on them.

import { readTable } from "../../../read-table.ts";

export interface PageText {
  readonly title: string;
  readonly paragraphs: readonly [string, string, string];
}

type Language = "en" | "de" | "fr" | "es" | "pl" | "pt" | "nl";

export const texts: Readonly<Record<Language, PageText>> = {
  en: {
    title: "Notes on repairing a piano",
    paragraphs: [
      "A piano that has stood in a damp hall for eleven winters does not complain; it simply stops agreeing with itself. Before you touch a single string, open the lid and listen. Press each key slowly and write down which hammers hesitate. In ours, 23 of 88 did.",
      "The cheapest cure is patience. We moved the instrument to a dry room, set a bowl of water underneath (too dry is as bad as too wet) and waited six weeks. Twelve of the sluggish hammers recovered without help, which saved about $340 in labour.",
      'Only then did Mr. Abernathy arrive with his felt, his glue and his opinions. "Never trust a quiet piano," he said, tightening the lowest C by a quarter turn. By Friday at 5:30 p.m. it sounded almost cheerful.',
    ],
  },
  de: {
    title: "Vom richtigen Zeitpunkt der Ernte",
    paragraphs: [
      "Äpfel verraten sich. Hebt man die Frucht leicht an und dreht sie um ein Viertel, löst sich der Stiel von selbst – oder eben nicht. Wer trotzdem zieht, büßt es im Winter: Unreif gepflückte Früchte schrumpeln bereits nach fünf Wochen im Keller.",
      "In unserer Streuobstwiese stehen 64 Bäume, darunter neun sehr alte Sorten wie der »Geflammte Kardinal« und der »Rote Ziegler«. Im Jahr 2023 ernteten wir 1.875 kg, im nassen Jahr darauf kaum ein Drittel. Für Saft genügt auch Fallobst, sofern es nicht fault.",
      "Gelagert wird kühl, dunkel und getrennt von Kartoffeln, weil sich beide gegenseitig stören. Ein Blick pro Woche reicht: Was Flecken zeigt, kommt zuerst in die Küche. Übrig bleibt im März meist nur der Boskoop, säuerlich, zäh und köstlich.",
    ],
  },
  fr: {
    title: "Comment naît une carte marine",
    paragraphs: [
      "Avant de dessiner une côte, il faut l'écouter. Un navire hydrographique parcourt la baie en lignes parallèles, espacées de vingt mètres, et envoie vers le fond des milliers d'impulsions sonores. L'écho, plus ou moins tardif, révèle la profondeur exacte.",
      "Rien n'est gratuit : une journée de relevés coûte près de 18 400 €, équipage compris. On reporte ensuite les épaves, les câbles, les hauts-fonds où s'échouaient jadis les goélettes. « Une erreur d'un mètre suffit », rappelle l'ingénieure Hélène Guérin.",
      "La carte imprimée a presque disparu, pourtant les pêcheurs de Noirmoutier la préfèrent encore à l'écran. Elle ne tombe jamais en panne, disent-ils, et l'on peut y noter au crayon où le bar mordait l'été dernier.",
    ],
  },
  es: {
    title: "La biblioteca que cabía en una mula",
    paragraphs: [
      "Los sábados, muy temprano, el maestro cargaba dos alforjas con sesenta libros y subía hacia las veredas más altas. Tardaba cuatro horas en llegar a la primera escuela. Los niños, avisados por los perros, lo esperaban sentados en el muro.",
      "Cada familia podía quedarse un libro durante quince días; si lo devolvía sin manchas, la siguiente vez podía pedir dos. En diez años se perdieron únicamente 31 ejemplares, casi todos de cocina. ¿Quién se atrevería a reclamar una receta?",
      "Hoy existe una carretera y, en teoría, también Internet. Sin embargo, cuando llueve más de 80 milímetros, la carretera se corta, la señal desaparece y alguien, señalando el establo, pregunta: «¿Y la mula?».",
    ],
  },
  pl: {
    title: "Jak czytać drewno",
    paragraphs: [
      "Stary stolarz nie mierzy deski, zanim jej nie powącha. Świeżo ścięta sosna pachnie żywicą, dąb – winem i garbnikiem, a grusza prawie niczym. Dopiero potem przesuwa dłonią wzdłuż słojów, szukając miejsca, w którym drewno „ciągnie” w bok.",
      "Suszenie trwa dłużej, niż ktokolwiek chciałby czekać: mniej więcej rok na każdy centymetr grubości. Przyśpieszone w suszarni kosztuje 260 zł za metr sześcienny i zwykle kończy się pęknięciami. Pośpiech, mówią na Podhalu, to najdroższa piła.",
      "Najtrudniejsze są źle przechowywane bale. Zdarza się, że w środku tkwi gwóźdź sprzed stu lat albo kula z czasów wojny. Ostrze wtedy krzyczy, iskry lecą aż pod sufit, a warsztat na chwilę milknie.",
    ],
  },
  pt: {
    title: "O relógio da estação velha",
    paragraphs: [
      "Desde que a linha fechou, em 1990, ninguém dava corda ao relógio da estação. Parou às onze e dezassete, não se sabe de que noite, e assim ficou até a associação de moradores decidir que a vila merecia horas certas outra vez.",
      "Desmontá-lo levou um fim de semana inteiro. Havia ninhos de andorinha atrás do mostrador, três moedas de escudo e uma carta nunca entregue. A limpeza custou 1.150,00 €, pagos com rifas, bolos e um concerto da filarmónica.",
      "Na manhã da reinauguração choveu sem parar. Mesmo assim juntaram-se mais de duzentas pessoas, e quando soou a primeira badalada – um pouco desafinada, é verdade – o presidente da junta esqueceu-se do discurso.",
    ],
  },
  nl: {
    title: "Een dijk van gewone mensen",
    paragraphs: [
      "Wie 's winters over de zeedijk fietst, ziet weinig: gras, schapen en aan weerszijden water dat nergens naartoe lijkt te willen. Toch wordt elke meter twee keer per jaar gecontroleerd door vrijwilligers met laarzen, een stok en een notitieblok.",
      "Ze zoeken naar molshopen, scheuren en zachte plekken. Een gat van amper tien centimeter kan bij storm genoeg zijn. Vorig najaar werden 417 meldingen gedaan, waarvan er zes dringend bleken; de reparatie kostte € 23.800.",
      'De oudste dijkwacht, mevrouw Terpstra, is 79 en loopt nog steeds haar acht kilometer. "Ik doe het niet voor de gemeente," zegt ze, terwijl ze over het hek klimt, "ik doe het omdat ik hieronder slaap."',
    ],
  },
};

export const japanese = {
  title: "山の図書館",
  paragraphs: [
    "この図書館は山の上にあります。毎週土曜日の朝、先生は本を六十冊ほど車にのせて、長い道をのぼります。",
    "子どもたちは門の前で先生を待っています。一人二冊まで、二週間借りることができます。",
  ],
} as const;

export const chinese = {
  title: "旧车站的时钟",
  paragraphs: [
    "自从铁路停运以后，车站的时钟就停在十一点十七分。去年春天，居民决定把它修好。",
    "修理花了三个月，费用是一千二百元。开放那天下着雨，可是来了两百多人。",
  ],
} as const;

type Rows = readonly (readonly string[])[];

export const tables: Readonly<Record<"orchard" | "ferries" | "parts" | "marks" | "cables" | "wood", Rows>> = {
  orchard: readTable(`
    Sorte | Bäume | Ertrag kg | Reife
    Boskoop | 14 | 412,5 | Oktober
    Gravensteiner | 9 | 187,0 | August
    Roter Ziegler | 5 | 96,4 | September
    Goldparmäne | 11 | 305,8 | Oktober
    Klarapfel | 3 | 41,2 | Juli
    Zuccalmaglio | 7 | 158,9 | November
  `),
  ferries: readTable(`
    Departure | Pier | Vessel | Arrival | Fare
    06:45 | 1 | Kittiwake | 08:10 | 12.40
    09:20 | 3 | Guillemot | 10:45 | 12.40
    12:05 | 1 | Kittiwake | 13:30 | 9.80
    16:50 | 2 | Razorbill | 18:25 | 14.00
    21:15 | 3 | Guillemot | 22:40 | 9.80
  `),
  parts: readTable(`
    Référence | Désignation | Quantité | Prix HT
    FX-2201 | Joint torique 24 mm | 50 | 0,38
    FX-2207 | Vanne papillon | 4 | 86,20
    GR-0415 | Manomètre à bain | 2 | 54,75
    GR-0431 | Raccord cannelé | 120 | 1,12
  `),
  marks: readTable(`
    Alumno | Lengua | Historia | Música | Media
    Aranda | 7,5 | 8,0 | 9,0 | 8,2
    Bermejo | 6,0 | 5,5 | 7,0 | 6,2
    Cifuentes | 9,5 | 9,0 | 8,5 | 9,0
    Domínguez | 4,0 | 6,5 | 7,5 | 6,0
    Escobar | 8,0 | 7,5 | 6,0 | 7,2
  `),
  cables: readTable(`
    Cable | Length m | Cores | Reel
    NYM-J 3 x 1.5 | 100 | 3 | R7
    H07RN-F 5 x 2.5 | 50 | 5 | R2
    Cat 6A S/FTP | 305 | 8 | R9
    Fibre OS2 | 500 | 24 | R1
  `),
  wood: readTable(`
    Gatunek | Grubość mm | Sztuk | Cena zł
    Dąb | 52 | 18 | 4100
    Jesion | 38 | 27 | 3350
    Świerk | 25 | 140 | 1290
    Brzoza | 32 | 64 | 1780
  `),
};
