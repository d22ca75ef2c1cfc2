// Any JSON as people read it: members as a list, lists of objects as tables. Members without a value are left out.

import type { ReactNode } from "react";
import { formatPercent } from "../../../lib/format.ts";
import { toLabel } from "../schema.ts";

type Members = Readonly<Record<string, unknown>>;

const maxRows = 200;

export function DataList({ value }: { readonly value: unknown }) {
  if (isEmpty(value)) return <p className="result-none">Nothing was found.</p>;
  if (Array.isArray(value)) return <ListView items={value} />;
  if (isMembers(value)) return <MembersView members={value} />;
  return <p className="result-text">{String(value)}</p>;
}

/** Simple values first, then the parts with a heading of their own. */
function MembersView({ members }: { readonly members: Members }) {
  const present = Object.entries(members).filter(([, value]) => !isEmpty(value));
  const simple = present.filter(([, value]) => isSimple(value));
  const parts = present.filter(([, value]) => !isSimple(value));
  return (
    <div className="result-stack">
      {simple.length > 0 && (
        <dl className="data-fields">
          {simple.map(([name, value]) => (
            <div key={name}>
              <dt>{toLabel(name)}</dt>
              <dd>{toShown(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {parts.map(([name, value]) => (
        <section key={name} className="data-part">
          <h3>{toLabel(name)}</h3>
          {Array.isArray(value) ? <ListView items={value} /> : <MembersView members={value as Members} />}
        </section>
      ))}
    </div>
  );
}

function ListView({ items }: { readonly items: readonly unknown[] }) {
  const rows = items.filter((one) => !isEmpty(one)).slice(0, maxRows);
  const members = rows.filter(isMembers);
  if (members.length < rows.length || members.some((row) => !isFlat(row)))
    return (
      <div className="result-stack">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no name but their place
          <div key={index} className={rows.length > 1 ? "data-item" : undefined}>
            <DataList value={row} />
          </div>
        ))}
      </div>
    );
  const named = [...new Set(members.flatMap((row) => Object.keys(row).filter((name) => !isEmpty(row[name]))))];
  const isNumber = (name: string) => members.some((row) => typeof row[name] === "number");
  // Texts say what a row is about, so they come before numbers.
  const columns = [...named.filter((name) => !isNumber(name)), ...named.filter(isNumber)];
  return (
    // A part that scrolls has to be reachable with the keyboard.
    <div className="table-scroll" tabIndex={0} role="region" aria-label={columns.map(toLabel).join(", ")}>
      <table className="result-table">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" data-number={isNumber(name) || undefined}>
                {toLabel(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {members.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name but their place
            <tr key={index}>
              {columns.map((name) => (
                <td key={name} data-number={typeof row[name] === "number" || undefined}>
                  {isEmpty(row[name]) ? null : toShown(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toShown(value: unknown): ReactNode {
  if (Array.isArray(value))
    return value
      .filter((one) => !isEmpty(one))
      .map(toText)
      .join(", ");
  if (!isMembers(value)) return toText(value);
  const { value: inner, confidence } = value;
  return (
    <>
      {toText(inner)}
      {typeof confidence === "number" && <span className="boxed-confidence">{formatPercent(confidence)}</span>}
    </>
  );
}

function toText(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (isMembers(value)) return isStated(value) ? toText(value["value"]) : JSON.stringify(value);
  return String(value);
}

/** A value with the confidence in it. */
function isStated(value: Members): boolean {
  return "value" in value && Object.keys(value).every((name) => name === "value" || name === "confidence");
}

function isSimple(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => !isMembers(one) || isStated(one));
  return !isMembers(value) || isStated(value);
}

function isFlat(row: Members): boolean {
  return Object.values(row).every(isSimple);
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Also objects and lists in which nothing has a value. A confidence alone is no value. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.every(isEmpty);
  if (!isMembers(value)) return false;
  return Object.entries(value).every(([name, one]) => name === "confidence" || isEmpty(one));
}
