// Everything about one model: its price and formula, the providers that serve it, and how to call it.

import { Alert, Anchor, Badge, Button, Drawer, Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { useApi } from "../../api/hooks.ts";
import type { ModelDetail } from "../../api/types.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { IconPlayground } from "../../icons.ts";
import { formatDate, formatNumber, formatPrice, noValue } from "../../lib/format.ts";
import { type CopiedRequest, type SampleLanguage, toCodeSample } from "../../playground/code-samples.ts";
import { abilityTitles, type Entry, listRates, modelsQuery, type Rate } from "./catalogue.ts";

interface ModelDrawerProps {
  readonly id: string;
  readonly entries: readonly Entry[];
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
}

// Otherwise the first button would have the focus, and look chosen.
const closeButton = { "aria-label": "Close", "data-autofocus": true };

export function ModelDrawer({ id, entries, onChoose, onClose }: ModelDrawerProps) {
  const entry = entries.find(({ model }) => model.id === id);
  const detail = useApi<ModelDetail>(`/v3/models/${encodeURIComponent(id)}`, modelsQuery);
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={620}
      title={
        <Group gap={4} wrap="nowrap">
          <Text fw={600} className="wrap-anywhere">
            {id}
          </Text>
          <CopyButton text={id} label="Copy the model's name" />
        </Group>
      }
      closeButtonProps={closeButton}
    >
      {entry === undefined ? (
        detail.error !== null && <ErrorNotice error={detail.error} onRetry={() => void detail.refetch()} />
      ) : (
        <Details entry={entry} entries={entries} detail={detail.data} onChoose={onChoose} />
      )}
    </Drawer>
  );
}

interface DetailsProps {
  readonly entry: Entry;
  readonly entries: readonly Entry[];
  readonly detail: ModelDetail | undefined;
  readonly onChoose: (id: string) => void;
}

function Details({ entry, entries, detail, onChoose }: DetailsProps) {
  const { model, abilities } = entry;
  const offers = entries.filter(({ family }) => family === entry.family);
  return (
    <div className="drawer-body">
      <Group gap="xs">
        {model.configured && !abilities.has("embeddings") && (
          <Button
            component={Link}
            to={`/playground?model=${encodeURIComponent(model.id)}`}
            leftSection={<IconPlayground size={15} />}
          >
            Try it
          </Button>
        )}
        {!model.configured && (
          <Button component={Link} to={`/providers?provider=${encodeURIComponent(entry.provider)}`} variant="light">
            Set up {entry.provider}
          </Button>
        )}
        <Button component={Link} to={toPreview(model)} variant="default">
          Preview routing
        </Button>
      </Group>
      {abilities.size > 0 && (
        <Group gap={6}>
          {[...abilities].map((ability) => (
            <Badge key={ability}>{abilityTitles[ability]}</Badge>
          ))}
        </Group>
      )}
      <section className="drawer-section">
        <h3>Limits</h3>
        <dl className="facts">
          <dt>Context</dt>
          <dd>{toTokens(model.context_length)}</dd>
          <dt>Longest output</dt>
          <dd>{toTokens(model.max_output_tokens)}</dd>
          <dt>Input</dt>
          <dd>{model.capabilities.input_modalities.join(", ")}</dd>
          <dt>Output</dt>
          <dd>{model.capabilities.output_modalities.join(", ")}</dd>
          <dt>Endpoints</dt>
          <dd>{model.endpoints.map((endpoint) => `/v3/${endpoint}`).join(", ")}</dd>
          <dt>Responses</dt>
          <dd>{model.responses_native ? "stored by the provider" : "translated by the gateway"}</dd>
        </dl>
      </section>
      <Price entry={entry} />
      <section className="drawer-section">
        <h3>{offers.length === 1 ? "One provider serves this model" : `${offers.length} offers of this model`}</h3>
        <Offers offers={offers} chosen={model.id} onChoose={onChoose} />
      </section>
      <Snippet model={model.id} isEmbedding={abilities.has("embeddings")} />
      {detail?.parameters !== undefined && <Parameters parameters={detail.parameters} />}
      <details className="raw">
        <summary>Full record</summary>
        <CodeBlock label="Full record" text={JSON.stringify(detail ?? model, null, 2)} />
      </details>
    </div>
  );
}

function toPreview({ id, endpoints: [endpoint = ""] }: Entry["model"]): string {
  return `/routing?model=${encodeURIComponent(id)}&endpoint=${encodeURIComponent(endpoint)}`;
}

function toTokens(count: number | null): string {
  return count === null ? noValue : `${formatNumber(count)} tokens`;
}

