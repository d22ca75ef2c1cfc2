// Converts a card of the price file to rates for the computation of costs: rates that follow from others are filled in, and amounts are in
// pico-dollars per token.

import { toPicoPerToken } from "../lib/money.ts";
import { feeNames, type RateCard, type RateName, type ScheduledCard } from "./price-file.ts";

/** The kinds of tokens that vendors bill. `input` and `output` are text outside of caches, and output that the caller sees. */
export const inputParts = [
  ...(["input", "cacheRead", "cacheReadAudio", "cacheReadImage", "cacheWrite5m", "cacheWrite1h"] as const),
  ...(["audioInput", "imageInput", "videoInput"] as const),
];
export const outputParts = ["output", "reasoning", "audioOutput", "imageOutput"] as const;
/** What vendors bill by the call. A search unit is one query over up to a hundred documents. */
const feeParts = [
  ...(["webSearch", "webSearchPreview", "groundedPrompt", "fileSearch", "codeExecution", "searchUnit"] as const),
];

export type TokenPart = (typeof inputParts)[number] | (typeof outputParts)[number];
export type FeePart = (typeof feeParts)[number];

/** Pico-dollars per token or call. Null: the vendor charges for it, but the price is unknown. */
export type Rates = Readonly<Record<TokenPart | FeePart, number | null>>;

/** The member of a rate card that prices a part. */
export const rateNameOf: Readonly<Record<TokenPart | FeePart, RateName>> = {
  input: "input",
  cacheRead: "cache_read",
  cacheReadAudio: "audio_cache_read",
  cacheReadImage: "image_cache_read",
  cacheWrite5m: "cache_write",
  cacheWrite1h: "cache_write_1h",
  audioInput: "audio_input",
  imageInput: "image_input",
  videoInput: "video_input",
  output: "output",
  reasoning: "reasoning",
  audioOutput: "audio_output",
  imageOutput: "image_output",
  webSearch: "web_search",
  webSearchPreview: "web_search_preview",
  groundedPrompt: "grounded_prompt",
  fileSearch: "file_search",
  codeExecution: "code_execution",
  searchUnit: "search_unit",
};

export interface Bracket {
  /** Applies if the request has more input tokens than this. */
  readonly aboveTokens: number;
  readonly rates: Rates;
}

/** The rates of a model by time, service tier and length of the prompt. */
export interface Schedule {
  /** Null if the service tier has no price. */
  ratesAt(at: Date, tier: string, inputTokens: number): Rates | null;
  /** Rates by length of the prompt, ascending, for the standard tier outside of peak hours. */
  bracketsAt(at: Date): readonly Bracket[];
}

export const standardTier = "standard";

type CompiledCard = ReturnType<typeof compileCard>;

/** A card with every rate that follows from another filled in. */
export function compileCard(card: ScheduledCard, audioAsText: boolean) {
  const tiers = new Map<string, readonly Bracket[]>();
  for (const [name, tier] of Object.entries(card.tiers ?? {})) {
    // Fees do not depend on the service tier.
    const ownCard = typeof tier === "number" ? card : { ...feesOf(card), ...tier };
    tiers.set(name, toBrackets(ownCard, audioAsText, typeof tier === "number" ? tier : 1));
  }
  return {
    fromMs: card.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(card.from),
    /** Minutes of the day in UTC; the window may span midnight. */
    window: card.hours === undefined ? null : { start: toMinutes(card.hours[0]), end: toMinutes(card.hours[1]) },
    days: card.days === undefined ? null : new Set(card.days),
    brackets: toBrackets(card, audioAsText, 1),
    tiers,
  };
}

export function toSchedule(cards: readonly CompiledCard[]): Schedule {
  const first = cards[0] as CompiledCard;
  const everyDay = cards.filter((card) => card.window === null && card.days === null);
  return {
    bracketsAt: (at) => (everyDay.findLast((card) => applies(card, at)) ?? first).brackets,
    ratesAt(at, tier, inputTokens) {
      const card = cards.length === 1 ? first : (cards.findLast((candidate) => applies(candidate, at)) ?? first);
      const brackets = tier === standardTier ? card.brackets : card.tiers.get(tier);
      if (brackets === undefined) return null;
      let rates = (brackets[0] as Bracket).rates;
      for (let i = 1; i < brackets.length; i += 1) {
        const bracket = brackets[i] as Bracket;
        if (inputTokens > bracket.aboveTokens) rates = bracket.rates;
      }
      return rates;
    },
  };
}

