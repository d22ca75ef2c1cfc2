// Chooses among the labelled amounts those that add up: subtotal + tax + charges - discounts = total. An amount that contradicts the others is
// not reported.

import { lookUp } from "../../../lib/look-up.ts";
import type { AmountLine } from "./amount-lines.ts";
import type { Found } from "./document-text.ts";

export interface AmountEvidence {
  readonly lines: readonly AmountLine[];
  /** Amounts without a known label. Only their row and value count. */
  readonly unlabelled: readonly AmountLine[];
  /** The sum of the items; null: there are none, or not all have an amount. */
  readonly itemSum: number | null;
  readonly currency: string | null;
}

export type AmountMember =
  | "total"
  | "subtotal"
  | "total_tax"
  | "amount_due"
  | "amount_paid"
  | "amount_change"
  | "amount_tip"
  | "amount_shipping"
  | "discount"
  | "service_charge"
  | "previous_unpaid_balance";

export interface Tax {
  readonly rate: number | null;
  readonly base: number | null;
  readonly amount: number;
}

export interface Reconciled {
  readonly amounts: Readonly<Record<AmountMember, Found<number> | null>>;
  readonly taxes: readonly Tax[];
  readonly taxRate: Found<number> | null;
  /** Why an amount is null although the document has one, by member. */
  readonly reasons: Readonly<Partial<Record<AmountMember, string>>>;
}

interface Candidate {
  readonly value: number;
  readonly weight: number;
  readonly row: number;
  /** The printed amounts whose sum the value is. */
  readonly lines: readonly AmountLine[];
}

interface Solution {
  readonly total: Candidate;
  readonly subtotal: Candidate;
  readonly tax: Candidate | null;
  readonly extras: ReadonlySet<AmountLine>;
  readonly score: number;
}

// Real documents have one or two candidates of each kind; the bounds keep hostile ones cheap.
const maxCandidates = 6;
const maxExtras = 6;
const maxPrinted = 40;

export function reconcile(evidence: AmountEvidence): Reconciled {
  const { lines } = evidence;
  const of = (...kinds: readonly AmountLine["kind"][]) => lines.filter(({ kind }) => kinds.includes(kind));
  const taxLines = distinctTaxes(of("tax"));
  const taxes = toTaxOptions(taxLines);
  const subtotals = toCandidates(of("subtotal"));
  const totals = toTotals(of("total"), of("due"), of("paid"));
  const extras = distinct(of("discount", "shipping", "service", "tip", "fee", "rounding", "withholding")).slice(
    -maxExtras,
  );
  const near = tolerance(evidence.currency, taxLines.length);
  const printed = [...of("total", "due"), ...evidence.unlabelled].slice(-maxPrinted).map(({ value }) => value);
  const search = { subtotals, totals, taxes, extras, near, printed, isSupported: findSupport(evidence, near) };
  const solution =
    solve(search) ??
    // A charge whose label is not known may be between the subtotal and the total.
    solve({ ...search, extras: [...extras, ...between(evidence.unlabelled, subtotals, totals)].slice(-maxExtras) }) ??
    // The label of the total may not be known.
    (totals.length > 0 || taxes.length === 0
      ? null
      : solve({ ...search, totals: after(evidence.unlabelled, subtotals) })) ??
    // "Total" may be the net amount, with the tax and an unknown label below.
    withTax(
      subtotals.length > 0 ? null : solve({ ...search, subtotals: totals, totals: after(evidence.unlabelled, totals) }),
    );
  const chosen =
    solution === null
      ? chooseWithoutProof({
          ...search,
          totals: totals.length > 0 ? totals : sumOfItems(evidence, near),
          evidence,
          taxLines,
        })
      : fromSolution(solution, taxLines);
  return { ...chosen, amounts: { ...others(evidence, extras, solution, chosen.amounts.total), ...chosen.amounts } };
}

type Search = {
  readonly subtotals: readonly Candidate[];
  readonly totals: readonly Candidate[];
  readonly taxes: readonly Candidate[];
  readonly extras: readonly AmountLine[];
  readonly near: (first: number, second: number) => boolean;
  /** The amounts that may be a total, with or without a label. */
  readonly printed: readonly number[];
  /** Whether the payment or the items show the same total. */
  readonly isSupported: (total: number) => boolean;
};

