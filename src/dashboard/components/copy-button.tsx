// Copies a text, and says so.

import { ActionIcon, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "../icons.ts";

export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const clipboard = useClipboard();
  const shown = clipboard.copied ? "Copied" : label;
  return (
    <Tooltip label={shown}>
      <ActionIcon
        color={clipboard.copied ? "green" : "gray"}
        size="sm"
        onClick={() => clipboard.copy(text)}
        aria-label={shown}
      >
        {clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}
