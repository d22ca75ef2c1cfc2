// Where the person writes: text and files for every column.

import { ActionIcon, Alert, Button, FileButton, Group, Kbd, Text, Textarea, Tooltip } from "@mantine/core";
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useRef, useState } from "react";
import { IconAttach, IconClose, IconFile, IconSend, IconStop } from "../icons.ts";
import { formatBytes } from "../lib/format.ts";
import type { Attachment } from "./attachment.ts";
import { readAttachments } from "./read-attachments.ts";

interface ComposerProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly placeholder: string;
  readonly isRunning: boolean;
  /** Why nothing can be sent; null: it can. */
  readonly problem: string | null;
  readonly onSend: (attachments: readonly Attachment[]) => void;
  readonly onStop: () => void;
}

export function Composer({ text, onText, placeholder, isRunning, problem, onSend, onStop }: ComposerProps) {
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [fileProblem, setFileProblem] = useState<string | null>(null);
  const [isOver, setOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const isEmpty = text.trim() === "" && attachments.length === 0;

  async function add(files: Iterable<File>): Promise<void> {
    const read = await readAttachments(files, attachments);
    setAttachments((before) => [...before, ...read.attachments]);
    setFileProblem(read.problem);
    field.current?.focus();
  }

  function send(): void {
    if (isEmpty || isRunning || problem !== null) return;
    onSend(attachments);
    setAttachments([]);
    setFileProblem(null);
    field.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    // While a word is being composed, as in Japanese, Enter belongs to the input method.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  function onPaste(event: ClipboardEvent): void {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  }

  function onDrop(event: DragEvent): void {
    event.preventDefault();
    setOver(false);
    void add([...event.dataTransfer.files]);
  }

  return (
    <form
      className="composer"
      data-over={isOver}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      {fileProblem !== null && (
        <Alert color="orange" variant="light" role="alert" py={6}>
          {fileProblem}
        </Alert>
      )}
      {attachments.length > 0 && (
        <AttachmentList
          attachments={attachments}
          onRemove={(id) => setAttachments((before) => before.filter((one) => one.id !== id))}
        />
      )}
      <Textarea
        ref={field}
        aria-label="Message"
        placeholder={placeholder}
        variant="unstyled"
        autosize
        minRows={2}
        maxRows={12}
        value={text}
        onChange={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        autoFocus
        data-autofocus
      />
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Group gap="xs" wrap="nowrap">
          <FileButton multiple onChange={(files) => void add(files)}>
            {(props) => (
              <Tooltip label="Attach images, audio or files">
                <ActionIcon {...props} size="lg" aria-label="Attach files">
                  <IconAttach size={18} />
                </ActionIcon>
              </Tooltip>
            )}
          </FileButton>
          <Text size="xs" c="dimmed" className="composer-hint">
            <Kbd size="xs">Enter</Kbd> sends, <Kbd size="xs">Shift</Kbd> + <Kbd size="xs">Enter</Kbd> starts a line
          </Text>
        </Group>
        {isRunning ? (
          <Button variant="light" color="red" leftSection={<IconStop size={14} />} onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Tooltip label={problem} disabled={problem === null}>
            <Button
              type="submit"
              leftSection={<IconSend size={15} />}
              disabled={isEmpty || problem !== null}
              aria-describedby={problem === null ? undefined : "composer-problem"}
            >
              Send
            </Button>
          </Tooltip>
        )}
      </Group>
      {problem !== null && (
        <Text size="xs" c="var(--bad)" id="composer-problem">
          {problem}
        </Text>
      )}
    </form>
  );
}

interface AttachmentListProps {
  readonly attachments: readonly Attachment[];
  readonly onRemove?: (id: string) => void;
}

export function AttachmentList({ attachments, onRemove }: AttachmentListProps) {
  return (
    <ul className="attachments" aria-label="Files">
      {attachments.map(({ id, name, type, bytes, dataUrl }) => (
        <li key={id} className="attachment">
          {isShown(type) ? <img src={dataUrl} alt="" /> : <IconFile size={18} />}
          <span className="attachment-name">
            <span className="truncate">{name}</span>
            <span className="attachment-size">{formatBytes(bytes)}</span>
          </span>
          {onRemove !== undefined && (
            <ActionIcon size="sm" onClick={() => onRemove(id)} aria-label={`Remove ${name}`}>
              <IconClose size={14} />
            </ActionIcon>
          )}
        </li>
      ))}
    </ul>
  );
}

function isShown(type: string): boolean {
  return ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"].includes(type);
}
