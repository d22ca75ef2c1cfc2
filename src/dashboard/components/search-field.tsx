// A search whose words are in the address.

import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { IconSearch } from "../icons.ts";
import { readAddress, useUrlState } from "../lib/url-state.ts";

interface SearchFieldProps {
  /** What is searched, for screen readers. */
  readonly label: string;
  readonly placeholder?: string;
  readonly width?: number;
}

const parameter = "search";

export function SearchField({ label, placeholder = "Search", width = 240 }: SearchFieldProps) {
  const url = useUrlState();
  const stored = url.get(parameter);
  // The page is rendered some time after the address has changed, so the field itself keeps what is typed meanwhile.
  const [text, setText] = useState(stored);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is read when it has changed, also by the back button
  useEffect(() => setText(readAddress().get(parameter) ?? ""), [stored]);
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={14} />}
      size="xs"
      w={width}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        url.set({ [parameter]: event.currentTarget.value });
      }}
    />
  );
}
