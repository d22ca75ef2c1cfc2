// Names of people in scripts without capital letters, in chats that are written without them, and with the family name first.

import { cities } from "./cities.ts";
import type { PersonalDatum } from "./datum.ts";
import * as words from "./name-words.ts";

const letters = String.raw`[\p{L}\p{M}]`;

/** "my name is anna kowalska": chats are written without capitals. */
const lowerCaseAnnouncement =
  /(?<=(?<![\p{L}])(?:(?:my|his|her) name is|i['’]m|i am|this is|ich heiße|ich heisse|mein name ist|hier ist|je m['’]appelle|me llamo|mi nombre es|soy|mi chiamo|sono|me chamo|ik ben|jag heter|jeg heter|jeg hedder|nazywam się|jmenuji se|меня зовут|мене звати)\s)(?<given>\p{Ll}[\p{Ll}\p{M}'’-]{2,20})(?: (?<family>\p{Ll}[\p{Ll}\p{M}'’-]{2,20}))?(?![\p{L}\p{M}])/giu;

export function findInLowerCase(text: string): PersonalDatum[] {
  return Array.from(text.matchAll(lowerCaseAnnouncement)).flatMap((match): PersonalDatum[] => {
    const { given = "", family = "" } = match.groups ?? {};
    const [foldedGiven, foldedFamily] = [words.fold(given), words.fold(family)];
    if (given !== given.toLowerCase() || words.notNames.has(foldedGiven)) return [];
    const hasFamily =
      (words.familyNames.has(foldedFamily) || words.familyEnding.test(foldedFamily)) &&
      !words.notNames.has(foldedFamily);
    if (!words.givenNames.has(foldedGiven) || (words.ambiguousNames.has(foldedGiven) && !hasFamily)) return [];
    return [{ text: hasFamily ? match[0] : given, start: match.index, kind: "NAME", confidence: 0.8 }];
  });
}

/** "Müller, Hans-Peter; Schulze, Anke" and "Bergström, Elsa" in quotation marks: the family name first. */
const reversed = new RegExp(
  String.raw`(?<=^|[\n;:|("<][ \t]{0,2})(?<family>\p{Lu}${letters}{1,30}(?:-\p{Lu}${letters}{1,30})?), (?<given>\p{Lu}${letters}{1,30}(?:[ -]\p{Lu}${letters}{1,30})?)(?=[ \t]{0,2}(?:[\n;|)">]|$))`,
  "gu",
);

export function findReversed(text: string): PersonalDatum[] {
  return Array.from(text.matchAll(reversed)).flatMap((match): PersonalDatum[] => {
    const [family, given] = [words.fold(match.groups?.["family"] ?? ""), words.fold(match.groups?.["given"] ?? "")];
    const isGivenName = given.split(/[ -]/).every((part) => words.givenNames.has(part) && !words.riskyNames.has(part));
    if (!isGivenName || words.notNames.has(family) || words.thingWords.has(family) || cities.has(family)) return [];
    return [{ text: match[0], start: match.index, kind: "NAME", confidence: 0.91 }];
  });
}

const han = String.raw`[\p{Script=Han}々]`;
const kana = String.raw`[\p{Script=Hiragana}\p{Script=Katakana}ー]`;
/** Frequent family names of Japan. */
const japaneseFamilyNames =
  "佐藤|鈴木|高橋|田中|伊藤|渡辺|渡邊|山本|中村|小林|加藤|吉田|山田|佐々木|山口|松本|井上|木村|林|清水|斎藤|斉藤|山崎|森|池田|橋本|阿部|石川|山下|中島|石井|小川|前田|岡田|長谷川|藤田|後藤|近藤|村上|遠藤|青木|坂本|福田|太田|西村|藤井|金子|岡本|藤原|三浦|中野|原田|松田|竹内|中川|小野|田村|中山|和田|石田|森田|上田|原|柴田|酒井|工藤|横山|宮崎|宮本|内田|高木|安藤|谷口|大野|丸山|今井|高田|藤本|武田|村田|上野|杉山|増田|菅原|平野|久保|大塚|千葉|松井|岩崎|木下|野口|松尾|野村|菊地|佐野|大西|杉本|新井";

