// A form of one text field, which is sent without spaces around it and not while it is empty.

import { Group } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";

interface Field {
  readonly value: string;
  readonly onChange: (event: FormEvent<HTMLInputElement>) => void;
}

interface OneFieldFormProps {
  readonly onSubmit: (text: string) => void;
  /** Draws the field. */
  readonly children: (field: Field) => ReactNode;
  readonly button: ReactNode;
}

export function OneFieldForm({ onSubmit, children, button }: OneFieldFormProps) {
  const [value, setValue] = useState("");
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (value.trim() !== "") onSubmit(value.trim());
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" wrap="nowrap">
        {children({ value, onChange: (event) => setValue(event.currentTarget.value) })}
        {button}
      </Group>
    </form>
  );
}
