// The uploads of all keys and teams. Names are chosen by callers, so they are shown as text and never open in the browser.

import { ActionIcon, Group, Pagination, Text, Tooltip } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { useApi } from "../../api/hooks.ts";
import type { ManagedFile, ManagedFileList } from "../../api/types.ts";
import { ConfirmDelete } from "../../components/confirm.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Filters, RemoveFilters, TeamFilter, TextFilter } from "../../components/filters.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { Stat } from "../../components/stat.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { IconDownload, IconFile, IconTrash } from "../../icons.ts";
import { formatBytes, formatNumber, noValue } from "../../lib/format.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { useMay } from "../../session/session.ts";

const filesPath = "/v3/manage/files";
const filesPerPage = 100;

export default function FilesPage() {
  const url = useUrlState();
  const [team, purpose] = [url.get("team"), url.get("purpose")];
  const page = Math.max(1, Math.trunc(Number(url.get("page"))) || 1);
  const files = useApi<ManagedFileList>(filesPath, { team, purpose, page, limit: filesPerPage });
  const [deleted, setDeleted] = useState<ManagedFile | null>(null);
  const [mayDownload, mayDelete] = [useMay("administrator"), useMay("operator")];
  const columns = useMemo(() => toColumns({ mayDownload, mayDelete, onDelete: setDeleted }), [mayDownload, mayDelete]);
  const isFiltered = team !== "" || purpose !== "";
  const choosePage = (chosen: number) => url.set({ page: chosen === 1 ? null : String(chosen) });
  // Files may have been deleted, or have expired, since the page was chosen.
  const lastPage = files.data === undefined || files.isPlaceholderData ? page : Math.max(1, files.data.total_pages);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is changed when there are fewer pages than it says
  useEffect(() => {
    if (page > lastPage) choosePage(lastPage);
  }, [page, lastPage]);
  return (
    <Page title="Files" description="Uploads of all keys, until they expire. Keys of one team share their files.">
      <Filters controls={{ team: <TeamFilter />, purpose: <TextFilter name="purpose" label="Purpose" /> }} />
      <Loaded query={files} height={320}>
        {({ items, total, total_bytes, total_pages }) => (
          <>
            <div className="tiles">
              <Stat label="Files" value={formatNumber(total)} />
              <Stat label="Size of all" value={formatBytes(total_bytes)} />
              <Stat label="Average size" value={total === 0 ? noValue : formatBytes(total_bytes / total)} />
            </div>
            <Panel className="flush">
              {total === 0 ? (
                <EmptyState
                  icon={IconFile}
                  title={isFiltered ? "No file fits these filters" : "No files"}
                  action={isFiltered && <RemoveFilters names={["team", "purpose", "page"]} />}
                >
                  {isFiltered ? (
                    "Choose another team or purpose."
                  ) : (
                    <>
                      Programs upload files with <code>POST /v3/upload</code>, and name them in later requests.
                    </>
                  )}
                </EmptyState>
              ) : (
                <DataTable
                  label="Files"
                  rows={items}
                  columns={columns}
                  rowKey={({ file_id }) => file_id}
                  rowHeight={50}
                />
              )}
            </Panel>
            {total_pages > 1 && (
              <Pagination
                size="sm"
                total={total_pages}
                value={page}
                onChange={choosePage}
                getControlProps={(control) => ({ "aria-label": `${control} page` })}
                getItemProps={(number) => ({ "aria-label": `Page ${number}` })}
              />
            )}
          </>
        )}
      </Loaded>
      {deleted !== null && <Delete file={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  );
}

interface ColumnOptions {
  readonly mayDownload: boolean;
  readonly mayDelete: boolean;
  readonly onDelete: (file: ManagedFile) => void;
}

function toColumns({ mayDownload, mayDelete, onDelete }: ColumnOptions): Column<ManagedFile>[] {
  const columns: Column<ManagedFile>[] = [
    {
      title: "Name",
      width: "minmax(200px, 1.6fr)",
      cell: ({ file_name, file_id }) => (
        <>
          <Text size="sm" fw={550} truncate title={file_name}>
            <bdi>{file_name}</bdi>
          </Text>
          <Text size="xs" c="dimmed" className="mono" truncate>
            {file_id}
          </Text>
        </>
      ),
    },
    { title: "Type", width: "minmax(120px, 0.9fr)", cell: ({ file_mimetype }) => file_mimetype },
    { title: "Size", width: "90px", align: "right", cell: ({ file_size }) => formatBytes(file_size) },
    {
      title: "Owner",
      width: "minmax(120px, 0.9fr)",
      cell: ({ team, key_id, key_name }) => team ?? key_name ?? key_id ?? noValue,
    },
    { title: "Purpose", width: "minmax(100px, 0.7fr)", cell: ({ purpose }) => purpose },
    { title: "Uploaded", width: "100px", cell: ({ created_at }) => <TimeText time={created_at} ago /> },
    { title: "Expires", width: "100px", cell: ({ expires_at }) => <TimeText time={expires_at} ago /> },
  ];
  if (mayDelete)
    columns.push({
      title: "Actions",
      width: "100px",
      align: "right",
      cell: (file) => (
        <Group gap={2} justify="flex-end" wrap="nowrap">
          {mayDownload && (
            <Tooltip label="Download">
              <ActionIcon
                component="a"
                href={`${filesPath}/${file.file_id}/content`}
                download
                aria-label={`Download ${file.file_name}`}
              >
                <IconDownload size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <Tooltip label="Delete">
            <ActionIcon color="red" aria-label={`Delete ${file.file_name}`} onClick={() => onDelete(file)}>
              <IconTrash size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
      ),
    });
  return columns;
}

function Delete({ file, onClose }: { readonly file: ManagedFile; readonly onClose: () => void }) {
  return (
    <ConfirmDelete list={filesPath} id={file.file_id} title="Delete this file" onClose={onClose}>
      Requests that name{" "}
      <strong className="wrap-anywhere">
        <bdi>{file.file_name}</bdi>
      </strong>{" "}
      are refused from now on. The file cannot be restored.
    </ConfirmDelete>
  );
}