/** The combination of candidates that adds up and has the most specific labels. */
function solve({ subtotals, totals, taxes, extras, near, printed, isSupported }: Search): Solution | null {
  let best: Solution | null = null;
  // A total may be followed by a tip and another total.
  const bases = [...subtotals, ...totals.map((candidate) => ({ ...candidate, weight: -1 }))];
  for (const subtotal of bases) {
    const sums = subsetSums(extras, Math.sign(subtotal.value) || 1);
    for (const total of totals) {
      const isBase = subtotal.weight < 0;
      if (isBase && total.row <= subtotal.row) continue;
      // Null: the subtotal contains the tax already, as on receipts.
      for (const tax of isBase ? [null] : [...taxes, null]) {
        for (const { sum, used } of sums) {
          if (isBase && used.size === 0) continue;
          if (!near(subtotal.value + (tax?.value ?? 0) + sum, total.value)) continue;
          const isAdded = (one: Candidate) =>
            isAddedTax(one, subtotal.value, total.value, near) ||
            // The amount with the tax is printed, too, so this total is without it.
            (!isBase &&
              one.lines.every(({ isIncluded }) => !isIncluded) &&
              printed.some((value) => !near(value, total.value) && near(subtotal.value + one.value + sum, value)));
          if (tax === null && taxes.some(isAdded)) continue;
          const unused = extras.length - used.size;
          const taxScore = tax === null ? (taxes.length > 0 ? -1.5 : 0) : tax.weight;
          const score =
            total.weight +
            subtotal.weight +
            taxScore -
            0.7 * unused +
            total.row * 1e-6 +
            (isSupported(total.value) ? 2 : 0);
          if (best === null || score > best.score) best = { total, subtotal, tax, extras: used, score };
        }
      }
    }
  }
  return best;
}

function withTax(solution: Solution | null): Solution | null {
  return solution?.tax == null ? null : solution;
}

function fromSolution({ total, subtotal, tax }: Solution, taxLines: readonly AmountLine[]) {
  // A total to which a charge is added is no subtotal.
  const isPrintedSubtotal = subtotal.weight >= 0;
  // Without a tax in the sum, the total includes it.
  const included = tax ?? toTaxOptions(taxLines).find(({ value }) => isPlausibleTax(value, total.value)) ?? null;
  return {
    amounts: {
      total: toFound(total, 0.98),
      subtotal: isPrintedSubtotal ? toFound(subtotal, 0.98) : null,
      total_tax: included === null ? null : toFound(included, tax === null ? 0.85 : 0.98),
    },
    taxes: listTaxes(taxLines),
    taxRate: findTaxRate(taxLines, included, tax === null ? null : subtotal.value),
    reasons: {},
  };
}

