// Creates or changes a key.

import { Group, MultiSelect, Select } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/hooks.ts";
import type { Key, KeyWithSecret } from "../../api/types.ts";
import { EditDrawer, NameField } from "../../components/edit-drawer.tsx";
import { toFields } from "../../components/limit-fields.ts";
import { LimitsForm } from "../../components/limits-form.tsx";
import { TeamSelect } from "../../components/record-select.tsx";
import { formatDateTime } from "../../lib/format.ts";
import { type Role, useMay, useSession } from "../../session/session.ts";
import { toChangedKey, toNewKey } from "./key-request.ts";

const keysPath = "/v3/manage/keys";
const scopes = ["chat", "responses", "universal", "embeddings"] as const;
const expiries = [
  { value: "never", label: "never" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
];
const kinds = [
  { value: "inference", label: "Inference: calls models" },
  { value: "sandbox", label: "Sandbox: free test answers" },
];
const roleChoices = [
  { value: "viewer", label: "Viewer: reads" },
  { value: "operator", label: "Operator: also changes keys and jobs" },
  { value: "administrator", label: "Administrator: does everything" },
] satisfies { readonly value: Role; readonly label: string }[];
const managementKind = { value: "management", label: "Management: this dashboard and its API" };

interface KeyFormProps {
  /** Null: a new key. */
  readonly before: Key | null;
  readonly onClose: () => void;
  readonly onCreated: (key: KeyWithSecret) => void;
}

export function KeyForm({ before, onClose, onCreated }: KeyFormProps) {
  const change = useChange<KeyWithSecret>([keysPath, "/v3/manage/budgets"]);
  const mayManage = useMay("administrator");
  const { team_name: ownTeam } = useSession();
  // A role that is limited to a team cannot take a key out of it.
  const mayClear = ownTeam === null || before === null;
  const [name, setName] = useState(before?.name ?? "");
  const [kind, setKind] = useState<Key["kind"]>(before?.kind ?? "inference");
  const [role, setRole] = useState<Role>(before?.role ?? "viewer");
  const [team, setTeam] = useState(before?.team ?? null);
  const [chosen, setChosen] = useState<readonly string[]>(before?.scopes ?? scopes);
  const [expiry, setExpiry] = useState(before?.expires_at === null || before === null ? "never" : "same");
  const [limits, setLimits] = useState(() => toFields(before));
  const isManagement = kind === "management";

  function submit(): void {
    const fields = { name, kind, role, team, scopes: chosen, expiry, limits };
    if (before === null) {
      change.mutate(
        { method: "POST", path: keysPath, body: toNewKey(fields) },
        {
          onSuccess: (created) => {
            onClose();
            onCreated(created);
          },
        },
      );
      return;
    }
    const body = toChangedKey(fields, before);
    change.mutate({ method: "PATCH", path: `${keysPath}/${before.id}`, body }, { onSuccess: onClose });
  }

  const { error } = change;
  return (
    <EditDrawer noun="key" before={before?.name ?? null} change={change} onSubmit={submit} onClose={onClose}>
      <NameField
        description="The program or person that uses the key."
        value={name}
        onChange={setName}
        error={error}
        maxLength={128}
      />
      {before === null && (
        <Select
          label="Kind"
          data={mayManage ? [...kinds, managementKind] : kinds}
          value={kind}
          allowDeselect={false}
          onChange={(value) => setKind((value ?? "inference") as Key["kind"])}
        />
      )}
      {isManagement && (
        <Select
          label="Role"
          description="With a team, the role is limited to that team."
          data={roleChoices}
          value={role}
          allowDeselect={false}
          onChange={(value) => setRole((value ?? "viewer") as Role)}
          error={error?.problemOf("role")}
        />
      )}
      <Group gap="sm" grow align="flex-start">
        <TeamSelect
          label="Team"
          placeholder={ownTeam ?? "no team"}
          toLabel={({ name: own, display_name }) => display_name ?? own}
          value={team}
          onChange={setTeam}
          error={error?.problemOf("team")}
          clearable={mayClear}
          allowDeselect={mayClear}
        />
        <Select
          label="Expires"
          data={
            before?.expires_at ? [{ value: "same", label: formatDateTime(before.expires_at) }, ...expiries] : expiries
          }
          value={expiry}
          allowDeselect={false}
          onChange={(value) => setExpiry(value ?? "never")}
        />
      </Group>
      {!isManagement && (
        <>
          <MultiSelect
            label="Scopes"
            description="The groups of endpoints that the key may call."
            data={[...scopes]}
            value={[...chosen]}
            onChange={setChosen}
            error={error?.problemOf("scopes")}
          />
          <LimitsForm fields={limits} onChange={setLimits} error={error} before={before} />
        </>
      )}
    </EditDrawer>
  );
}
