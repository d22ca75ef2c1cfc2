// What would be tried for a request: a form in the address, and the answer of the gateway's own planner.

import { Alert, Autocomplete, Badge, Chip, Group, Select, TagsInput, Text } from "@mantine/core";
import { useMemo } from "react";
import { useApi } from "../../api/hooks.ts";
import type { FeatureList, ModelList, RoutingCandidate, RoutingPreview } from "../../api/types.ts";
import { Loaded } from "../../components/loaded.tsx";
import { Panel } from "../../components/page.tsx";
import { KeySelect } from "../../components/record-select.tsx";
import { useTextParameter } from "../../components/use-text-parameter.ts";
import { IconAlert } from "../../icons.ts";
import { formatMs, formatPercent } from "../../lib/format.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { useSession } from "../../session/session.ts";

const endpoints = [
  { value: "chat/completions", label: "/v3/chat/completions" },
  { value: "responses", label: "/v3/responses" },
  { value: "v1/messages", label: "/v3/v1/messages" },
  { value: "embeddings", label: "/v3/embeddings" },
  { value: "universal-ai", label: "/v3/universal-ai" },
];
const abilities = [
  ["vision", "Vision"],
  ["function_calling", "Tools"],
  ["response_schema", "Structured output"],
  ["reasoning", "Reasoning"],
  ["audio_input", "Audio"],
] as const;
const abilityTitles: ReadonlyMap<string, string> = new Map(abilities);
const mostSuggestions = 60;
const mostFallbacks = 3;

export function Preview({ aliases }: { readonly aliases: readonly string[] }) {
  const url = useUrlState();
  const model = url.get("model");
  const preview = useApi<RoutingPreview>(
    "/v3/manage/routing/preview",
    {
      model,
      endpoint: url.get("endpoint"),
      ability: url.getAll("ability"),
      fallback: url.getAll("fallback"),
      key: url.get("key"),
      sort: url.get("sort"),
    },
    { enabled: model !== "" },
  );
  return (
    <Panel
      title="What would be tried for this request?"
      description="The answer comes from the code that plans real requests. No provider is called."
    >
      <Form aliases={aliases} />
      {model === "" ? (
        <Text size="sm" c="dimmed" mt="md">
          Choose a model or an alias.
        </Text>
      ) : (
        <div className="preview-answer">
          <Loaded query={preview} height={120}>
            {(data) => <Answer preview={data} />}
          </Loaded>
        </div>
      )}
    </Panel>
  );
}

