// The playground for responses: creates them, continues them, and retrieves and deletes those that are stored.

import { Button, Switch, Text, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { OneFieldForm } from "../../components/one-field-form.tsx";
import { Page } from "../../components/page.tsx";
import { IconPlus, IconRouting, IconSearch } from "../../icons.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { Composer } from "../../playground/composer.tsx";
import { usePlaygroundKey } from "../../playground/key.ts";
import { KeyNotice } from "../../playground/key-notice.tsx";
import { type Model, ModelPicker } from "../../playground/model-picker.tsx";
import { HeadButton, useSettingsPanel, WithModels } from "../../playground/playground-page.tsx";
import { initialSettings, readSettings } from "../../playground/settings.ts";
import { SettingsPanel } from "../../playground/settings-panel.tsx";
import { PlaygroundTabs } from "../../playground/tabs.tsx";
import { EntryView } from "./entry-view.tsx";
import { callsOf, type Input, toResponseParameters } from "./response.ts";
import { type Entry, useChain } from "./use-chain.ts";

const sandboxModel = "sandbox/echo";

export default function ResponsesPlaygroundPage() {
  return <WithModels endpoint="responses">{(models) => <Responses models={models} />}</WithModels>;
}

function Responses({ models }: { readonly models: readonly Model[] }) {
  const url = useUrlState();
  const playgroundKey = usePlaygroundKey();
  const chain = useChain();
  const { entries, isRunning, error, retrieve } = chain;
  const model = url.get("model") || defaultModel(models);
  const [settings, setSettings] = useState(initialSettings);
  const [isStored, setStored] = useState(true);
  const [text, setText] = useState("");
  const settingsPanel = useSettingsPanel();
  /** Null: the newest one. Empty: none, a new chain begins. */
  const [chosen, setChosen] = useState<string | null>(null);
  const { parameters, problem } = readSettings(settings);
  const newest = entries.findLast(canBeContinued)?.response?.id ?? "";
  const previous = chosen ?? newest;
  const [asked] = useState(url.get("id"));
  const { isReady } = playgroundKey;

  useEffect(() => {
    if (asked !== "" && isReady) void retrieve(asked);
  }, [asked, isReady, retrieve]);
  const { set } = url;
  // The chain can be found again by its last response.
  useEffect(() => {
    if (newest !== "") set({ id: newest });
  }, [newest, set]);

  function send(input: Input, continued: string): void {
    if (parameters === null) return;
    setChosen(null);
    chain.create(
      {
        model,
        ...(settings.system.trim() !== "" && { instructions: settings.system }),
        ...toResponseParameters(parameters),
        store: isStored,
        ...(continued !== "" && { previous_response_id: continued }),
      },
      input,
    );
  }

  function startNew(): void {
    chain.clear();
    setChosen(null);
    set({ id: null });
  }

  return (
    <Page
      title="Playground"
      description={<PlaygroundTabs />}
      actions={
        <>
          <HeadButton icon={IconPlus} label="New chain" onClick={startNew} />
          {settingsPanel.button}
        </>
      }
    >
      <KeyNotice playgroundKey={playgroundKey} />
      <div className="playground" data-settings={settingsPanel.isOpen}>
        <div className="playground-main">
          <div className="response-tools">
            <ModelPicker label="Model" models={models} value={model} onChange={(name) => set({ model: name })} />
            <RetrieveForm isDisabled={!isReady} onRetrieve={(id) => void retrieve(id)} />
          </div>
          {error !== null && <ErrorNotice error={error} />}
          {entries.length === 0 ? (
            <EmptyState icon={IconRouting} title="Start a chain of responses">
              The gateway or the provider stores each response, so the next one names it instead of repeating the
              conversation. Stored responses can be retrieved by their id, by keys of the same team or by the key that
              created them.
            </EmptyState>
          ) : (
            <ol className="chain">
              {entries.map((entry, index) => (
                <EntryView
                  key={entry.key}
                  entry={entry}
                  isChosen={previous !== "" && entry.response?.id === previous}
                  isRunning={isRunning}
                  onContinue={() => setChosen(entry.response?.id ?? "")}
                  onDelete={() => {
                    const id = entry.response?.id ?? "";
                    if (chosen === id) setChosen(null);
                    void chain.remove(id);
                  }}
                  onResults={
                    index === entries.length - 1 && canBeContinued(entry) && !isRunning
                      ? (results) => send(toResults(entry, results), entry.response?.id ?? "")
                      : null
                  }
                />
              ))}
            </ol>
          )}
          {previous !== "" && (
            <Text size="xs" c="dimmed" className="response-previous wrap-anywhere">
              The next message continues <span className="mono">{shorten(previous)}</span>
            </Text>
          )}
          <Composer
            text={text}
            onText={setText}
            placeholder="Input"
            isRunning={isRunning}
            problem={isReady ? (problem?.message ?? null) : "Paste an inference key to create responses."}
            onSend={(attachments) => {
              send({ kind: "message", text: text.trim(), attachments }, previous);
              setText("");
            }}
            onStop={chain.stop}
          />
        </div>
        {settingsPanel.isOpen && (
          <SettingsPanel
            settings={settings}
            onChange={setSettings}
            playgroundKey={playgroundKey}
            systemLabel="Instructions"
          >
            <Switch
              label="Store the response"
              checked={isStored}
              onChange={(event) => setStored(event.currentTarget.checked)}
            />
          </SettingsPanel>
        )}
      </div>
    </Page>
  );
}

function defaultModel(models: readonly Model[]): string {
  const native = models.find(({ responses_native, configured, owned_by }) => {
    return responses_native && configured && owned_by !== "sandbox";
  });
  return native?.id ?? sandboxModel;
}

function canBeContinued({ state, response }: Entry): boolean {
  return state === "done" && response?.store === true;
}

function toResults({ items }: Entry, results: readonly string[]): Input {
  const outputs = callsOf(items).map(({ callId }, index) => ({ callId, output: results[index] ?? "" }));
  return { kind: "results", results: outputs };
}

function shorten(id: string): string {
  return id.length > 28 ? `${id.slice(0, 16)}…${id.slice(-8)}` : id;
}

interface RetrieveFormProps {
  readonly isDisabled: boolean;
  readonly onRetrieve: (id: string) => void;
}

function RetrieveForm({ isDisabled, onRetrieve }: RetrieveFormProps) {
  return (
    <OneFieldForm
      onSubmit={onRetrieve}
      button={
        <Button type="submit" variant="default" leftSection={<IconSearch size={15} />} disabled={isDisabled}>
          Retrieve
        </Button>
      }
    >
      {(field) => <TextInput {...field} aria-label="Response id" placeholder="resp_…" flex={1} spellCheck={false} />}
    </OneFieldForm>
  );
}
