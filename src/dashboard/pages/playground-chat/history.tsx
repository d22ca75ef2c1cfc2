// The conversations that this browser keeps.

import { ActionIcon, Drawer, Group, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { IconChat, IconRename, IconTrash } from "../../icons.ts";
import type { ConversationSummary } from "./store.ts";
import { deleteConversation, listConversations, readConversation, saveConversation } from "./store.ts";

interface HistoryProps {
  readonly owner: string;
  /** The conversation that is open. */
  readonly openId: string;
  readonly onOpen: (id: string) => void;
  readonly onRenamed: (id: string, title: string) => void;
  readonly onDeleted: (id: string) => void;
  readonly onClose: () => void;
}

export function History({ owner, openId, onOpen, onRenamed, onDeleted, onClose }: HistoryProps) {
  const [items, setItems] = useState<readonly ConversationSummary[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [renamed, setRenamed] = useState<string | null>(null);

  const attempt = useCallback(
    async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
        setItems(await listConversations(owner));
        setError(null);
      } catch (failure) {
        setError(failure);
      }
    },
    [owner],
  );
  useEffect(() => void attempt(async () => {}), [attempt]);

  async function rename(id: string, title: string): Promise<void> {
    setRenamed(null);
    await attempt(async () => {
      const conversation = await readConversation(id, owner);
      if (conversation !== null) await saveConversation({ ...conversation, title });
    });
    onRenamed(id, title);
  }

  return (
    <Drawer
      opened
      onClose={onClose}
      title="Chats in this browser"
      size={380}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void attempt(async () => {})} />}
      {items?.length === 0 && (
        <EmptyState icon={IconChat} title="No chats yet">
          Send a message. Chats are kept in this browser only, at most 50 of them.
        </EmptyState>
      )}
      <ul className="chat-list">
        {items?.map(({ id, title, models, updatedAt }) => (
          <li key={id} className="chat-list-item" data-active={id === openId}>
            {renamed === id ? (
              <RenameForm title={title} onRename={(text) => void rename(id, text)} onCancel={() => setRenamed(null)} />
            ) : (
              <>
                <UnstyledButton className="chat-list-open" onClick={() => onOpen(id)} aria-current={id === openId}>
                  <Text size="sm" fw={550} truncate>
                    {title}
                  </Text>
                  <Text size="xs" c="dimmed" truncate>
                    <TimeText time={new Date(updatedAt).toISOString()} ago /> · {models.join(", ")}
                  </Text>
                </UnstyledButton>
                <Group gap={0} wrap="nowrap">
                  <ActionIcon onClick={() => setRenamed(id)} aria-label={`Rename ${title}`}>
                    <IconRename size={15} />
                  </ActionIcon>
                  <ActionIcon
                    onClick={() => {
                      void attempt(() => deleteConversation(id));
                      onDeleted(id);
                    }}
                    aria-label={`Delete ${title}`}
                  >
                    <IconTrash size={15} />
                  </ActionIcon>
                </Group>
              </>
            )}
          </li>
        ))}
      </ul>
    </Drawer>
  );
}

interface RenameFormProps {
  readonly title: string;
  readonly onRename: (title: string) => void;
  readonly onCancel: () => void;
}

const maxTitleLength = 120;

function RenameForm({ title, onRename, onCancel }: RenameFormProps) {
  const [text, setText] = useState(title);
  return (
    <form
      className="chat-list-rename"
      onSubmit={(event) => {
        event.preventDefault();
        onRename(text.trim());
      }}
    >
      <TextInput
        aria-label="New name"
        size="xs"
        value={text}
        maxLength={maxTitleLength}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={onCancel}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onCancel();
        }}
        autoFocus
      />
    </form>
  );
}