/** The document lacks an amount for the proof, or its amounts contradict each other. */
function chooseWithoutProof({
  subtotals,
  totals,
  taxes,
  near,
  isSupported,
  evidence: { itemSum, lines },
  taxLines,
}: Search & { evidence: AmountEvidence; taxLines: readonly AmountLine[] }): Omit<Reconciled, "amounts"> & {
  amounts: Pick<Reconciled["amounts"], "total" | "subtotal" | "total_tax">;
} {
  const [subtotal] = subtotals;
  const [tax] = taxes;
  const taxRate = findTaxRate(taxLines, tax ?? null, subtotal?.value ?? null);
  const rest = { taxes: listTaxes(taxLines), taxRate };
  const total = chooseTotal(
    totals,
    isSupported,
    lines.some(({ kind }) => kind === "paid"),
  );
  if (total === null) {
    const reason =
      totals.length === 0
        ? "No total was found."
        : totals.length === 1
          ? `Nothing proves that ${list(totals)} is the total.`
          : `Several totals are printed: ${list(totals)}.`;
    const isCertain = subtotals.length === 1 && taxes.length <= 1;
    return {
      ...rest,
      amounts: {
        total: null,
        subtotal: isCertain && subtotal !== undefined ? toFound(subtotal, 0.6) : null,
        total_tax: isCertain && tax !== undefined ? toFound(tax, 0.6) : null,
      },
      reasons: { total: reason },
    };
  }
  if (subtotal === undefined || (tax === undefined && isPlausibleRest(subtotal.value, total.value))) {
    const keepsTax = tax !== undefined && isPlausibleTax(tax.value, total.value);
    const proof = weighTotal(total, { itemSum, tax, taxLines, lines, near, isSupported });
    if (subtotal === undefined && proof === "contradicted")
      return {
        ...rest,
        // The only tax that is printed is the tax, whatever the total is.
        amounts: { total: null, subtotal: null, total_tax: keepsTax && taxes.length === 1 ? toFound(tax, 0.5) : null },
        reasons: { total: `The items and the tax do not add up to the total ${total.value}.` },
      };
    const isProven = proof === "proven";
    return {
      ...rest,
      amounts: {
        total: toFound(total, isProven ? 0.95 : 0.75),
        subtotal: subtotal === undefined ? null : toFound(subtotal, 0.6),
        total_tax: keepsTax ? toFound(tax, 0.75) : null,
      },
      reasons:
        tax === undefined || keepsTax
          ? {}
          : { total_tax: `The tax ${tax.value} does not fit the total ${total.value}.` },
    };
  }
  const parts = tax === undefined ? `${subtotal.value} does` : `${subtotal.value} and the tax ${tax.value} do`;
  const reason = `The subtotal ${parts} not add up to the total ${total.value}.`;
  const isSubtotalProven = itemSum !== null && near(itemSum, subtotal.value);
  const isTaxProven = tax?.lines.length === 1 && near(((tax.lines[0]?.rate ?? -1) * subtotal.value) / 100, tax.value);
  return {
    ...rest,
    taxRate: isTaxProven ? taxRate : null,
    amounts: {
      total: null,
      subtotal: isSubtotalProven || isTaxProven ? toFound(subtotal, 0.7) : null,
      total_tax: isTaxProven && tax !== undefined ? toFound(tax, 0.7) : null,
    },
    reasons: {
      total: reason,
      ...(isSubtotalProven || isTaxProven ? {} : { subtotal: reason }),
      ...(isTaxProven || tax === undefined ? {} : { total_tax: reason }),
    },
  };
}

/** Whether the items, the payment or the rate of the tax show the same total, or another one. */
function weighTotal(
  { value }: Candidate,
  {
    itemSum,
    tax,
    taxLines,
    lines,
    near,
    isSupported,
  }: Pick<Search, "near" | "isSupported"> & {
    itemSum: number | null;
    tax: Candidate | undefined;
    taxLines: readonly AmountLine[];
    lines: readonly AmountLine[];
  },
): "proven" | "open" | "contradicted" {
  const additions = tax === undefined ? [] : [...taxLines, tax];
  if (isSupported(value) || (itemSum !== null && additions.some((added) => near(itemSum + added.value, value))))
    return "proven";
  const rated = taxLines.filter(({ isSum }) => !isSum);
  const isRated = rated.length > 0 && rated.every(({ rate }) => rate !== null && rate > 0);
  // Each tax is its rate of a net amount. The net amounts and the taxes together are the total.
  const gross = rated.reduce((sum, line) => sum + line.value * (1 + 100 / (line.rate ?? 1)), 0);
  // Some currencies have no cents, and the tax of each rate is rounded down.
  const step = [value, ...rated.map((line) => line.value)].every(Number.isInteger) ? 1 : 0.005;
  const rounding = rated.reduce((sum, { rate }) => sum + step * (1 + 100 / (rate ?? 1)), 0) + 0.011;
  if (isRated && Math.abs(gross - value) <= rounding) return "proven";
  // Charges and discounts may explain the difference.
  if (lines.some(({ kind }) => ["discount", "shipping", "service", "tip", "fee"].includes(kind))) return "open";
  const isOpen = tax === undefined ? itemSum === null || isPlausibleRest(itemSum, value) : itemSum === null && !isRated;
  return isOpen ? "open" : "contradicted";
}

function findSupport({ lines, itemSum }: AmountEvidence, near: Search["near"]): Search["isSupported"] {
  const valuesOf = (kind: AmountLine["kind"]) =>
    lines
      .filter((line) => line.kind === kind)
      .slice(-maxCandidates)
      .map(({ value }) => Math.abs(value));
  const change = valuesOf("change").at(-1) ?? 0;
  const paid = valuesOf("paid").map((value) => value - change);
  return (total) => paid.some((value) => near(value, Math.abs(total))) || (itemSum !== null && near(itemSum, total));
}