const withoutCapitals: readonly (readonly [confidence: number, pattern: RegExp])[] = [
  [
    0.93,
    new RegExp(
      String.raw`(?<=(?:姓名|氏名|お名前|名前|担当者?|联系人|聯絡人|依頼者|患者名|差出人|契約者|会員名|担当者名|受取人|保護者|氏名欄|收件人|收货人|患者|申请人|申請人|申請者|客户|客戶|お客様|署名|本人|宛先|成员|员工)\s{0,2}(?:[:：は是为]\s{0,2}|\s))(?:${han}{1,3}[ 　](?:${han}|${kana}){1,3}(?!\p{L}{0,8}[:：]|\p{L})|${han}{1,4}(?:(?!です|でした|と申)(?:${han}|${kana})){1,4}|${kana}{2,8}[ 　・]${kana}{2,8})(?=様|さん|です|[^\p{L}]|$)`,
      "gu",
    ),
  ],
  [
    0.9,
    new RegExp(
      String.raw`(?<=我叫|我是|我的名字是|私は|私の名前は)[${words.chineseFamilyNames}]?${han}{1,3}(?=[^\p{L}]|です|と申|住|，|$)`,
      "gu",
    ),
  ],
  [
    0.9,
    new RegExp(
      String.raw`(?<=^|[^\p{Script=Han}]|[的是给和与由向系请找叫])[${words.chineseFamilyNames}]${han}{1,2}(?=先生|女士|小姐|老师|老師|经理|經理|医生|醫生|同学)`,
      "gu",
    ),
  ],
  [
    0.9,
    new RegExp(
      String.raw`(?<![\p{Script=Han}])(?!拝啓|前略|株式会社|担当|お客|皆)${han}{2,4}[ 　]?(?:${han}|${kana}){0,3}(?=様|さん|氏(?!\p{L})|殿|くん|ちゃん)`,
      "gu",
    ),
  ],
  [
    0.85,
    new RegExp(
      String.raw`(?<![\p{Script=Han}])(?:${japaneseFamilyNames})[ 　]?(?:${han}|${kana}){1,3}?(?=です|と申|と言い|が担当|より(?:$|\s)|宛)`,
      "gu",
    ),
  ],
  [
    0.88,
    new RegExp(
      String.raw`(?<=联系人|聯絡人|收件人|收货人|申请人|申請人|客户|患者|经办人|负责人)[${words.chineseFamilyNames}]${han}{1,2}(?=[^\p{Script=Han}]|$)|(?<=由)[${words.chineseFamilyNames}]${han}{1,2}(?=签收|提交|负责|办理|批准|代为)`,
      "gu",
    ),
  ],
  [
    0.93,
    /(?<=(?:성명|이름|성함|담당자|담당(?!자)|환자|고객(?!님)|보낸 ?사람|신청인|수신|받는 ?사람|보내는 ?사람)\s{0,2}[:：은는]?\s{0,2})(?!님)[가-힣]{2,4}(?=[^가-힣]|님|씨|입니다|이고|$)/gu,
  ],
  [
    0.92,
    /(?<![가-힣])[김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원천방공][가-힣]{1,2}(?=\s?(?:입니다|이라고|고객|환자|대표|팀장|님|씨|귀하|선생님|과장|대리|부장|사장|교수)(?:께|의|이|은|는|을|에게|과|께서)?(?![가-힣]))/gu,
  ],
  [
    0.9,
    /(?<=(?:^|[^\p{L}\p{M}])(?:الاسم(?: الكامل)?|اسم (?:المريض|العميل|الزبون)|العميلة?|المريضة?|المستلم|المرسل|صاحب الحساب|السيدة?|اسمي|الأستاذة?|الدكتورة?|نام(?: و نام خانوادگی)?|نام خانوادگی|آقای|خانم|نام من|שם(?: מלא| פרטי| משפחה)?|שמי|מר|גב['׳]|ד["״]ר|לכבוד|नाम|मेरा नाम|श्री|श्रीमती|নাম|আমার নাম|பெயர்|పేరు|പേര്|ชื่อ|ชื่อ-นามสกุล|นาย|นางสาว|นาง|คุณ|نام|میرا نام)\s{0,2}[:：]?\s{0,2})[\p{L}\p{M}]{2,20}(?:[ \u00a0](?!(?:है|हैं|और|हूँ|मेरा|আমার|এবং|โทร|เบอร์|อายุ|อยู่|ورقم|ورقمي|وعمري|وأنا|وعنواني|وهاتفي|رقم|هاتف|من|في|است|هستم|و|אני|גר|גרה|טלפון|ہے|اور)(?![\p{L}\p{M}]))[\p{L}\p{M}]{2,20}){1,2}/gu,
  ],
];

export function findWithoutCapitals(text: string): PersonalDatum[] {
  return withoutCapitals.flatMap(([confidence, pattern]) =>
    Array.from(
      text.matchAll(pattern),
      (match): PersonalDatum => ({ text: match[0].trim(), start: match.index, kind: "NAME", confidence }),
    ),
  );
}
