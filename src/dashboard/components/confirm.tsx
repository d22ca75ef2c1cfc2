// Asks before something is done that cannot be undone.

import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useChange } from "../api/hooks.ts";
import { ErrorNotice } from "./error-notice.tsx";

interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action: string;
  readonly change: { readonly isPending: boolean; readonly error: unknown };
  readonly isHarmless?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({ title, children, action, change, isHarmless = false, onConfirm, onClose }: ConfirmProps) {
  const { isPending, error } = change;
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {error !== null && error !== undefined && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color={isHarmless ? undefined : "red"} loading={isPending} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface ConfirmDeleteProps extends Pick<ConfirmProps, "title" | "children" | "onClose"> {
  /** The path of the list from which it is deleted, and its id there. */
  readonly list: string;
  readonly id: string;
  readonly action?: string;
}

export function ConfirmDelete({ list, id, action = "Delete", ...confirm }: ConfirmDeleteProps) {
  const change = useChange([list]);
  return (
    <Confirm
      {...confirm}
      action={action}
      change={change}
      onConfirm={() => change.mutate({ method: "DELETE", path: `${list}/${id}` }, { onSuccess: confirm.onClose })}
    />
  );
}
