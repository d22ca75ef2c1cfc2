// Words that express an opinion or a feeling, or report luck or trouble. They tell an opinion from a plain fact.

/** Stems, which may be followed by one of the suffixes. */
const positiveStems = new Set(
  "accura admir ador affordab amazing appreciat attentiv awesome bargain beaut benefi best better bless bliss blissf brave bravo breathtak bright brilliant calm captivat carefully caring celebrat charm cheer clean clear clever comfort commend compliment congrat convenien cool courte cozy crisp crispest cuddl cute dazzl decent delect delicious delight dependab deserv durab eager ease easier easily easy ecstatic effective efficien effortless elegan enchant encourag enjoy enthus excellen exceptional excit exemplary exquisite extraordinar fabul fair faithful fantastic fascinat fast faster fastest favorit favourit fine finest flawless flexib fond fresh friend fun funny gem generous genius gentle genuin glad glorious good gorgeous grac grand grateful great grin handy happi happy harmon heart heaven helped helpful highlight honest honor honour hopeful hospitab hug huge ideal impecc impress improv incredib innovat inspir intelligent interesting intuitive joy keen kindly kindness laugh legend liked likes lively love lovel loving luck luxur magic magnific magnificent marvel masterpiece memorab mesmer miracl neat nice nicest outstanding painless passion patien peaceful perfect phenomenal pleasant pleasantly pleased pleasing pleasure polite popular positiv powerful prais precis prett prompt proud proudly quick quicker quiet recommend refresh relax reliab relief reliev remarkab resolved respectful responsiv reward robust romantic safe satisf scenic seamless sensational sincere skil smart smil smooth smoother solid solved soothing sparkl special spectacular splendid spotless stable stellar stunning sturd stylish success super superb superior surpris sweet talent tasty terrific thank thoughtful thrill tidy timely treasure tremendous triumph trust unbeatable unforgettab uplift useful valuab value vibrant victor warm welcom win winner wins won wonder worth wow yummy".split(
    " ",
  ),
);
const negativeStems = new Set(
  "abandon absurd abus accident ache aggress agon alarm angr annoy anxi appal arrog asham atrocious avoid awful awkward bad badly bankrupt betray bitter bland bleak bleed blunder bogus bore bored boredom boring bother brok broke bug burden burn burnt careless catastroph chaos chaotic cheap cheat clumsy clunky cold collaps complain complicat confus contamin corrupt crack cracked cramp crap crash crazy creep cried crime crisis crook crowd cruel cry crying cumbersom curse damag danger death deceiv decept defect defectiv degrad delay delayed deni depress desper despic destroy deteriorat difficult dirt disappear disappoint disast disaster discourag disgrac disgust dishonest dislik dismal dismay disorganis disorganiz disrespect distress disturb doubt dread dull dumb embarrass empty error evil exhaust expensive fail failure fak false fault fear fedup filthy flaw flimsy foul fraud frighten froze frustrat furious fuss garbag glitch gloom greas gross grumpy guilt hassle hate hatred headache heartbr horri hostil humiliat hurt idiot ignor ill impolite imposs inaccura inadequat incompeten inconvenien incorrect inedible inferior injur insan insult intolerab irrespons irritat jam jamm junk lack lag lame late lazy leak leaking lie lied lies lonel lose losing loss lost lousy mad madly malfunction mess misera mislead miss missed mistak mistreat moldy monoton mould mouldy nast needless neglect nervous nightmare nois noisy nonsens nowhere nuisance obnox offend outdat outrag overcharg overcook overcrowd overpric overrat pain panic patheti peel plagu pointless poison poor poorly pricey problem punish rage refus regret reject repuls resent ridicul rip-off ripped robbed rotten rough rubbish rude ruin rust sad scam scare scary scratch selfish shabby shame shatter shock shoddy sick slopp sloppily slow smell sore sour spam spoil stain stale stink stole stolen stopped stranded stress stubborn stuck stupid suck suffer tacky tasteless tear tedious terribl terrifi threat tired torn torture toxic tragic trap trash trick trouble ugl unable unaccept unbearab uncomfort uncooperat undercook uneven unfair unfinish unfortunat unfriendly unhapp unhappy unhelpful unhygien uninspir unnecessar unpleas unpredictab unprofession unreliab unresponsiv unsafe unstable unsuit untrustworth unusab unwelcome unwell upset useless vandal vile violat vomit vulgar wast weak weird worn worr wors worsen worst worthless wound wreck wrong".split(
    " ",
  ),
);
const suffixes =
  ",s,es,d,ed,ing,ingly,ly,ally,y,ies,ied,er,est,ness,ful,fully,ment,ion,ions,ation,ations,able,ably,ible,ibly,ive,ively,ous,ously,al,ic,ity,ance,ant,ence,ent,cy,t,ate,ated,ating,e,ely,en,ening,ish,le,less,ty,some,ulations".split(
    ",",
  );
const negation = /^(?:not|no|never|nobody|nothing|none|without|cannot|neither|nor|hardly|barely|t)$/;
// As many words after a negation are negated, unless the clause ends before.
const negatedWords = 3;

export interface OpinionWords {
  readonly positive: number;
  readonly negative: number;
}

/** `words` are in lower case, with punctuation as words. */
export function countOpinionWords(words: readonly string[]): OpinionWords {
  let [positive, negative, negated] = [0, 0, 0];
  for (const word of words) {
    if (negation.test(word)) {
      negated = negatedWords;
      continue;
    }
    if (/^[.,!?;:]/.test(word)) negated = 0;
    const isPositive = hasStem(word, positiveStems);
    const isNegative = !isPositive && hasStem(word, negativeStems);
    // "not good" is negative, but "not bad" is hardly positive.
    if (isPositive && negated === 0) positive++;
    else if (isPositive || (isNegative && negated === 0)) negative++;
    negated = Math.max(0, negated - 1);
  }
  return { positive, negative };
}

function hasStem(word: string, stems: ReadonlySet<string>): boolean {
  return suffixes.some((suffix) => word.endsWith(suffix) && stems.has(word.slice(0, word.length - suffix.length)));
}
