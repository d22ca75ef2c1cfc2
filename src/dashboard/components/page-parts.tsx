// What the heads of several pages have: the id of what is shown, a link to a list, and a download.

import { Anchor, Button, Group } from "@mantine/core";
import { Link } from "react-router";
import { IconArrowLeft, IconDownload, IconPlus } from "../icons.ts";
import { CopyButton } from "./copy-button.tsx";

export function IdLine({ id, noun }: { readonly id: string; readonly noun: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <span className="mono wrap-anywhere">{id}</span>
      <CopyButton text={id} label={`Copy the ${noun} id`} />
    </Group>
  );
}

interface ListLinkProps {
  readonly to: string;
  readonly children: string;
}

export function ListLink({ to, children }: ListLinkProps) {
  return (
    <Anchor component={Link} to={to} size="sm">
      {children}
    </Anchor>
  );
}

/** From one thing back to the list of all of them. */
export function BackLink({ to, children }: ListLinkProps) {
  return (
    <Anchor component={Link} to={to} size="sm">
      <Group gap={4}>
        <IconArrowLeft size={14} /> {children}
      </Group>
    </Anchor>
  );
}

export function CsvButton({ href }: { readonly href: string }) {
  return (
    <Button component="a" href={href} download variant="default" size="xs" leftSection={<IconDownload size={14} />}>
      CSV
    </Button>
  );
}

export function CreateButton({ noun, onClick }: { readonly noun: string; readonly onClick: () => void }) {
  return <Button leftSection={<IconPlus size={16} />} onClick={onClick}>{`Create ${noun}`}</Button>;
}