/** The total with the most specific label, unless others with as specific a label differ from it and nothing decides. */
function chooseTotal(
  totals: readonly Candidate[],
  isSupported: Search["isSupported"],
  hasPayment: boolean,
): Candidate | null {
  const [best] = totals;
  if (best === undefined) return null;
  // A vague label, or an amount due after a payment that does not add up, proves nothing.
  const isVague = best.weight <= 1 || (hasPayment && best.lines.every(({ kind }) => kind === "due"));
  if (isVague && !isSupported(best.value)) return null;
  const rivals = totals.filter(({ weight }) => weight >= best.weight);
  if (rivals.length <= 1) return best;
  const proven = rivals.filter(({ value }) => isSupported(value));
  return proven.length === 1 ? (proven[0] ?? null) : null;
}

/** The amounts that stand for themselves. */
function others(
  { lines }: AmountEvidence,
  extras: readonly AmountLine[],
  solution: Solution | null,
  total: Found<number> | null,
): Omit<Reconciled["amounts"], "total" | "subtotal" | "total_tax"> {
  const certainty = solution === null ? 0.7 : 0.95;
  const sumOf = (kind: AmountLine["kind"], convert = (value: number) => value): Found<number> | null => {
    const all = extras.filter((line) => line.kind === kind);
    const counted = solution === null ? all.slice(-1) : all.filter((line) => solution.extras.has(line));
    const used = counted.length > 0 ? counted : all.slice(-1);
    if (used.length === 0) return null;
    const value = roundSum(used.reduce((sum, line) => sum + convert(line.value), 0));
    return { value, words: used.flatMap(({ words }) => words), certainty };
  };
  const last = (kind: AmountLine["kind"], convert = Math.abs): Found<number> | null => {
    const line = lines.findLast((one) => one.kind === kind);
    return line === undefined ? null : { value: convert(line.value), words: line.words, certainty: 0.8 };
  };
  const isCredit = (total?.value ?? 0) < 0;
  return {
    amount_due: findDue(lines, total, solution),
    amount_paid: findPaid(lines, total),
    amount_change: last("change"),
    amount_tip: sumOf("tip"),
    amount_shipping: sumOf("shipping"),
    // Discounts are printed with and without a minus.
    discount: sumOf("discount", (value) => (isCredit ? -Math.abs(value) : Math.abs(value))),
    service_charge: sumOf("service"),
    previous_unpaid_balance: last("prior", (value) => value),
  };
}

/** Not reported if the total that it equals contradicts the other amounts. */
function findDue(
  lines: readonly AmountLine[],
  total: Found<number> | null,
  solution: Solution | null,
): Found<number> | null {
  const due = lines
    .filter(({ kind }) => kind === "due")
    .toSorted((one, other) => other.weight - one.weight || other.row - one.row);
  const [best] = due;
  if (best === undefined) return null;
  const values = new Set(due.filter(({ weight }) => weight === best.weight).map(({ value }) => value));
  if (values.size > 1) return null;
  if (total === null && solution === null && lines.some(({ kind }) => kind === "subtotal")) return null;
  return { value: best.value, words: best.words, certainty: total?.value === best.value ? 0.98 : 0.8 };
}

/** What was given in cash or by card; several payments are added if they cover the total. */
function findPaid(lines: readonly AmountLine[], total: Found<number> | null): Found<number> | null {
  const paid = distinct(lines.filter(({ kind }) => kind === "paid")).slice(-maxCandidates);
  const change = Math.abs(lines.findLast(({ kind }) => kind === "change")?.value ?? 0);
  const found = (used: readonly AmountLine[], certainty: number) => ({
    value: roundSum(used.reduce((sum, { value }) => sum + Math.abs(value), 0)),
    words: used.flatMap(({ words }) => words),
    certainty,
  });
  if (paid.length === 0) return null;
  const target = Math.abs(total?.value ?? 0) + change;
  const exact = paid.find(({ value }) => Math.abs(Math.abs(value) - target) < 0.006);
  if (exact !== undefined) return found([exact], 0.95);
  const all = found(paid, 0.9);
  if (paid.length > 1 && Math.abs(all.value - target) < 0.006) return all;
  return found(paid.slice(-1), 0.7);
}