function applies(card: CompiledCard, at: Date): boolean {
  if (at.getTime() < card.fromMs) return false;
  // getUTCDay returns 0 for Sunday.
  if (card.days !== null && !card.days.has(at.getUTCDay() || 7)) return false;
  if (card.window === null) return true;
  const minute = at.getUTCHours() * 60 + at.getUTCMinutes();
  const { start, end } = card.window;
  return start < end ? minute >= start && minute < end : minute >= start || minute < end;
}

function toMinutes(clock: string): number {
  const [hours = "0", minutes = "0"] = clock.split(":");
  return Number(hours) * 60 + Number(minutes);
}

type RateSet = Partial<Record<RateName, number | undefined>>;

function toBrackets(card: RateSet & Pick<RateCard, "above">, audioAsText: boolean, factor: number): readonly Bracket[] {
  const brackets: Bracket[] = [{ aboveTokens: 0, rates: toRates(card, audioAsText, factor) }];
  const ascending = [...(card.above ?? [])].sort((left, right) => left.tokens - right.tokens);
  let known: RateSet = card;
  for (const { tokens, ...higher } of ascending) {
    known = { ...known, ...higher };
    brackets.push({ aboveTokens: tokens, rates: toRates(known, audioAsText, factor) });
  }
  return brackets;
}

function feesOf(card: RateSet): RateSet {
  return Object.fromEntries(feeNames.map((name) => [name, card[name]]));
}

// Fees are per thousand calls, not per million.
const millionPerThousand = 1_000;

/**
 * The rate to use if a vendor publishes none. Without a published discount, cached input costs as much as input. Input images and videos are
 * billed as text tokens, and reasoning as output. Output audio and images are never billed as text, and input audio only if the vendor says so.
 */
function toRates(card: RateSet, audioAsText: boolean, factor: number): Rates {
  const rate = (name: RateName) => {
    const usd = card[name];
    return usd === undefined ? null : Math.round(toPicoPerToken(usd) * factor);
  };
  const input = rate("input");
  const cacheRead = rate("cache_read") ?? input;
  const cacheWrite = rate("cache_write");
  const audio = rate("audio_input");
  const image = rate("image_input");
  const output = rate("output");
  const webSearch = toFee(card.web_search);
  return {
    input,
    cacheRead,
    cacheReadAudio: rate("audio_cache_read") ?? audio ?? (audioAsText ? cacheRead : null),
    cacheReadImage: rate("image_cache_read") ?? image ?? cacheRead,
    cacheWrite5m: cacheWrite ?? input,
    // Vendors that bill cache writes charge more for one hour than for minutes.
    cacheWrite1h: rate("cache_write_1h") ?? (cacheWrite === null ? input : null),
    audioInput: audio ?? (audioAsText ? input : null),
    imageInput: image ?? input,
    videoInput: rate("video_input") ?? input,
    output,
    reasoning: rate("reasoning") ?? output,
    audioOutput: rate("audio_output"),
    imageOutput: rate("image_output"),
    webSearch,
    webSearchPreview: toFee(card.web_search_preview) ?? webSearch,
    groundedPrompt: toFee(card.grounded_prompt),
    fileSearch: toFee(card.file_search),
    codeExecution: toFee(card.code_execution),
    searchUnit: toFee(card.search_unit),
  };
}

function toFee(usdPerThousand: number | undefined): number | null {
  return usdPerThousand === undefined ? null : toPicoPerToken(usdPerThousand) * millionPerThousand;
}

/** The rates of the standard tier, whatever the tier. */
export function inEveryTier(schedule: Schedule): Schedule {
  return { ...schedule, ratesAt: (at, _tier, inputTokens) => schedule.ratesAt(at, standardTier, inputTokens) };
}

export const freeRates = Object.fromEntries(
  [...inputParts, ...outputParts, ...feeParts].map((name) => [name, 0]),
) as unknown as Rates;

/** Free of charge in every service tier. */
export const freeSchedule: Schedule = {
  ratesAt: () => freeRates,
  bracketsAt: () => [{ aboveTokens: 0, rates: freeRates }],
};
