// `switchyard audit`. It reads the database, beside a running gateway and without one.

import type { Command } from "commander";
import { createAudit } from "../access/audit.ts";
import { type AuditObject, listAuditQuery } from "../contract/audit.ts";
import { parse } from "../contract/problems.ts";
import { toTable } from "./access-command.ts";
import { createCommand, printResult, UsageError } from "./command-line.ts";
import { createCommandLog } from "./command-log.ts";
import { fromOption, toOption, type UsageContext, withStorage } from "./usage.ts";

interface AuditOptions {
  readonly json?: true;
  readonly csv?: true;
}

/** Arguments are checked before the store is opened. */
export function createAuditCommand(context: UsageContext): Command {
  return createCommand("audit", "List who changed what: keys, teams, sign-ins, reloads.", context)
    .option(...fromOption)
    .option(...toOption)
    .option("--actor <text>", "only changes by this key or person: an id or a name")
    .option("--action <name>", "only this action, such as key.create, or a kind of object, such as key")
    .option("--target <text>", "only changes of this object: its id or name")
    .option("--team <name>", "only changes of this team and of its keys")
    .option("--outcome <outcome>", "done, failed, refused or started")
    .option("--limit <n>", "records per page; default: 100")
    .option("--cursor <text>", "next_cursor of the previous page")
    .option("--csv", "print all records as CSV")
    .option("--json", "print JSON")
    .action(async ({ json, csv, ...options }: AuditOptions) => {
      if (json && csv) throw new UsageError("Choose one of --json and --csv.");
      const query = parse(listAuditQuery, options, "query");
      const log = createCommandLog(null);
      await withStorage(context, async (storage) => {
        const audit = createAudit(storage.audit, log);
        if (csv) {
          for await (const page of await audit.toCsvPages(query, null)) if (page !== "") context.print(page.trimEnd());
          return;
        }
        const list = await audit.list(query, null);
        const more = list.next_cursor === null ? [] : [`More: --cursor ${list.next_cursor}`];
        printResult(context, json, { json: list, lines: [...toTable([header, ...list.items.map(toRow)]), ...more] });
      });
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway audit --action key --from 7d");
}

const header = ["time", "actor", "address", "action", "outcome", "target", "changed"];

function toRow({ time, actor, address, action, outcome, target, before, after }: AuditObject): string[] {
  const changed = before === null || after === null ? "" : Object.keys(after).join(", ");
  return [time, actor.name, address ?? "-", action, outcome, target.name ?? target.id ?? "-", changed];
}
