// The keys: what they may do, what they used, and their whole life from creation to revocation.

import { Badge, Button, Menu, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { useApi, useChange } from "../../api/hooks.ts";
import { useRecords } from "../../api/pages.ts";
import type { Budget, BudgetList, Key, KeyWithSecret } from "../../api/types.ts";
import { BudgetMeter } from "../../components/budget-meter.tsx";
import { Confirm, ConfirmDelete } from "../../components/confirm.tsx";
import { actionsColumn, type Column } from "../../components/data-table.tsx";
import { Filters, SegmentFilter, TeamFilter, TextFilter } from "../../components/filters.tsx";
import { ListPanel } from "../../components/list-panel.tsx";
import { LoadErrors } from "../../components/loaded.tsx";
import { Page } from "../../components/page.tsx";
import { CreateButton } from "../../components/page-parts.tsx";
import { RecordMenu } from "../../components/record-menu.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { IconKey } from "../../icons.ts";
import { noValue } from "../../lib/format.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { useMay } from "../../session/session.ts";
import { KeyForm } from "./key-form.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

const keysPath = "/v3/manage/keys";
const keysPerPage = 200;
const mostBudgets = 10_000;
const filterNames = ["search", "team", "state"] as const;

type Dialog = { readonly kind: "create" } | { readonly kind: "edit" | "rotate" | "revoke"; readonly key: Key } | null;

export default function KeysPage() {
  const url = useUrlState();
  const mayChange = useMay("operator");
  const [dialog, setDialog] = useState<Dialog>(null);
  const [created, setCreated] = useState<KeyWithSecret | null>(null);
  const state = url.get("state") || "active";
  const keys = useRecords<Key>(keysPath, {
    limit: keysPerPage,
    search: url.get("search"),
    team: url.get("team"),
    state: state === "all" ? null : state,
  });
  const budgets = useApi<BudgetList>("/v3/manage/budgets", { holder: "key", limit: mostBudgets });
  const close = () => setDialog(null);
  const columns = useColumns({ budgets: budgets.data, mayChange, onOpen: setDialog });
  return (
    <Page
      title="Keys"
      description="Programs send a key with every request. Its limits are checked before a provider is called."
      actions={mayChange && <CreateButton noun="key" onClick={() => setDialog({ kind: "create" })} />}
    >
      <Filters<(typeof filterNames)[number]>
        controls={{
          search: <TextFilter name="search" label="Search by name, team or end of the key" width={250} />,
          team: <TeamFilter />,
          state: (
            <SegmentFilter
              label="State"
              choices={{ active: "Active", expired: "Expired", revoked: "Revoked", all: "All" }}
              value={state}
              onChange={(value) => url.set({ state: value === "active" ? null : value })}
            />
          ),
        }}
      />
      <LoadErrors queries={[budgets]} />
      <ListPanel
        label="Keys"
        list={keys}
        nouns={["key", "keys"]}
        filterNames={filterNames}
        icon={IconKey}
        empty={{
          title: "No keys yet",
          hint: "Create a key for each program, so that you can see what each of them costs and revoke it alone.",
          action: mayChange && <Button onClick={() => setDialog({ kind: "create" })}>Create key</Button>,
        }}
        filteredHint="Change the search, or show keys in every state."
        columns={columns}
        rowKey={({ id }) => id}
        rowHeight={58}
      />
      {dialog?.kind === "create" && <KeyForm before={null} onClose={close} onCreated={setCreated} />}
      {dialog?.kind === "edit" && <KeyForm before={dialog.key} onClose={close} onCreated={setCreated} />}
      {dialog?.kind === "rotate" && <Rotate apiKey={dialog.key} onClose={close} onCreated={setCreated} />}
      {dialog?.kind === "revoke" && <Revoke apiKey={dialog.key} onClose={close} />}
      {created !== null && <SecretDialog created={created} onClose={() => setCreated(null)} />}
    </Page>
  );
}

interface ColumnOptions {
  readonly budgets: BudgetList | undefined;
  readonly mayChange: boolean;
  readonly onOpen: (dialog: Dialog) => void;
}

function useColumns({ budgets, mayChange, onOpen }: ColumnOptions): Column<Key>[] {
  return useMemo(() => {
    const budgetOf = new Map<string, Budget>(
      budgets?.items.filter(({ model }) => model === null).map((budget) => [budget.id, budget]),
    );
    const columns: Column<Key>[] = [
      {
        title: "Name",
        width: "minmax(180px, 1.3fr)",
        cell: ({ id, name, masked }) => (
          <>
            <Link className="row-link" to={`/requests?key=${id}&from=7d`}>
              <Text size="sm" fw={550} truncate>
                {name}
              </Text>
            </Link>
            <Text size="xs" c="dimmed" className="mono" truncate>
              {masked}
            </Text>
          </>
        ),
      },
      { title: "State", width: "140px", cell: (key) => <State apiKey={key} /> },
      { title: "Team", width: "minmax(100px, 0.8fr)", cell: ({ team }) => team ?? noValue },
      {
        title: "Budget",
        width: "minmax(180px, 1fr)",
        cell: ({ id, name, budget }) => (
          <BudgetMeter name={name} hasBudget={budget !== null} state={budgetOf.get(id)} />
        ),
      },
      {
        title: "Models",
        width: "minmax(130px, 1fr)",
        cell: ({ allowed_models, kind }) => (kind === "management" ? noValue : (allowed_models?.join(", ") ?? "all")),
      },
      {
        title: "Last used",
        width: "110px",
        cell: ({ last_used_at }) => (last_used_at === null ? "never" : <TimeText time={last_used_at} ago />),
      },
      { title: "Created", width: "110px", cell: ({ created_at }) => <TimeText time={created_at} ago /> },
    ];
    if (mayChange) columns.push(actionsColumn("80px", (key) => <Actions apiKey={key} onOpen={onOpen} />));
    return columns;
  }, [budgets, mayChange, onOpen]);
}

function State({ apiKey: { revoked_at, enabled, expires_at, kind, role } }: { readonly apiKey: Key }) {
  const isExpired = expires_at !== null && Date.parse(expires_at) <= Date.now();
  const [text, color] =
    revoked_at !== null
      ? ["revoked", "red"]
      : isExpired
        ? ["expired", "orange"]
        : !enabled
          ? ["disabled", "gray"]
          : [kind === "inference" ? "active" : kind, kind === "management" ? "violet" : "green"];
  return (
    <>
      <Badge color={color}>{text}</Badge>
      {role !== null && (
        <Text size="xs" c="dimmed">
          {role}
        </Text>
      )}
    </>
  );
}

function Actions({ apiKey, onOpen }: { readonly apiKey: Key; readonly onOpen: (dialog: Dialog) => void }) {
  if (apiKey.revoked_at !== null) return null;
  return (
    <RecordMenu
      list={keysPath}
      record={apiKey}
      onEdit={() => onOpen({ kind: "edit", key: apiKey })}
      removal={{ label: "Revoke", onClick: () => onOpen({ kind: "revoke", key: apiKey }) }}
    >
      <Menu.Item onClick={() => onOpen({ kind: "rotate", key: apiKey })}>Rotate</Menu.Item>
    </RecordMenu>
  );
}

interface KeyDialogProps {
  readonly apiKey: Key;
  readonly onClose: () => void;
}

function Rotate({ apiKey, onClose, onCreated }: KeyDialogProps & { readonly onCreated: (key: KeyWithSecret) => void }) {
  const change = useChange<KeyWithSecret>([keysPath]);
  const graceSeconds = 3_600;
  return (
    <Confirm
      title={`Rotate ${apiKey.name}`}
      action="Rotate"
      isHarmless
      change={change}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { method: "POST", path: `${keysPath}/${apiKey.id}/rotate`, body: { grace_seconds: graceSeconds } },
          {
            onSuccess: (rotated) => {
              onClose();
              onCreated(rotated);
            },
          },
        )
      }
    >
      The key gets a new secret, which is shown once. The old secret works for one more hour.
    </Confirm>
  );
}

function Revoke({ apiKey: { id, name }, onClose }: KeyDialogProps) {
  return (
    <ConfirmDelete list={keysPath} id={id} title={`Revoke ${name}`} action="Revoke" onClose={onClose}>
      Programs that use <strong>{name}</strong> are refused from now on. A revoked key cannot be enabled again.
    </ConfirmDelete>
  );
}
