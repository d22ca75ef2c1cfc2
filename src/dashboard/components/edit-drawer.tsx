// The drawer with a form that creates or changes something.

import { Button, Drawer, Group, Stack, TextInput } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import type { ApiError } from "../api/client.ts";
import { ErrorNotice } from "./error-notice.tsx";

interface EditDrawerProps {
  /** Of what is created, such as "key". */
  readonly noun: string;
  /** The name of what is changed; null: something new is created. */
  readonly before: string | null;
  readonly change: { readonly isPending: boolean; readonly error: ApiError | null };
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function EditDrawer({ noun, before, change, onSubmit, onClose, children }: EditDrawerProps) {
  function submit(event: FormEvent): void {
    event.preventDefault();
    onSubmit();
  }

  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={before === null ? `Create ${noun}` : `Change ${before}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {children}
          {change.error !== null && <ErrorNotice error={change.error} />}
          <Group justify="flex-end" gap="xs" mt="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              {before === null ? `Create ${noun}` : "Save"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Drawer>
  );
}

interface NameFieldProps {
  readonly description: string;
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly error: ApiError | null;
  readonly maxLength: number;
}

/** The first field of the form: it has the focus when the drawer opens. */
export function NameField({ onChange, error, ...field }: NameFieldProps) {
  return (
    <TextInput
      {...field}
      label="Name"
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error?.problemOf("name")}
      required
      data-autofocus
    />
  );
}
