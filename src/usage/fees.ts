// What a provider bills besides the tokens of the model that answered: the use of its own tools, counted from the usage of an answer and from
// its items.

import type { FeePart } from "../catalogue/price-rates.ts";
import { isObject, type JsonObject } from "../lib/lenient-json.ts";
import { lookUp } from "../lib/look-up.ts";
import { count, toList, toMembers } from "./tokens.ts";

/** As JSON, because the ledger stores it. */
export interface FeeUse {
  readonly counts: Readonly<Partial<Record<FeePart, number>>>;
  /** Runs of other models of the provider for this answer, such as a model that generates images. */
  readonly runs?: readonly { readonly model: string; readonly usage: unknown }[];
  /** A fee that depends on something that the answer does not contain. */
  readonly unknown?: string;
}

/** Members of an answer, besides its usage, that show the use of tools. */
export interface Answered {
  readonly model?: unknown;
  readonly service_tier?: unknown;
  /** The items of a response, and the tools that it repeats. */
  readonly output?: unknown;
  readonly tools?: unknown;
  /** Counts of a response, next to its usage. */
  readonly tool_usage?: unknown;
}

export const noFees: FeeUse = { counts: {} };

/** Counts in the usage, by the object and the member that contain them. Of several names for one fee, the largest count is used. */
const counters: readonly (readonly [object: string, members: Readonly<Record<string, FeePart>>])[] = [
  ["server_tool_use", { web_search_requests: "webSearch" }],
  ["server_tool_use_details", { web_search_requests: "webSearch" }],
  ["billed_units", { search_units: "searchUnit" }],
];

/** Of objects with a count for every tool. Tools with the same fee are added up, and one that is not listed has an unknown fee. */
const callDetails: ToolFees = {
  web_search_calls: "webSearch",
  x_search_calls: "webSearch",
  code_interpreter_calls: "codeExecution",
  file_search_calls: "fileSearch",
  // Billed by tokens only.
  mcp_calls: "free",
};
const connectors: ToolFees = { web_search: "webSearch", code_interpreter: "codeExecution" };
type ToolFees = Readonly<Record<string, FeePart | "free">>;

/** Items of a response that are billed by the call. */
const billedItems: Readonly<Record<string, FeePart>> = {
  web_search_call: "webSearch",
  file_search_call: "fileSearch",
};

/** Items of a response whose fee neither the usage nor the item contains. */
const itemsWithUnknownFee: Readonly<Record<string, string>> = {
  code_interpreter_call: "code ran in a container, which is billed by its time",
  shell_call: "commands ran in a container, which is billed by its time",
};
const imageItem = "image_generation_call";
const imageTool = "image_generation";
const codeFee = "code ran in a container, which is billed by its time beyond a free quota";

/** Most answers use no tool: they share one object. */
export function readFees(usage: unknown, answer: Answered = {}): FeeUse {
  const members = toMembers(usage);
  const reader = new FeeReader();
  reader.readUsage(members);
  if (Array.isArray(answer.output)) reader.readResponse(toList(answer.output), answer);
  return reader.use;
}

class FeeReader {
  #counts: Partial<Record<FeePart, number>> | null = null;
  #runs: { model: string; usage: unknown }[] | null = null;
  #unknown: string | null = null;

  get use(): FeeUse {
    if (this.#counts === null && this.#runs === null && this.#unknown === null) return noFees;
    return {
      counts: this.#counts ?? noFees.counts,
      ...(this.#runs === null ? {} : { runs: this.#runs }),
      ...(this.#unknown === null ? {} : { unknown: this.#unknown }),
    };
  }

  readUsage(members: JsonObject): void {
    for (const [object, names] of counters) {
      if (members[object] === undefined) continue;
      const counts = toMembers(members[object]);
      for (const name in names) this.#atLeast(names[name] as FeePart, count(counts[name]));
    }
    this.#atLeast("webSearch", count(members["num_search_queries"]));
    const codeRuns = count(toMembers(members["server_tool_use"])["code_execution_requests"]);
    if (codeRuns > 0 && members["has_free_code"] !== true) this.#unknown ??= codeFee;
    const { server_side_tool_usage_details: details, connectors: connected } = members;
    if (isObject(connected)) this.#readToolCounts(connected, connectors);
    if (isObject(details)) this.#readToolCounts(details, callDetails);
    // The sum, where the provider does not count by tool.
    else this.#atLeast("webSearch", count(members["num_server_side_tools_used"]));
  }

  #readToolCounts(counts: JsonObject, known: ToolFees): void {
    const sums: Partial<Record<FeePart, number>> = {};
    for (const [name, value] of Object.entries(counts)) {
      const calls = count(value);
      const fee = lookUp(known, name);
      if (calls === 0 || fee === "free") continue;
      if (fee === undefined) this.#unknown ??= `the tool ${name} is billed by the call`;
      else sums[fee] = (sums[fee] ?? 0) + calls;
    }
    for (const fee in sums) this.#atLeast(fee as FeePart, sums[fee as FeePart] ?? 0);
  }

  readResponse(items: readonly JsonObject[], { tools, tool_usage }: Answered): void {
    const sums: Partial<Record<FeePart, number>> = {};
    for (const item of items) {
      const type = String(item["type"]);
      const fee = lookUp(billedItems, type);
      if (fee !== undefined && isBilled(item)) sums[fee] = (sums[fee] ?? 0) + 1;
      // The caller executed commands of a local environment itself.
      if (toMembers(item["environment"])["type"] !== "local")
        this.#unknown ??= lookUp(itemsWithUnknownFee, type) ?? null;
    }
    const used = toMembers(tool_usage);
    const searches = Math.max(sums.webSearch ?? 0, count(toMembers(used["web_search"])["num_requests"]));
    const isPreview = toList(tools).some(({ type }) => String(type).startsWith("web_search_preview"));
    this.#atLeast(isPreview ? "webSearchPreview" : "webSearch", searches);
    this.#atLeast("fileSearch", sums.fileSearch ?? 0);
    if (items.some(({ type }) => type === imageItem)) this.#readImages(toList(tools), used["image_gen"]);
  }

  /** Images are billed by the tokens of the model that generated them. */
  #readImages(tools: readonly JsonObject[], usage: unknown): void {
    const model = tools.find(({ type }) => type === imageTool)?.["model"];
    if (typeof model !== "string" || count(toMembers(usage)["output_tokens"]) === 0)
      this.#unknown ??= "images are billed by tokens of another model";
    else this.#runs = [{ model, usage }];
  }

  #atLeast(fee: FeePart, calls: number): void {
    if (calls === 0) return;
    this.#counts ??= {};
    this.#counts[fee] = Math.max(this.#counts[fee] ?? 0, calls);
  }
}

/** Opening a page or searching within it is free. A call without an action is a search. */
function isBilled(item: JsonObject): boolean {
  if (item["type"] !== "web_search_call") return true;
  const action = toMembers(item["action"])["type"];
  return action === undefined || action === "search";
}