/** The distinct values of lines, the most specific label and the latest row first. */
function toCandidates(lines: readonly AmountLine[]): Candidate[] {
  const byValue = new Map<number, Candidate>();
  for (const line of lines) {
    const known = byValue.get(line.value);
    const weight = Math.max(known?.weight ?? 0, line.weight);
    byValue.set(line.value, { value: line.value, weight, row: line.row, lines: [line] });
  }
  return [...byValue.values()]
    .toSorted((one, other) => other.weight - one.weight || other.row - one.row)
    .slice(0, maxCandidates);
}

/** An amount due is the total if no other is printed; with a payment, their sum is. */
function toTotals(totals: readonly AmountLine[], due: readonly AmountLine[], paid: readonly AmountLine[]): Candidate[] {
  const weaker = due.map((line) => ({ ...line, weight: totals.length === 0 ? 2 : 1 }));
  const printed = toCandidates([...weaker, ...totals]);
  const [balance] = due.slice(-1);
  const [payment] = paid.slice(-1);
  if (totals.length > 0 || balance === undefined || payment === undefined) return printed;
  const value = roundSum(balance.value + Math.abs(payment.value));
  return [...printed, { value, weight: 1, row: balance.row, lines: [balance, payment] }];
}

/** The amounts that can be the whole tax: a printed sum, the sum of all rates, or one line. */
function toTaxOptions(lines: readonly AmountLine[]): Candidate[] {
  const single = lines.filter(({ isSum }) => !isSum);
  // A tax that the total includes and one that is added to it are different taxes.
  const isMixed = single.some(({ isIncluded }) => isIncluded) && single.some(({ isIncluded }) => !isIncluded);
  const parts = isMixed ? single.filter(({ isIncluded }) => isIncluded) : single;
  const sum = roundSum(parts.reduce((total, { value }) => total + value, 0));
  const options: Candidate[] = [
    ...lines
      .filter(({ isSum }) => isSum)
      .map((line) => ({ value: line.value, weight: 3, row: line.row, lines: [line] })),
    ...(parts.length > 1 ? [{ value: sum, weight: 2.5, row: parts.at(-1)?.row ?? 0, lines: parts }] : []),
    ...parts
      .slice(-maxCandidates)
      .map((line) => ({ value: line.value, weight: parts.length > 1 ? 1 : 2, row: line.row, lines: [line] })),
  ];
  return options
    .filter(({ value }, index) => options.findIndex((one) => one.value === value) === index)
    .slice(0, 2 * maxCandidates);
}

/** A receipt may print the same tax twice: beside the total and in the table of rates. */
function distinctTaxes(lines: readonly AmountLine[]): AmountLine[] {
  const seen = new Set<string>();
  return lines.filter((line, index) => {
    const isRepeated = seen.has(`${line.rate} ${line.value}`) && line.row !== lines[index - 1]?.row;
    seen.add(`${line.rate} ${line.value}`);
    // Central and state tax are equal and printed in consecutive rows, each with its own label.
    const before = lines[index - 1];
    const isPair = before !== undefined && line.row - before.row <= 1 && line.value === before.value;
    return !isRepeated || isPair;
  });
}

function listTaxes(lines: readonly AmountLine[]): Tax[] {
  const parts = lines.some(({ isSum }) => !isSum) ? lines.filter(({ isSum }) => !isSum) : lines;
  return parts.map(({ rate, base, value }) => ({ rate, base, amount: value }));
}

/** The rate of the only tax. Taxes on the same amount are added, such as the central and the state tax; rates of different goods are not. */
function findTaxRate(lines: readonly AmountLine[], tax: Candidate | null, base: number | null): Found<number> | null {
  const used = tax?.lines ?? lines;
  const rated = [...used, ...lines].filter(({ rate }) => rate !== null);
  const rates = new Set(rated.map(({ rate }) => rate));
  const [first] = rated;
  if (first?.rate == null) return null;
  if (rates.size === 1 && (used.length < 2 || base === null || !isRateOf(2 * first.rate, base, tax)))
    return { value: first.rate, words: first.words, certainty: 0.9 };
  const sum = Math.round(used.reduce((total, { rate }) => total + (rate ?? 0), 0) * 1000) / 1000;
  const isSameBase =
    used.length > 1 && used.every(({ rate }) => rate !== null) && base !== null && isRateOf(sum, base, tax);
  return isSameBase ? { value: sum, words: used.flatMap(({ words }) => words), certainty: 0.85 } : null;
}

