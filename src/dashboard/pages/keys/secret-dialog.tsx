// Shows the secret of a key, once.

import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { KeyWithSecret } from "../../api/types.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { IconAlert } from "../../icons.ts";

export function SecretDialog({ created, onClose }: { readonly created: KeyWithSecret; readonly onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Secret of ${created.name}`}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Alert variant="light" color="orange" icon={<IconAlert size={18} />}>
          Copy it now. The gateway keeps only a hash of it, so it cannot be shown again.
        </Alert>
        <Group wrap="nowrap" gap="xs" className="secret">
          <Text className="mono wrap-anywhere" size="sm" data-testid="secret">
            {created.key}
          </Text>
          <CopyButton text={created.key} label="Copy the secret" />
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
