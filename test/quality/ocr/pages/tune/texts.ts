// Texts of the tune split, written for it.

export interface PageText {
  readonly title: string;
  readonly paragraphs: readonly [string, string, string];
}

export const texts: Readonly<Record<"en" | "de" | "fr" | "es" | "pl" | "it", PageText>> = {
  en: {
    title: "The lighthouse keeper's garden",
    paragraphs: [
      "When the last keeper left in 1984, nobody thought about the garden behind the tower. It was a strip of thin soil, barely twelve metres long, held together by a dry wall and by habit. Salt had killed the roses long before; what remained were leeks, kale and a stubborn row of rhubarb.",
      'A retired teacher from the village, Margaret Doyle, began to walk out there on Sundays. She brought seaweed in a wheelbarrow, 40 loads in the first winter, and wrote down the weather in a school exercise book. "Wind from the west, again," it says on nearly every page.',
      "Today the garden feeds three families, and visitors pay £2.50 to see it. The money goes into a tin box; the key hangs beside it. Nothing has ever been stolen, except, one year, all of the strawberries.",
    ],
  },
  de: {
    title: "Die Werkstatt am Kanal",
    paragraphs: [
      "Wer die schmale Brücke überquert, hört zuerst das Hämmern. In der alten Halle am Kanal repariert Frau Büttner seit 1997 Uhren, Nähmaschinen und alles, was sonst niemand mehr anfassen möchte. Auf dem Schild steht nur: »Größere Schäden auf Anfrage«.",
      "Die meisten Kunden kommen ohne Termin. Sie stellen Kartons auf den Tresen, erzählen von Großeltern und Dachböden, und manche bleiben länger, als die Reparatur dauert. Für eine Taschenuhr verlangt sie 45,80 €, für Geschichten nichts.",
      "Im vergangenen Jahr sollte die Halle abgerissen werden. 3.214 Unterschriften später ließ die Stadt den Plan fallen. Seitdem hängt neben dem Ofen ein Zettel mit dem Wort »Übermut« – und niemand weiß, wer ihn geschrieben hat.",
    ],
  },
  fr: {
    title: "Le marché du jeudi",
    paragraphs: [
      "Dès cinq heures, les camions reculent sur la place et les premières bâches claquent au vent. On y vend des fromages de chèvre, des œufs, des chaussettes, parfois une armoire normande. Le café d'en face ouvre exprès plus tôt pour les forains.",
      "Madame Lachaume tient le même étal depuis trente-deux ans. Elle pèse à l'ancienne, avec des poids en laiton, et arrondit toujours en faveur du client : « Ça fait 7,60 €, donnez-moi sept. » Sa fille, elle, préfère la balance électronique.",
      "À midi, tout disparaît en une demi-heure. Il ne reste que des feuilles de salade, un cageot oublié et le balayeur, qui siffle en ramassant les pièces tombées entre les pavés.",
    ],
  },
  es: {
    title: "El tren de las seis y media",
    paragraphs: [
      "Cada mañana, el tren de las seis y media sale de la estación con cuatro vagones y casi los mismos viajeros. El señor Núñez se sienta junto a la ventana y abre el periódico por la última página. «Las noticias importantes siempre están detrás», dice.",
      "En la tercera parada suben los estudiantes. Traen mochilas, sueño y una guitarra que nadie toca hasta pasado el túnel. El billete cuesta 3,20 € y, según el revisor, no ha cambiado desde el año 2011.",
      "Un día de enero nevó tanto que el tren se detuvo durante cinco horas. Aquella mañana los pasajeros aprendieron sus nombres, compartieron el café y decidieron, sin decirlo, sentarse siempre en los mismos asientos.",
    ],
  },
  pl: {
    title: "Piekarnia przy ulicy Młyńskiej",
    paragraphs: [
      "O czwartej rano na ulicy Młyńskiej świeci się tylko jedno okno. Pan Stanisław wyrabia ciasto tak, jak nauczył go ojciec: bez pośpiechu, żytnią mąką i wodą ze źródła. Pierwsze bochenki wychodzą z pieca przed szóstą.",
      "Kolejka ustawia się już o wpół do siódmej. Sąsiedzi rozmawiają o pogodzie, o dzieciach i o tym, że chleb znów podrożał – teraz kosztuje 8,90 zł. Nikt jednak nie odchodzi z pustymi rękami.",
      "W zeszłym roku przyjechała telewizja. Reporterka pytała o tajemnicę smaku, a piekarz wzruszył ramionami i odpowiedział: „Cierpliwość, proszę pani. I żeby drzwi zamykać, bo przeciąg”.",
    ],
  },
  it: {
    title: "La barca di nonno Efisio",
    paragraphs: [
      "La barca stava in cortile da prima che io nascessi, coperta da un telo verde e da due stagioni di foglie. Il nonno diceva che bisognava solo ridipingerla, ma ogni estate c'era qualcosa di più urgente: il tetto, le capre, la vendemmia.",
      "Nel 2009, quando compì ottant'anni, comprammo la vernice. Costò 64,70 € e durò tre giorni; lui non aiutò, ma restò seduto all'ombra a dirci dove avevamo sbagliato. Alla fine scrisse il nome con un pennello piccolissimo.",
      "La varammo all'alba, perché a quell'ora, spiegò, il mare non ha ancora deciso. Galleggiò. Lui annuì, accese la pipa e disse soltanto: «Visto? Mancava solo il colore».",
    ],
  },
};
