// Which key the playground uses, and a field for another one.

import { Alert, Anchor, Button, PasswordInput, Text } from "@mantine/core";
import { useState } from "react";
import { OneFieldForm } from "../components/one-field-form.tsx";
import { IconKey } from "../icons.ts";
import type { PlaygroundKey } from "./key.ts";

/** Shown while no call can be made: the role does not create keys. */
export function KeyNotice({ playgroundKey }: { readonly playgroundKey: PlaygroundKey }) {
  if (playgroundKey.isReady) return null;
  return (
    <Alert color="orange" variant="light" icon={<IconKey size={18} />} title="An inference key is needed">
      <Text size="sm" mb="sm">
        Your role reads and does not create keys. Paste an inference key to try models. It is kept in this tab until you
        sign out.
      </Text>
      <PasteForm playgroundKey={playgroundKey} />
    </Alert>
  );
}

/** One line for a panel of settings. */
export function KeyChoice({ playgroundKey }: { readonly playgroundKey: PlaygroundKey }) {
  const [isOpen, setOpen] = useState(false);
  const { isReady, isPasted, mayCreate, forget } = playgroundKey;
  if (!isReady) return null;
  if (isPasted)
    return (
      <Text size="xs" c="dimmed">
        Calls use the key that you pasted.{" "}
        <Anchor component="button" type="button" inherit underline="always" onClick={forget}>
          {mayCreate ? "Use a key of the playground" : "Remove it"}
        </Anchor>
      </Text>
    );
  return (
    <>
      <Text size="xs" c="dimmed">
        Calls use a key that the playground creates for an hour. They are billed and recorded like all others.{" "}
        <Anchor component="button" type="button" inherit underline="always" onClick={() => setOpen(!isOpen)}>
          Use another key
        </Anchor>
      </Text>
      {isOpen && <PasteForm playgroundKey={playgroundKey} />}
    </>
  );
}

function PasteForm({ playgroundKey: { paste } }: { readonly playgroundKey: PlaygroundKey }) {
  return (
    <OneFieldForm onSubmit={paste} button={<Button type="submit">Use key</Button>}>
      {(field) => (
        <PasswordInput
          {...field}
          aria-label="Inference key"
          placeholder="sk-sy-…"
          autoComplete="off"
          flex={1}
          maw={420}
        />
      )}
    </OneFieldForm>
  );
}
