// What `switchyard models` and `switchyard tasks` share: the options of their listings, the search and the output.

import type { Command } from "commander";
import { alignColumns } from "../usage/report-formats.ts";
import { explain, type Output, printResult } from "./command-line.ts";

export interface ListingOptions {
  readonly all?: true;
  readonly sandbox?: true;
  readonly from?: string;
  readonly json?: true;
}

export function addListingOptions(command: Command): Command {
  return addReadingOptions(
    command
      .option("--all", "also those of providers that are not configured")
      .option("--sandbox", "also those of the sandbox"),
  );
}

/** `part`: what each word may be. */
export function addSearch(group: Command, summary: string, example: string, part: string): Command {
  return addListingOptions(explain(group.command("search"), summary, example).argument("<word...>", part));
}

export function addReadingOptions(command: Command): Command {
  return command
    .option("--from <address>", "address of the gateway; default: the one on this machine")
    .option("--json", "print JSON");
}

export function toListingQuery({ all, sandbox }: ListingOptions): URLSearchParams {
  const include = [...(all ? ["unconfigured"] : []), ...(sandbox ? ["sandbox"] : [])];
  return new URLSearchParams(include.map((value): [string, string] => ["include", value]));
}

/** Whether each of the words is in one of the texts. */
export function containsAll(texts: readonly string[], words: readonly string[]): boolean {
  const lower = texts.map((text) => text.toLowerCase());
  return words.every((word) => lower.some((text) => text.includes(word.toLowerCase())));
}

interface Listing {
  /** The output with `--json`. */
  readonly json: object;
  readonly header: readonly string[];
  readonly rows: Parameters<typeof alignColumns>[0];
  /** How many columns hold text; numbers follow. */
  readonly textColumns: number;
  /** Printed instead of an empty table. */
  readonly none: string;
  readonly footer?: string;
}

export function printListing(output: Output, options: ListingOptions, listing: Listing): void {
  printResult(output, options.json, { json: listing.json, lines: toLines(listing) });
}

function toLines({ header, rows, textColumns, none, footer }: Listing): string[] {
  if (rows.length === 0) return [none];
  return [...alignColumns([header, ...rows], textColumns), ...(footer === undefined ? [] : ["", footer])];
}
