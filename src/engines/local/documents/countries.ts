// Finds countries by the three-letter code in passports, and by the English name at the end of addresses.

import { lookUp } from "../../../lib/look-up.ts";

export interface Country {
  readonly name: string;
  readonly alpha2: string;
  readonly alpha3: string;
}

/** The three-letter and the two-letter code of each country. */
const codes =
  "AFGAF ALBAL DZADZ ASMAS ANDAD AGOAO AIAAI ATAAQ ATGAG ARGAR ARMAM ABWAW AUSAU AUTAT AZEAZ BHSBS BHRBH BGDBD BRBBB BLRBY BELBE " +
  "BLZBZ BENBJ BMUBM BTNBT BOLBO BIHBA BWABW BRABR BRNBN BGRBG BFABF BDIBI CPVCV KHMKH CMRCM CANCA CYMKY CAFCF TCDTD CHLCL CHNCN " +
  "COLCO COMKM COGCG CODCD COKCK CRICR CIVCI HRVHR CUBCU CYPCY CZECZ DNKDK DJIDJ DMADM DOMDO ECUEC EGYEG SLVSV GNQGQ ERIER ESTEE " +
  "SWZSZ ETHET FJIFJ FINFI FRAFR GABGA GMBGM GEOGE DEUDE GHAGH GIBGI GRCGR GRLGL GRDGD GTMGT GINGN GNBGW GUYGY HTIHT HNDHN HKGHK " +
  "HUNHU ISLIS INDIN IDNID IRNIR IRQIQ IRLIE ISRIL ITAIT JAMJM JPNJP JORJO KAZKZ KENKE KIRKI PRKKP KORKR KWTKW KGZKG LAOLA LVALV " +
  "LBNLB LSOLS LBRLR LBYLY LIELI LTULT LUXLU MACMO MDGMG MWIMW MYSMY MDVMV MLIML MLTMT MHLMH MRTMR MUSMU MEXMX FSMFM MDAMD MCOMC " +
  "MNGMN MNEME MARMA MOZMZ MMRMM NAMNA NRUNR NPLNP NLDNL NZLNZ NICNI NERNE NGANG MKDMK NORNO OMNOM PAKPK PLWPW PSEPS PANPA PNGPG " +
  "PRYPY PERPE PHLPH POLPL PRTPT PRIPR QATQA ROURO RUSRU RWARW KNAKN LCALC VCTVC WSMWS SMRSM STPST SAUSA SENSN SRBRS SYCSC SLESL " +
  "SGPSG SVKSK SVNSI SLBSB SOMSO ZAFZA SSDSS ESPES LKALK SDNSD SURSR SWESE CHECH SYRSY TWNTW TJKTJ TZATZ THATH TLSTL TGOTG TONTO " +
  "TTOTT TUNTN TURTR TKMTM TUVTV UGAUG UKRUA AREAE GBRGB USAUS URYUY UZBUZ VUTVU VATVA VENVE VNMVN YEMYE ZMBZM ZWEZW XKXXK";

/** Other common names and codes. */
const aliases: Readonly<Record<string, string>> = {
  AUT: "ÖSTERREICH,OESTERREICH",
  BEL: "BELGIQUE,BELGIË,BELGIE",
  BRA: "BRASIL",
  CAN: "KANADA",
  CHE: "SCHWEIZ,SUISSE,SVIZZERA",
  CHN: "中国,P.R. CHINA,PR CHINA",
  CZE: "CZECH REPUBLIC,ČESKÁ REPUBLIKA,CESKA REPUBLIKA,ČESKO",
  DEU: "D,DEUTSCHLAND",
  DNK: "DANMARK",
  ESP: "ESPAÑA",
  FIN: "SUOMI",
  GBR: "UK,GREAT BRITAIN,ENGLAND,SCOTLAND,WALES",
  HUN: "MAGYARORSZÁG",
  ITA: "ITALIA",
  JPN: "日本",
  MEX: "MÉXICO",
  NLD: "NEDERLAND,THE NETHERLANDS",
  NOR: "NORGE",
  POL: "POLSKA",
  ROU: "ROMÂNIA",
  SWE: "SVERIGE",
  TUR: "TURKEY,TÜRKİYE",
  USA: "UNITED STATES OF AMERICA,U.S.A.",
};

const regionNames = new Intl.DisplayNames(["en"], { type: "region" });
const countries = codes.split(" ").map(toCountry);
const byNameOrCode = new Map(
  countries.flatMap((country) => {
    const names = lookUp(aliases, country.alpha3)?.split(",") ?? [];
    return [country.alpha3, country.name.toUpperCase(), ...names].map((name): [string, Country] => [name, country]);
  }),
);

export function findCountry(nameOrCode: string): Country | null {
  return byNameOrCode.get(nameOrCode.trim().toUpperCase()) ?? null;
}

function toCountry(pair: string): Country {
  const alpha2 = pair.slice(3);
  return { name: regionNames.of(alpha2) ?? alpha2, alpha2, alpha3: pair.slice(0, 3) };
}
