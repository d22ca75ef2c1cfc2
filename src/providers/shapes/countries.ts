// Countries as identity papers name them. The pairs of codes are those of ISO 3166-1; names come from the runtime's own data.

/** Two and three letters, one after the other. */
const pairs =
  "AFAFG ALALB DZDZA ASASM ADAND AOAGO AIAIA AQATA AGATG ARARG AMARM AWABW AUAUS ATAUT AZAZE BSBHS BHBHR BDBGD BBBRB BYBLR BEBEL " +
  "BZBLZ BJBEN BMBMU BTBTN BOBOL BQBES BABIH BWBWA BVBVT BRBRA IOIOT BNBRN BGBGR BFBFA BIBDI CVCPV KHKHM CMCMR CACAN KYCYM CFCAF " +
  "TDTCD CLCHL CNCHN CXCXR CCCCK COCOL KMCOM CGCOG CDCOD CKCOK CRCRI CICIV HRHRV CUCUB CWCUW CYCYP CZCZE DKDNK DJDJI DMDMA DODOM " +
  "ECECU EGEGY SVSLV GQGNQ ERERI EEEST SZSWZ ETETH FKFLK FOFRO FJFJI FIFIN FRFRA GFGUF PFPYF TFATF GAGAB GMGMB GEGEO DEDEU GHGHA " +
  "GIGIB GRGRC GLGRL GDGRD GPGLP GUGUM GTGTM GGGGY GNGIN GWGNB GYGUY HTHTI HMHMD VAVAT HNHND HKHKG HUHUN ISISL ININD IDIDN IRIRN " +
  "IQIRQ IEIRL IMIMN ILISR ITITA JMJAM JPJPN JEJEY JOJOR KZKAZ KEKEN KIKIR KPPRK KRKOR KWKWT KGKGZ LALAO LVLVA LBLBN LSLSO LRLBR " +
  "LYLBY LILIE LTLTU LULUX MOMAC MGMDG MWMWI MYMYS MVMDV MLMLI MTMLT MHMHL MQMTQ MRMRT MUMUS YTMYT MXMEX FMFSM MDMDA MCMCO MNMNG " +
  "MEMNE MSMSR MAMAR MZMOZ MMMMR NANAM NRNRU NPNPL NLNLD NCNCL NZNZL NINIC NENER NGNGA NUNIU NFNFK MKMKD MPMNP NONOR OMOMN PKPAK " +
  "PWPLW PSPSE PAPAN PGPNG PYPRY PEPER PHPHL PNPCN PLPOL PTPRT PRPRI QAQAT REREU ROROU RURUS RWRWA BLBLM SHSHN KNKNA LCLCA MFMAF " +
  "PMSPM VCVCT WSWSM SMSMR STSTP SASAU SNSEN RSSRB SCSYC SLSLE SGSGP SXSXM SKSVK SISVN SBSLB SOSOM ZAZAF GSSGS SSSSD ESESP LKLKA " +
  "SDSDN SRSUR SJSJM SESWE CHCHE SYSYR TWTWN TJTJK TZTZA THTHA TLTLS TGTGO TKTKL TOTON TTTTO TNTUN TRTUR TMTKM TCTCA TVTUV UGUGA " +
  "UAUKR AEARE GBGBR USUSA UMUMI UYURY UZUZB VUVUT VEVEN VNVNM VGVGB VIVIR WFWLF EHESH YEYEM ZMZMB ZWZWE AXALA";

const threeByTwo = new Map(pairs.split(" ").map((pair) => [pair.slice(0, 2), pair.slice(2)]));
const twoByThree = new Map([...threeByTwo].map(([two, three]) => [three, two]));
const names = new Intl.DisplayNames(["en"], { type: "region" });

export interface Country {
  readonly name: string;
  readonly alpha2: string;
  readonly alpha3: string;
}

/** By a code of two or three letters; null for what is no country's. */
export function findCountry(code: unknown): Country | null {
  if (typeof code !== "string") return null;
  const wanted = code.trim().toUpperCase();
  const alpha2 = wanted.length === 3 ? twoByThree.get(wanted) : wanted;
  const alpha3 = alpha2 === undefined ? undefined : threeByTwo.get(alpha2);
  if (alpha2 === undefined || alpha3 === undefined) return null;
  return { name: names.of(alpha2) ?? alpha2, alpha2, alpha3 };
}
