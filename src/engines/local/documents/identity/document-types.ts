// The kinds of identity documents, by the titles that are printed on them and by the code in the machine-readable zone.

import { foldCase } from "../fold-case.ts";

/** Titles without accents. */
const titles: readonly (readonly [type: string, titles: RegExp])[] = [
  [
    "driving licence",
    /\b(?:driv(?:er|ing)['’]?s?\s+licen[cs]e|driver\s+licen[cs]e|permis de conduire|fuhrerschein|permiso de conduc(?:ir|cion)|licencia de conducir|patente di guida|carta de conducao|carteira nacional de habilitacao|rijbewijs|prawo jazdy|korkort|kjorekort|forerkort|ajokortti|ridicsky prukaz|vodicsky preukaz|vezetoi engedely|permis de conducere|surucu belgesi|juhiluba|vaditaja aplieciba|vozacka dozvola|voznisko dovoljenje)\b|водительское удостоверение/,
  ],
  [
    "residence permit",
    /\b(?:residence permit|titre de sejour|aufenthaltstitel|permiso de residencia|permesso di soggiorno|verblijfstitel|verblijfsdocument|autorizacao de residencia|titulo de residencia|karta pobytu|uppehallstillstand|opholdstilladelse|oppholdstillatelse|oleskelulupa|povoleni k pobytu|residence card)\b/,
  ],
  [
    "identity card",
    /\b(?:identity card|carte nationale d['’]?\s?identite|carte d['’]identite|carte nationale|personalausweis|identitatskarte|identification card|id card|documento nacional de identidad|cedula de identidad|cedula de ciudadania|carta d['’]identita|cartao de cidadao|bilhete de identidade|carteira de identidade|identiteitskaart|dowod osobisty|id-?kort|nationellt identitetskort|henkilokortti|obcansky prukaz|obciansky preukaz|szemelyazonosito igazolvany|carte de identitate|kimlik karti|isikutunnistus|personas aplieciba|asmens tapatybes kortele|osobna iskaznica|osebna izkaznica|credencial para votar|national id(?:entity)?)\b|удостоверение личности|лична карта/,
  ],
  [
    "passport",
    /\b(?:passport|passeport|reisepass|pasaporte|passaporto|passaporte|paspoort|paszport|pass\b|passi|cestovni pas|cestovny pas|utlevel|pasaport|pase|pasas|putovnica|potni list)\b|паспорт|护照|旅券/,
  ],
  ["visa", /\b(?:visa|visum|visto|visado|wiza)\b/],
];
const codes: readonly (readonly [type: string, code: RegExp])[] = [
  ["passport", /^P/],
  ["visa", /^V/],
  ["residence permit", /^(?:[IAC]R|AR)/],
  ["identity card", /^[IAC]/],
];

export function findTypeByCode(code: string): string | null {
  return codes.find(([, pattern]) => pattern.test(code))?.[0] ?? null;
}

export function findTypeByTitle(text: string): string | null {
  const folded = foldCase(text.slice(0, 4_000));
  return titles.find(([, pattern]) => pattern.test(folded))?.[0] ?? null;
}