function Price({ entry: { model } }: { readonly entry: Entry }) {
  const rates = listRates(model.pricing);
  const {
    source,
    updated_at: updatedAt,
    unlisted_fee: fee,
  } = (model.pricing ?? {}) as Readonly<Record<string, unknown>>;
  return (
    <section className="drawer-section">
      <h3>Price</h3>
      {rates.length === 0 ? (
        <Text size="sm" c="dimmed">
          The price is not known, so calls have no cost in reports.{" "}
          <Anchor href="/docs/prices" target="_blank" rel="noreferrer" size="sm" underline="always">
            Set a price of your own
          </Anchor>
        </Text>
      ) : (
        <>
          <table className="plain-table">
            <tbody>
              {rates.map(({ name, title, amount, unit }) => (
                <tr key={name}>
                  <td>{title}</td>
                  <td data-align="right">{formatPrice(amount)}</td>
                  <td className="muted price-unit">per {unit}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="formula">{toFormula(rates)}</p>
          {typeof fee === "string" && (
            <Alert variant="light" color="orange" p="xs">
              {fee}
            </Alert>
          )}
          {typeof source === "string" && (
            <Text size="xs" c="dimmed" className="wrap-anywhere">
              From {source}
              {typeof updatedAt === "string" && `, read on ${formatDate(`${updatedAt.slice(0, 10)}T00:00`)}`}
            </Text>
          )}
        </>
      )}
    </section>
  );
}

const formulaRates: readonly (readonly [name: string, title: string])[] = [
  ["input_cost_per_token", "input"],
  ["cache_read_input_token_cost", "cached input"],
  ["output_cost_per_token", "output"],
];

/** The cost of a usual call, as the ledger computes it. */
function toFormula(rates: readonly Rate[]): string {
  const parts = formulaRates.flatMap(([name, title]) => {
    const rate = rates.find((one) => one.name === name);
    return rate === undefined ? [] : [`${title} × ${formatPrice(rate.amount)}`];
  });
  return `Cost = (${parts.join(" + ")}) ÷ 1,000,000`;
}

interface OffersProps {
  readonly offers: readonly Entry[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

function Offers({ offers, chosen, onChoose }: OffersProps) {
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th>Provider</th>
          <th data-align="right">Input</th>
          <th data-align="right">Output</th>
          <th data-align="right">Context</th>
          <th>State</th>
        </tr>
      </thead>
      <tbody>
        {offers.map(({ model, provider, input, output }) => (
          <tr key={model.id}>
            <td>
              {model.id === chosen ? (
                <strong>{provider}</strong>
              ) : (
                <button type="button" className="link-button" title={model.id} onClick={() => onChoose(model.id)}>
                  {provider}
                </button>
              )}
            </td>
            <td data-align="right">{formatPrice(input)}</td>
            <td data-align="right">{formatPrice(output)}</td>
            <td data-align="right">{formatNumber(model.context_length)}</td>
            <td>
              <span className="with-dot">
                <span className="dot" data-state={model.configured ? "good" : undefined} />
                {model.configured ? "Ready" : "Not set up"}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const languages = [
  { value: "curl", label: "curl" },
  { value: "typescript", label: "TypeScript" },
  { value: "python", label: "Python" },
];

function Snippet({ model, isEmbedding }: { readonly model: string; readonly isEmbedding: boolean }) {
  const [language, setLanguage] = useState<SampleLanguage>("curl");
  const request: CopiedRequest = isEmbedding
    ? { method: "POST", path: "/v3/embeddings", json: { model, input: "Hello" } }
    : {
        method: "POST",
        path: "/v3/chat/completions",
        json: { model, messages: [{ role: "user", content: "Hello" }] },
      };
  const code = toCodeSample(language, request, location.origin);
  return (
    <section className="drawer-section">
      <Group justify="space-between" mb={8}>
        <h3 className="flat">Call it</h3>
        <Group gap="xs">
          <SegmentedControl
            aria-label="Language"
            size="xs"
            data={languages}
            value={language}
            onChange={(value) => setLanguage(value as SampleLanguage)}
          />
          <CopyButton text={code} label="Copy the program" />
        </Group>
      </Group>
      <CodeBlock label="Program" text={code} />
    </section>
  );
}

const treatments: Readonly<Record<string, string>> = {
  forwarded: "sent unchanged",
  mapped: "translated",
  parallel: "by several calls",
  dropped: "left out",
  refused: "refused",
};

function Parameters({ parameters }: { readonly parameters: ModelDetail["parameters"] }) {
  const rows = Object.entries(parameters);
  return (
    <details className="raw">
      <summary>Parameters</summary>
      <table className="plain-table">
        <tbody>
          {rows.map(([name, treatment]) => (
            <tr key={name}>
              <td className="mono wrap-anywhere">{name === "*" ? "all others" : name}</td>
              <td>{treatments[treatment] ?? treatment}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