function Form({ aliases }: { readonly aliases: readonly string[] }) {
  const url = useUrlState();
  const names = useNames(aliases, url.get("endpoint"));
  const [model, changeModel] = useTextParameter("model");
  const field = { size: "xs" } as const;
  return (
    <>
      <div className="preview-form" role="search">
        <Autocomplete
          {...field}
          label="Model or alias"
          placeholder="openai/gpt-5"
          value={model}
          data={[...names]}
          limit={mostSuggestions}
          onChange={changeModel}
        />
        <Select
          {...field}
          label="Endpoint"
          allowDeselect={false}
          data={endpoints}
          value={url.get("endpoint") || "chat/completions"}
          onChange={(endpoint) => url.set({ endpoint })}
        />
        <TagsInput
          {...field}
          label="Fallbacks"
          placeholder={url.getAll("fallback").length === 0 ? "none" : ""}
          data={[...names].slice(0, mostSuggestions)}
          maxTags={mostFallbacks}
          value={url.getAll("fallback")}
          onChange={(fallback) => url.set({ fallback })}
        />
        <KeySelect
          {...field}
          label="Key"
          placeholder="a key without limits"
          clearable
          callsModels
          value={url.get("key")}
          onChange={(key) => url.set({ key })}
        />
        <Select
          {...field}
          label="Sort"
          allowDeselect={false}
          data={[
            { value: "order", label: "in order" },
            { value: "cost", label: "cheapest first" },
            { value: "latency", label: "fastest first" },
          ]}
          value={url.get("sort") || "order"}
          onChange={(sort) => url.set({ sort: sort === "order" ? null : sort })}
        />
      </div>
      <Chip.Group multiple value={url.getAll("ability")} onChange={(ability) => url.set({ ability })}>
        <Group gap={6} mt="sm" role="group" aria-label="Abilities that the request needs">
          <Text size="xs" c="dimmed">
            Needs
          </Text>
          {abilities.map(([name, title]) => (
            <Chip key={name} value={name} size="xs" variant="light">
              {title}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </>
  );
}

/** Names that fit the endpoint: aliases, then models or tasks that can be called. */
function useNames(aliases: readonly string[], endpoint: string): readonly string[] {
  const isTask = endpoint === "universal-ai";
  const models = useApi<ModelList>("/v3/models", { include: "unconfigured,sandbox" }, { enabled: !isTask });
  const features = useApi<FeatureList>("/v3/info", { include: "sandbox" }, { enabled: isTask });
  return useMemo(() => {
    const ofTasks = (features.data?.features ?? []).flatMap(({ subfeatures }) =>
      subfeatures.flatMap((one) => one.models.map(({ model }) => model)),
    );
    const ofModels = (models.data?.data ?? [])
      .filter(({ endpoints: paths }) => paths.includes(endpoint || "chat/completions"))
      .map(({ id }) => id);
    return [...new Set([...aliases, ...(isTask ? ofTasks : ofModels)])];
  }, [aliases, endpoint, isTask, models.data, features.data]);
}

function Answer({ preview: { refusal, candidates, retries, process } }: { readonly preview: RoutingPreview }) {
  const { team } = useSession();
  const isWeighted = candidates.some(({ share }) => share !== null);
  return (
    <>
      {refusal !== null && (
        <Alert
          variant="light"
          color="red"
          icon={<IconAlert size={18} />}
          title={`The request would be refused: ${refusal.status} ${refusal.code}`}
          mb="sm"
        >
          <span className="wrap-anywhere">{refusal.message}</span>
        </Alert>
      )}
      <ol className="candidates" aria-label="Candidates">
        {candidates.map((candidate, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: for a role of a team, deployments of a model differ in their order only
          <Candidate key={index} candidate={candidate} />
        ))}
      </ol>
      <Text size="xs" c="dimmed" mt="xs">
        {retries > 0 && `A failed call is retried up to ${retries} times. `}
        {isWeighted && "Where shares are shown, the order is drawn for each request; the most likely one is listed. "}
        {team === null
          ? `Circuits are those of process ${process}. `
          : "Circuits, latencies and deployments are shown only to roles of the whole gateway. "}
        Limits and budgets are not checked.
      </Text>
    </>
  );
}

function Candidate({ candidate }: { readonly candidate: RoutingCandidate }) {
  const { position, name, model, provider, deployment, share, circuit, latency_ms, message, reason } = candidate;
  const isTried = position !== null;
  return (
    <li className="candidate" data-tried={isTried}>
      <span className="candidate-position">
        <span aria-hidden="true">{isTried ? position : "–"}</span>
        <span className="visually-hidden">{isTried ? `Position ${position}` : "Passed over"}</span>
      </span>
      <div className="candidate-text">
        <Group gap={6}>
          <span className="candidate-model wrap-anywhere">{model}</span>
          {name !== model && <Badge size="sm">from {name}</Badge>}
          {deployment !== null && deployment !== provider && (
            <Badge variant="default" size="sm" fw={500}>
              {deployment}
            </Badge>
          )}
          {candidate.missing_abilities.map((ability) => (
            <Badge key={ability} color="orange" size="sm">
              no {abilityTitles.get(ability)?.toLowerCase()}
            </Badge>
          ))}
          {candidate.unknown_abilities.map((ability) => (
            <Badge key={ability} variant="default" size="sm" fw={500}>
              {abilityTitles.get(ability)?.toLowerCase()} not stated
            </Badge>
          ))}
        </Group>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {message}
          {candidate.missing_abilities.length > 0 && isTried && " The provider probably refuses the request."}
        </Text>
      </div>
      <div className="candidate-facts numeric">
        {share !== null && <span>{formatPercent(share)}</span>}
        {isTried && latency_ms !== null && <span className="muted">{formatMs(latency_ms)}</span>}
        <span className="with-dot">
          <span className="dot" data-state={toLevel(reason, circuit)} />
          {toState(candidate)}
        </span>
      </div>
    </li>
  );
}

function toLevel(reason: RoutingCandidate["reason"], circuit: RoutingCandidate["circuit"]): string | undefined {
  if (reason === "circuit_open" || reason === "model_not_allowed") return "bad";
  if (circuit === "half_open" || reason === "provider_not_configured") return "warning";
  return circuit === "closed" ? "good" : undefined;
}

const states: Readonly<Record<RoutingCandidate["reason"], string>> = {
  first: "tried first",
  fallback: "fallback",
  other_deployment: "other deployment",
  probe: "test call",
  circuit_open: "circuit open",
  provider_not_configured: "not set up",
  provider_not_found: "unknown provider",
  model_not_found: "not offered",
  model_not_allowed: "not allowed",
  provider_excluded: "excluded",
  fallbacks_off: "not tried",
  request_refused: "not reached",
};

function toState({ reason }: RoutingCandidate): string {
  return states[reason];
}
