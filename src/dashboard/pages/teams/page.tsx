// The teams: limits that all their keys share.

import { Badge, Button, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { useApi } from "../../api/hooks.ts";
import { useRecords } from "../../api/pages.ts";
import type { Budget, BudgetList, Team, UsageReport } from "../../api/types.ts";
import { BudgetMeter } from "../../components/budget-meter.tsx";
import { ConfirmDelete } from "../../components/confirm.tsx";
import { actionsColumn, type Column } from "../../components/data-table.tsx";
import { Filters, TextFilter } from "../../components/filters.tsx";
import { ListPanel } from "../../components/list-panel.tsx";
import { LoadErrors } from "../../components/loaded.tsx";
import { Page } from "../../components/page.tsx";
import { CreateButton } from "../../components/page-parts.tsx";
import { RecordMenu } from "../../components/record-menu.tsx";
import { IconTeam } from "../../icons.ts";
import { formatCompact, formatUsd, noValue } from "../../lib/format.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { useMay } from "../../session/session.ts";
import { figuresOfTeam } from "./figures.ts";
import { TeamForm } from "./team-form.tsx";

const teamsPath = "/v3/manage/teams";
const teamsPerPage = 200;
const mostBudgets = 10_000;
const filterNames = ["search"] as const;

type Dialog = { readonly kind: "create" } | { readonly kind: "edit" | "delete"; readonly team: Team } | null;

export default function TeamsPage() {
  const url = useUrlState();
  const mayChange = useMay("administrator");
  const [dialog, setDialog] = useState<Dialog>(null);
  const teams = useRecords<Team>(teamsPath, { limit: teamsPerPage, search: url.get("search") });
  const budgets = useApi<BudgetList>("/v3/manage/budgets", { holder: "team", limit: mostBudgets });
  const usage = useApi<UsageReport>("/v3/manage/usage", { from: "30d", group_by: "team" });
  const columns = useColumns({ budgets: budgets.data, usage: usage.data, mayChange, onOpen: setDialog });
  const close = () => setDialog(null);
  return (
    <Page
      title="Teams"
      description="The limits of a team apply to all its keys together."
      actions={mayChange && <CreateButton noun="team" onClick={() => setDialog({ kind: "create" })} />}
    >
      <Filters<(typeof filterNames)[number]>
        controls={{ search: <TextFilter name="search" label="Search by name" width={220} /> }}
      />
      <LoadErrors queries={[budgets, usage]} />
      <ListPanel
        label="Teams"
        list={teams}
        nouns={["team", "teams"]}
        filterNames={filterNames}
        icon={IconTeam}
        empty={{
          title: "No teams yet",
          hint: "A team has one budget and one set of limits for all its keys, and its keys share files and jobs.",
          action: mayChange && <Button onClick={() => setDialog({ kind: "create" })}>Create team</Button>,
        }}
        filteredHint="Search for another part of the name."
        columns={columns}
        rowKey={({ id }) => id}
        rowHeight={58}
      />
      {dialog?.kind === "create" && <TeamForm before={null} onClose={close} />}
      {dialog?.kind === "edit" && <TeamForm before={dialog.team} onClose={close} />}
      {dialog?.kind === "delete" && <Delete team={dialog.team} onClose={close} />}
    </Page>
  );
}

interface ColumnOptions {
  readonly budgets: BudgetList | undefined;
  readonly usage: UsageReport | undefined;
  readonly mayChange: boolean;
  readonly onOpen: (dialog: Dialog) => void;
}

function useColumns({ budgets, usage, mayChange, onOpen }: ColumnOptions): Column<Team>[] {
  return useMemo(() => {
    const budgetOf = new Map<string, Budget>(
      budgets?.items.filter(({ model }) => model === null).map((budget) => [budget.id, budget]),
    );
    const columns: Column<Team>[] = [
      {
        title: "Name",
        width: "minmax(170px, 1.2fr)",
        cell: ({ name, display_name }) => (
          <>
            <Link className="row-link" to={`/keys?team=${encodeURIComponent(name)}`}>
              <Text size="sm" fw={550} truncate>
                {display_name ?? name}
              </Text>
            </Link>
            {display_name !== null && (
              <Text size="xs" c="dimmed" className="mono" truncate>
                {name}
              </Text>
            )}
          </>
        ),
      },
      {
        title: "State",
        width: "110px",
        cell: ({ enabled }) => <Badge color={enabled ? "green" : "gray"}>{enabled ? "enabled" : "disabled"}</Badge>,
      },
      {
        title: "Budget",
        width: "minmax(180px, 1fr)",
        cell: ({ id, name, budget }) => (
          <BudgetMeter name={name} hasBudget={budget !== null} state={budgetOf.get(id)} />
        ),
      },
      {
        title: "Spend, 30 days",
        width: "130px",
        align: "right",
        cell: ({ name }) => formatUsd(figuresOfTeam(usage, name).cost),
      },
      {
        title: "Requests",
        width: "110px",
        align: "right",
        cell: ({ name }) => formatCompact(figuresOfTeam(usage, name).lines),
      },
      {
        title: "Models",
        width: "minmax(120px, 1fr)",
        cell: ({ allowed_models }) => allowed_models?.join(", ") ?? "all",
      },
      {
        title: "Requests per minute",
        width: "160px",
        align: "right",
        cell: ({ rate_limit }) => rate_limit?.requests_per_minute ?? noValue,
      },
    ];
    if (mayChange) columns.push(actionsColumn("80px", (team) => <Actions team={team} onOpen={onOpen} />));
    return columns;
  }, [budgets, usage, mayChange, onOpen]);
}

function Actions({ team, onOpen }: { readonly team: Team; readonly onOpen: (dialog: Dialog) => void }) {
  return (
    <RecordMenu
      list={teamsPath}
      record={team}
      onEdit={() => onOpen({ kind: "edit", team })}
      removal={{ label: "Delete", onClick: () => onOpen({ kind: "delete", team }) }}
    />
  );
}

function Delete({ team: { id, name }, onClose }: { readonly team: Team; readonly onClose: () => void }) {
  return (
    <ConfirmDelete list={teamsPath} id={id} title={`Delete ${name}`} onClose={onClose}>
      Revoke the keys of the team first, or move them to another team. Its usage stays in the reports.
    </ConfirmDelete>
  );
}
