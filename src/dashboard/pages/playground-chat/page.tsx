// The playground for chats: one message to several models, with what each answer took.

import { ActionIcon, Button, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Page } from "../../components/page.tsx";
import { IconChat, IconClose, IconHistory, IconPlus } from "../../icons.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { Composer } from "../../playground/composer.tsx";
import { usePlaygroundKey } from "../../playground/key.ts";
import { KeyNotice } from "../../playground/key-notice.tsx";
import { type Model, ModelFacts, ModelPicker } from "../../playground/model-picker.tsx";
import { HeadButton, useSettingsPanel, WithModels } from "../../playground/playground-page.tsx";
import { readSettings } from "../../playground/settings.ts";
import { SettingsPanel } from "../../playground/settings-panel.tsx";
import { PlaygroundTabs } from "../../playground/tabs.tsx";
import { toPerson, useSession } from "../../session/session.ts";
import { type Conversation, createColumn, createConversation, maxColumns, type Turn } from "./conversation.ts";
import { History } from "./history.tsx";
import { readConversation } from "./store.ts";
import { Announcement, TurnView } from "./turn.tsx";
import { useConversation } from "./use-conversation.ts";

const lastModelsName = "switchyard-playground-models";
const sandboxModel = "sandbox/chat";

export default function ChatPlaygroundPage() {
  const owner = toPerson(useSession());
  const url = useUrlState();
  const [chatId] = useState(url.get("chat"));
  const [stored, setStored] = useState<Conversation | null | undefined>(undefined);
  useEffect(() => {
    if (chatId === "") {
      setStored(null);
      return;
    }
    // A browser that refuses to keep data has no conversation to show, and a new one can be had.
    readConversation(chatId, owner).then(setStored, () => setStored(null));
  }, [chatId, owner]);
  return (
    <WithModels endpoint="chat/completions">
      {stored === undefined ? null : (models) => <Chat owner={owner} stored={stored} models={models} />}
    </WithModels>
  );
}

interface ChatProps {
  readonly owner: string;
  readonly stored: Conversation | null;
  readonly models: readonly Model[];
}

function Chat({ owner, stored, models }: ChatProps) {
  const url = useUrlState();
  const playgroundKey = usePlaygroundKey();
  const { conversation, isRunning, saveError, change, open, send, sendResults, retry, stop } = useConversation(
    () => stored ?? createConversation(owner, chooseModels(url.getAll("model"), models)),
  );
  const [text, setText] = useState(url.get("prompt"));
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  const settingsPanel = useSettingsPanel();
  const { columns, settings, turns } = conversation;
  const { parameters, problem } = readSettings(settings);
  useAddress(conversation);
  useFollow(turns, isRunning);

  function startNew(): void {
    const names = columns.map(({ model }) => model);
    open(createConversation(owner, names, settings));
    setText("");
  }

  async function openStored(id: string): Promise<void> {
    // The list that is open reports a database that cannot be read.
    const found = await readConversation(id, owner).catch(() => null);
    if (found !== null) open(found);
    setHistoryOpen(false);
  }

  function setModel(id: string, model: string): void {
    change((current) => ({
      ...current,
      columns: current.columns.map((column) => (column.id === id ? { ...column, model } : column)),
    }));
  }

  return (
    <Page
      title="Playground"
      description={<PlaygroundTabs />}
      actions={
        <>
          <HeadButton
            icon={IconPlus}
            label="Add model"
            disabled={columns.length >= maxColumns}
            onClick={() =>
              change((current) => ({
                ...current,
                columns: [...current.columns, createColumn(nextModel(current, models))],
              }))
            }
          />
          <HeadButton icon={IconHistory} label="History" onClick={() => setHistoryOpen(true)} />
          <HeadButton icon={IconChat} label="New chat" onClick={startNew} />
          {settingsPanel.button}
        </>
      }
    >
      <KeyNotice playgroundKey={playgroundKey} />
      {saveError !== null && <ErrorNotice error={new Error(`The chat could not be kept: ${String(saveError)}`)} />}
      <div className="playground" data-settings={settingsPanel.isOpen}>
        <div className="playground-main">
          <div className="chat-models" data-count={columns.length}>
            {columns.map(({ id, model }, index) => (
              <div key={id} className="chat-model">
                <ModelPicker
                  label={columns.length === 1 ? "Model" : `Model ${index + 1}`}
                  models={models}
                  value={model}
                  onChange={(name) => setModel(id, name)}
                  {...(columns.length > 1 && {
                    rightSection: (
                      <ActionIcon
                        size="sm"
                        aria-label={`Remove ${model}`}
                        onClick={() =>
                          change((current) => ({
                            ...current,
                            columns: current.columns.filter((column) => column.id !== id),
                          }))
                        }
                      >
                        <IconClose size={14} />
                      </ActionIcon>
                    ),
                  })}
                />
                <FactsOf models={models} id={model} />
              </div>
            ))}
          </div>
          {turns.length === 0 ? (
            <Examples onChoose={setText} />
          ) : (
            <ol className="turns">
              {turns.map((turn, index) => (
                <TurnView
                  key={turn.id}
                  turn={turn}
                  conversation={conversation}
                  isLast={index === turns.length - 1}
                  isRunning={isRunning}
                  onRetry={(columnId) => parameters !== null && retry({ turnId: turn.id, columnId }, parameters)}
                  onResults={(columnId, results) => sendResults({ turnId: turn.id, columnId }, results)}
                />
              ))}
            </ol>
          )}
          <Announcement turns={turns} isRunning={isRunning} />
          <Composer
            text={text}
            onText={setText}
            placeholder={columns.length > 1 ? `Message to ${columns.length} models` : "Message"}
            isRunning={isRunning}
            problem={playgroundKey.isReady ? (problem?.message ?? null) : "Paste an inference key to send messages."}
            onSend={(attachments) => {
              if (parameters === null) return;
              send({ text: text.trim(), attachments }, parameters);
              setText("");
            }}
            onStop={stop}
          />
        </div>
        {settingsPanel.isOpen && (
          <SettingsPanel
            settings={settings}
            onChange={(next) => change((current) => ({ ...current, settings: next }))}
            playgroundKey={playgroundKey}
            systemLabel="System prompt"
          />
        )}
      </div>
      {isHistoryOpen && (
        <History
          owner={owner}
          openId={conversation.id}
          onOpen={(id) => void openStored(id)}
          onRenamed={(id, title) => id === conversation.id && change((current) => ({ ...current, title }))}
          onDeleted={(id) => id === conversation.id && startNew()}
          onClose={() => setHistoryOpen(false)}
        />
      )}
    </Page>
  );
}

