// The languages that PP-OCRv6 reads: those of its authors' list whose letters are all among its characters.

/** Languages in other scripts than Latin, Chinese and Japanese are missing, and so are Vietnamese and Greek, of which it lacks accented letters. */
const languages = new Set(
  "af az bs ca cs cy da de en es et eu fi fr ga gl hr hu id is it ja ku la lb lt lv mi ms mt nb nl nn no oc pl pt qu rm ro sk sl sq sv sw tl fil tr uz zh".split(
    " ",
  ),
);
/** Serbian is written in two scripts. */
const latinOnly = new Set(["sr"]);

/** Whether it reads the language with this BCP-47 tag. */
export function readsLanguage(tag: string): boolean {
  const [primary = "", ...parts] = tag.toLowerCase().split(/[-_]/);
  if (parts.includes("cyrl") || parts.includes("arab")) return false;
  if (latinOnly.has(primary)) return parts.includes("latn");
  const code = /^[a-z]{2,3}$/.test(primary) ? new Intl.Locale(primary).language : primary;
  return languages.has(code);
}
