// The menu of a row of keys or teams: it can be changed, disabled and removed.

import { ActionIcon, Menu } from "@mantine/core";
import type { ReactNode } from "react";
import type { ApiError } from "../api/client.ts";
import { useChange } from "../api/hooks.ts";
import { IconMore } from "../icons.ts";
import { notifyError } from "./notify-error.ts";

interface RecordMenuProps {
  /** The path of the list that has the record. */
  readonly list: string;
  readonly record: { readonly id: string; readonly name: string; readonly enabled: boolean };
  readonly onEdit: () => void;
  readonly removal: { readonly label: string; readonly onClick: () => void };
  /** Further items. */
  readonly children?: ReactNode;
}

export function RecordMenu({ list, record: { id, name, enabled }, onEdit, removal, children }: RecordMenuProps) {
  const change = useChange([list]);

  function toggle(): void {
    change
      .mutateAsync({ method: "PATCH", path: `${list}/${id}`, body: { enabled: !enabled } })
      .catch((error: ApiError) => {
        // With 401 the session has ended: the page for signing in says enough.
        if (error.status !== 401) notifyError(`${name} is still ${enabled ? "enabled" : "disabled"}`, error);
      });
  }

  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${name}`}>
          <IconMore size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onEdit}>Change</Menu.Item>
        {children}
        <Menu.Item onClick={toggle}>{enabled ? "Disable" : "Enable"}</Menu.Item>
        <Menu.Divider />
        <Menu.Item color="red" onClick={removal.onClick}>
          {removal.label}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
