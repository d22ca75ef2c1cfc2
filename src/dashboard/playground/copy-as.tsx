// "Copy as": the request that was just made, as a program that makes it again.

import { Button, Group, Modal, SegmentedControl, Stack, Text } from "@mantine/core";
import { useClipboard, useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { CodeBlock } from "../components/code-block.tsx";
import { IconCheck, IconCode, IconCopy } from "../icons.ts";
import { type CopiedProgram, type CopiedRequest, type SampleLanguage, toCodeSample } from "./code-samples.ts";

const languages: readonly { readonly value: SampleLanguage; readonly label: string }[] = [
  { value: "curl", label: "curl" },
  { value: "typescript", label: "TypeScript" },
  { value: "python", label: "Python" },
];

type Copied = CopiedRequest | CopiedProgram;

interface CopyAsProps {
  /** Null: nothing was sent yet. A function is called when the dialog opens, because a request with files is large. */
  readonly request: Copied | (() => Copied) | null;
  /** What the request was, for screen readers, where a page has several. */
  readonly label?: string;
  readonly size?: "compact-xs" | "xs" | "sm";
}

export function CopyAs({ request, label, size = "xs" }: CopyAsProps) {
  const [isOpen, dialog] = useDisclosure();
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        size={size}
        leftSection={<IconCode size={14} />}
        onClick={dialog.open}
        disabled={request === null}
        aria-label={label === undefined ? undefined : `Copy as: ${label}`}
      >
        Copy as
      </Button>
      {isOpen && request !== null && (
        <CopyDialog request={typeof request === "function" ? request() : request} onClose={dialog.close} />
      )}
    </>
  );
}

function CopyDialog({ request, onClose }: { readonly request: Copied; readonly onClose: () => void }) {
  const [language, setLanguage] = useState<SampleLanguage>("curl");
  const clipboard = useClipboard();
  const code = toCodeSample(language, request, location.origin);
  return (
    <Modal opened onClose={onClose} title="Copy as" size="xl" closeButtonProps={{ "aria-label": "Close" }}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <SegmentedControl
            aria-label="Language"
            size="xs"
            data={[...languages]}
            value={language}
            onChange={(value) => setLanguage(value as SampleLanguage)}
          />
          <Button
            size="xs"
            leftSection={clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            onClick={() => clipboard.copy(code)}
            data-autofocus
          >
            {clipboard.copied ? "Copied" : "Copy"}
          </Button>
        </Group>
        <CodeBlock label="Code" text={shortenData(code)} className="code-sample" />
        <Text size="xs" c="dimmed">
          Needs an inference key in <code>SWITCHYARD_KEY</code>, and no package.
        </Text>
      </Stack>
    </Modal>
  );
}

/** The copied text contains files completely; the preview shortens them. */
function shortenData(code: string): string {
  return code.replace(/[A-Za-z0-9+/=]{400,}/g, (data) => `${data.slice(0, 40)}… (${data.length} characters)`);
}
