// Creates or changes a team.

import { Button, Drawer, Group, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useChange } from "../../api/hooks.ts";
import type { Team } from "../../api/types.ts";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { LimitsForm, toFields, toLimits } from "../../components/limits-form.tsx";

const teamsPath = "/v3/manage/teams";

export function TeamForm({ before, onClose }: { readonly before: Team | null; readonly onClose: () => void }) {
  const change = useChange([teamsPath, "/v3/manage/budgets"]);
  const [name, setName] = useState(before?.name ?? "");
  const [displayName, setDisplayName] = useState(before?.display_name ?? "");
  const [limits, setLimits] = useState(() => toFields(before));

  function submit(event: FormEvent): void {
    event.preventDefault();
    const common = { display_name: displayName.trim() || null, ...toLimits(limits, before) };
    if (before === null)
      change.mutate(
        { method: "POST", path: teamsPath, body: { name: name.trim(), ...common } },
        { onSuccess: onClose },
      );
    else change.mutate({ method: "PATCH", path: `${teamsPath}/${before.id}`, body: common }, { onSuccess: onClose });
  }

  const { error } = change;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={before === null ? "Create team" : `Change ${before.name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {before === null && (
            <TextInput
              label="Name"
              description="Cannot be changed later: files and jobs belong to it."
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={error?.problemOf("name")}
              required
              maxLength={256}
              data-autofocus
            />
          )}
          <TextInput
            label="Display name"
            value={displayName}
            onChange={(event) => setDisplayName(event.currentTarget.value)}
            error={error?.problemOf("display_name")}
            maxLength={256}
          />
          <LimitsForm fields={limits} onChange={setLimits} error={error} />
          {error !== null && <ErrorNotice error={error} />}
          <Group justify="flex-end" gap="xs" mt="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              {before === null ? "Create team" : "Save"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Drawer>
  );
}
