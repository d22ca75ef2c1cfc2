// A file of a task's input: dropped, chosen, drawn as a sample, or named by its address.

import { ActionIcon, Button, Group, Input, Text, TextInput } from "@mantine/core";
import { type DragEvent, useEffect, useId, useRef, useState } from "react";
import { IconClose, IconFile, IconUpload } from "../../icons.ts";
import { formatBytes } from "../../lib/format.ts";
import { type FileSample, samplesFor } from "./samples/files.ts";

interface FileFieldProps {
  readonly task: string;
  /** The path of the member. */
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  readonly error: string | null;
  /** A file, an address, or the id of an upload. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

export function FileField({ task, name, label, required, error, value, onChange }: FileFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const [isOver, setOver] = useState(false);
  const [isMaking, setMaking] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const file = value instanceof File ? value : null;
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [dropped] = event.dataTransfer.files;
    if (dropped !== undefined) onChange(dropped);
  };
  const make = async (sample: FileSample) => {
    setMaking(true);
    setProblem(null);
    try {
      onChange(await sample.make());
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    } finally {
      setMaking(false);
    }
  };
  return (
    <Input.Wrapper label={label} labelElement="div" required={required} error={error ?? problem} id={id}>
      <input
        ref={input}
        type="file"
        className="visually-hidden"
        tabIndex={-1}
        aria-hidden="true"
        data-field={name}
        onChange={(event) => {
          const [chosen] = event.currentTarget.files ?? [];
          if (chosen !== undefined) onChange(chosen);
          // The same file can be chosen again after it was removed.
          event.currentTarget.value = "";
        }}
      />
      {file === null ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button inside does the same
        <div
          className="file-drop"
          data-over={isOver || undefined}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <Button
            variant="light"
            size="xs"
            leftSection={<IconUpload size={15} />}
            onClick={() => input.current?.click()}
            aria-label={`Choose a file for ${label}`}
            loading={isMaking}
          >
            Choose a file
          </Button>
          <Text size="xs" c="dimmed">
            or drop it here
          </Text>
          <TextInput
            size="xs"
            className="file-address"
            aria-label={`Address of ${label}`}
            placeholder="or paste an https address"
            value={typeof value === "string" ? value : ""}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        </div>
      ) : (
        <ChosenFile file={file} onRemove={() => onChange(undefined)} label={label} />
      )}
      <Group gap={6} mt={8}>
        {samplesFor(task).map((sample) => (
          <Button
            key={sample.title}
            variant="default"
            size="compact-xs"
            onClick={() => void make(sample)}
            disabled={isMaking}
          >
            {sample.title}
          </Button>
        ))}
      </Group>
    </Input.Wrapper>
  );
}

function ChosenFile({
  file,
  label,
  onRemove,
}: {
  readonly file: File;
  readonly label: string;
  readonly onRemove: () => void;
}) {
  const url = useObjectUrl(file);
  const kind = file.type.split("/")[0];
  return (
    <div className="file-chosen">
      {kind === "image" && url !== null ? <img src={url} alt="" /> : <IconFile size={20} />}
      <span className="file-chosen-name">
        <span className="truncate">{file.name}</span>
        <span className="file-chosen-size">{formatBytes(file.size)}</span>
      </span>
      {url !== null && (
        <Button component="a" variant="subtle" size="compact-xs" href={url} download={file.name}>
          Save
        </Button>
      )}
      <ActionIcon onClick={onRemove} aria-label={`Remove the file of ${label}`}>
        <IconClose size={16} />
      </ActionIcon>
    </div>
  );
}

/** An address of the file that only this page can open. It ends with the component. */
export function useObjectUrl(file: Blob | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (file === null) {
      setUrl(null);
      return;
    }
    const created = URL.createObjectURL(file);
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [file]);
  return url;
}
