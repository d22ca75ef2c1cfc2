// Every vendor that performs tasks through an API of its own, one line each.

import { rows as modelRows } from "../../providers/index.ts";
import type { ProviderRow } from "../../providers/provider.ts";
import { affinda } from "./affinda/index.ts";
import { amazon } from "./amazon/index.ts";
import { api4ai } from "./api4ai/index.ts";
import { assembly } from "./assemblyai/index.ts";
import { base64 } from "./base64/index.ts";
import { clipdrop } from "./clipdrop/index.ts";
import { deepgram } from "./deepgram/index.ts";
import { deepl } from "./deepl/index.ts";
import { eagledoc } from "./eagledoc/index.ts";
import { elevenlabs } from "./elevenlabs/index.ts";
import { firecrawl } from "./firecrawl/index.ts";
import { gladia } from "./gladia/index.ts";
import { google } from "./google/index.ts";
import { klippa } from "./klippa/index.ts";
import { linkup } from "./linkup/index.ts";
import { microsoft } from "./microsoft/index.ts";
import { mindee } from "./mindee/index.ts";
import { minimax } from "./minimax/index.ts";
import { mistral } from "./mistral/index.ts";
import { modernmt } from "./modernmt/index.ts";
import { openai } from "./openai/index.ts";
import { originalityai } from "./originalityai/index.ts";
import { photoroom } from "./photoroom/index.ts";
import { privateai } from "./privateai/index.ts";
import { replicate } from "./replicate/index.ts";
import { sapling } from "./sapling/index.ts";
import { sentisight } from "./sentisight/index.ts";
import { sightengine } from "./sightengine/index.ts";
import { stabilityai } from "./stabilityai/index.ts";
import { tabscanner } from "./tabscanner/index.ts";
import { tavily } from "./tavily/index.ts";
import type { VendorRow } from "./vendor-engine.ts";
import { veryfi } from "./veryfi/index.ts";
import { winstonai } from "./winstonai/index.ts";

export const vendorRows: readonly VendorRow[] = [
  affinda,
  amazon,
  api4ai,
  assembly,
  base64,
  clipdrop,
  deepgram,
  deepl,
  eagledoc,
  elevenlabs,
  firecrawl,
  gladia,
  google,
  klippa,
  linkup,
  microsoft,
  mindee,
  minimax,
  mistral,
  modernmt,
  openai,
  originalityai,
  photoroom,
  privateai,
  replicate,
  sapling,
  sentisight,
  sightengine,
  stabilityai,
  tabscanner,
  tavily,
  veryfi,
  winstonai,
];

/** The vendors whose models have an address and credentials of their own. */
const modelsOf: Readonly<
  Record<string, { readonly name: string; readonly basePath?: string; readonly keyPattern?: RegExp }>
> = {
  amazon: { name: "bedrock" },
  google: { name: "gemini", basePath: "/v1beta", keyPattern: /^[\w.-]+$/ },
  microsoft: { name: "azure" },
};

/** One row for each provider, with its models and its tasks. */
export const allRows: readonly ProviderRow[] = [
  ...modelRows
    .filter(({ name }) => !Object.values(modelsOf).some((access) => access.name === name))
    .map((row) => ({ ...vendorRows.find(({ name }) => name === row.name), ...row })),
  ...vendorRows
    .filter(({ name }) => !modelRows.some((row) => row.name === name))
    .map((row) => withModels(row, modelsOf[row.name])),
];

function withModels(row: VendorRow, own: (typeof modelsOf)[string] | undefined): ProviderRow {
  const found = modelRows.find(({ name }) => name === own?.name);
  if (own === undefined || found === undefined) return row;
  const {
    name: _,
    title: __,
    alsoNamed: ___,
    docs: ____,
    chat,
    embeddings,
    responses,
    dialect,
    errors,
    ...access
  } = found;
  return {
    ...row,
    ...(dialect && { dialect }),
    ...(chat && { chat }),
    ...(embeddings && { embeddings }),
    ...(responses && { responses }),
    ...(errors && { errors }),
    modelAccess: { ...access, ...own },
  };
}