function isRateOf(rate: number, base: number, tax: Candidate | null): boolean {
  return tax !== null && Math.abs((base * rate) / 100 - tax.value) <= 0.02 + Math.abs(tax.value) * 0.001;
}

/** The tax is its rate of the subtotal, so the total cannot equal the subtotal. */
function isAddedTax({ lines, value }: Candidate, subtotal: number, total: number, near: Search["near"]): boolean {
  const rate = lines.length === 1 && lines[0]?.isIncluded === false ? (lines[0].rate ?? 0) : 0;
  return rate > 0 && near((subtotal * rate) / 100, value) && !near((total * rate) / (100 + rate), value);
}

/** Every sum of some of the charges and discounts. */
function subsetSums(extras: readonly AmountLine[], sign: number): { sum: number; used: Set<AmountLine> }[] {
  let sums: { sum: number; used: Set<AmountLine> }[] = [{ sum: 0, used: new Set() }];
  for (const line of extras) {
    const isDeducted = line.kind === "discount" || line.kind === "withholding";
    const effect = isDeducted ? -sign * Math.abs(line.value) : line.value;
    sums = [...sums, ...sums.map(({ sum, used }) => ({ sum: sum + effect, used: new Set([...used, line]) }))];
  }
  return sums;
}

function between(
  unlabelled: readonly AmountLine[],
  subtotals: readonly Candidate[],
  totals: readonly Candidate[],
): AmountLine[] {
  const first = Math.min(...subtotals.map(({ row }) => row));
  const last = Math.max(...totals.map(({ row }) => row));
  return unlabelled.filter(({ row }) => row > first && row < last).slice(0, 3);
}

/** The sum of the items without a label, below them. */
function sumOfItems({ unlabelled, itemSum, lines }: AmountEvidence, near: Search["near"]): Candidate[] {
  if (itemSum === null || lines.some(({ kind }) => kind === "subtotal" || kind === "tax")) return [];
  return toCandidates(unlabelled.filter(({ value }) => near(value, itemSum)));
}

/** The amounts below the subtotal, as totals. */
function after(unlabelled: readonly AmountLine[], subtotals: readonly Candidate[]): Candidate[] {
  const first = Math.min(...subtotals.map(({ row }) => row));
  return toCandidates(unlabelled.filter(({ row }) => row > first));
}

function distinct(lines: readonly AmountLine[]): AmountLine[] {
  const seen = new Set<string>();
  return lines.filter(({ kind, value }) => {
    const key = `${kind} ${Math.abs(value)}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function isPlausibleTax(tax: number, total: number): boolean {
  return total === 0 ? tax === 0 : tax / total >= 0 && tax / total <= 0.35;
}

/** What is missing may be a tax. */
function isPlausibleRest(subtotal: number, total: number): boolean {
  return subtotal !== 0 && total / subtotal >= 1 && total / subtotal <= 1.3;
}

const cashSteps: Readonly<Record<string, number>> = { CHF: 0.05, SEK: 1, NOK: 1, DKK: 1, CZK: 1, HUF: 5 };
const wholeCurrencies = new Set(["JPY", "KRW", "CLP", "VND", "IDR", "ISK", "HUF"]);

/** Each rate is rounded to a cent, and totals in cash to the smallest coin. */
function tolerance(currency: string | null, taxes: number): Search["near"] {
  const cents = 0.011 + 0.01 * Math.min(taxes, 4);
  const step = lookUp(cashSteps, currency ?? "");
  return (sum, total) => {
    const difference = Math.abs(sum - total);
    if (difference <= cents || (difference <= 1 && wholeCurrencies.has(currency ?? ""))) return true;
    return (
      step !== undefined && difference <= step / 2 + 0.001 && Math.abs(total / step - Math.round(total / step)) < 1e-6
    );
  };
}

function toFound({ value, lines }: Candidate, certainty: number): Found<number> {
  return { value, words: lines.flatMap(({ words }) => words), certainty };
}

function roundSum(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function list(candidates: readonly Candidate[]): string {
  return candidates.map(({ value }) => value).join(", ");
}
