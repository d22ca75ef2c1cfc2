// Creates or changes a team.

import { TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/hooks.ts";
import type { Team } from "../../api/types.ts";
import { EditDrawer, NameField } from "../../components/edit-drawer.tsx";
import { toFields } from "../../components/limit-fields.ts";
import { LimitsForm } from "../../components/limits-form.tsx";
import { toChangedTeam, toNewTeam } from "./team-request.ts";

const teamsPath = "/v3/manage/teams";

export function TeamForm({ before, onClose }: { readonly before: Team | null; readonly onClose: () => void }) {
  const change = useChange([teamsPath, "/v3/manage/budgets"]);
  const [name, setName] = useState(before?.name ?? "");
  const [displayName, setDisplayName] = useState(before?.display_name ?? "");
  const [limits, setLimits] = useState(() => toFields(before));

  function submit(): void {
    const fields = { name, displayName, limits };
    if (before === null) {
      change.mutate({ method: "POST", path: teamsPath, body: toNewTeam(fields) }, { onSuccess: onClose });
      return;
    }
    const body = toChangedTeam(fields, before);
    change.mutate({ method: "PATCH", path: `${teamsPath}/${before.id}`, body }, { onSuccess: onClose });
  }

  const { error } = change;
  return (
    <EditDrawer noun="team" before={before?.name ?? null} change={change} onSubmit={submit} onClose={onClose}>
      {before === null && (
        <NameField
          description="Cannot be changed later: files and jobs belong to it."
          value={name}
          onChange={setName}
          error={error}
          maxLength={256}
        />
      )}
      <TextInput
        label="Display name"
        value={displayName}
        onChange={(event) => setDisplayName(event.currentTarget.value)}
        error={error?.problemOf("display_name")}
        maxLength={256}
      />
      <LimitsForm fields={limits} onChange={setLimits} error={error} before={before} />
    </EditDrawer>
  );
}