/** Of the address, of the last visit, or the first that there is. */
function chooseModels(named: readonly string[], models: readonly Model[]): readonly string[] {
  if (named.length > 0) return named.slice(0, maxColumns);
  const last = (localStorage.getItem(lastModelsName) ?? "").split("\n").filter((model) => model !== "");
  if (last.length > 0) return last;
  const first = models.find(({ owned_by, configured }) => configured && owned_by !== "sandbox");
  return [first?.id ?? sandboxModel];
}

/** One that no column has. */
function nextModel({ columns }: Conversation, models: readonly Model[]): string {
  const used = new Set(columns.map(({ model }) => model));
  return models.find(({ id }) => !used.has(id))?.id ?? sandboxModel;
}

/** The address names the chat and its models, so that the page can be reloaded and the models be shared. */
function useAddress({ id, columns, turns }: Conversation): void {
  const { set } = useUrlState();
  const names = columns.map(({ model }) => model).join("\n");
  const chat = turns.length === 0 ? "" : id;
  useEffect(() => {
    set({ chat, model: names.split("\n"), prompt: null });
    localStorage.setItem(lastModelsName, names);
  }, [chat, names, set]);
}

const nearPixels = 160;

/** Keeps the end of the answers in view while they arrive, unless the person has scrolled away from it. */
function useFollow(turns: readonly Turn[], isRunning: boolean): void {
  const isNear = useRef(true);
  useEffect(() => {
    const look = () => {
      const { scrollHeight } = document.documentElement;
      isNear.current = scrollHeight - scrollY - innerHeight < nearPixels;
    };
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn scrolls into view also after the user has scrolled away
  useEffect(() => {
    isNear.current = true;
  }, [turns.length]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page has grown whenever the turns have changed
  useEffect(() => {
    if (isRunning && isNear.current) scrollTo({ top: document.documentElement.scrollHeight });
  }, [turns, isRunning]);
}

function FactsOf({ models, id }: { readonly models: readonly Model[]; readonly id: string }) {
  const model = models.find((one) => one.id === id);
  if (model === undefined)
    return (
      <Text size="xs" c="dimmed" className="model-facts">
        not in the list of models
      </Text>
    );
  return <ModelFacts model={model} />;
}

const examples = [
  "Explain in three sentences how a railway switchyard sorts wagons.",
  "Write a haiku about a quiet server room.",
  "Compare SQLite and PostgreSQL in a table with four rows.",
];

function Examples({ onChoose }: { readonly onChoose: (text: string) => void }) {
  return (
    <EmptyState
      icon={IconChat}
      title="Ask one model, or several at once"
      action={
        <div className="examples">
          {examples.map((text) => (
            <Button key={text} variant="default" size="xs" onClick={() => onChoose(text)}>
              {text}
            </Button>
          ))}
        </div>
      }
    >
      Each answer shows its time to the first token, its tokens and its cost. Chats stay in this browser.
    </EmptyState>
  );
}
