// The table of a schema's members: one row for each, with the members inside it folded.

import { type Html, html, nothing, prose } from "./html.ts";
import { type MemberRow, toMemberRows } from "./member-rows.ts";
import type { ParameterObject } from "./openapi.ts";

interface MemberTable {
  /** A client has to know which members it must send, and which ones may be absent from an answer. */
  readonly sender: "client" | "gateway";
  /** The address of a component. */
  readonly toObject: (name: string) => string;
}

export function renderMembers(title: string, rows: readonly MemberRow[], table: MemberTable): Html {
  return html`<table class="members" aria-label="${title}">
<thead><tr><th scope="col">Name and type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows.map((row) => renderMember(row, table))}</tbody></table>`;
}

export function toParameterRow({ name, in: place, required, description = "", schema }: ParameterObject): MemberRow {
  const rows = toMemberRows({ properties: { [name]: schema } });
  return {
    path: name,
    type: `${place}, ${rows[0]?.type ?? "any"}`,
    component: null,
    isRequired: required,
    description,
    limits: rows[0]?.limits ?? [],
    inner: [],
  };
}

function renderMember(row: MemberRow, table: MemberTable): Html {
  const limits = row.limits.length === 0 ? nothing : html`<span class="limits">${prose(row.limits.join("; "))}</span>`;
  return html`<tr${row.inner.length === 0 ? nothing : html` class="outer"`}>
<th scope="row">${renderPath(row.path)}${renderPresence(row, table)}<span class="type">${renderType(row, table)}</span></th>
<td>${prose(row.description)}${limits}</td></tr>${renderInner(row, table)}`;
}

function renderPresence({ isRequired }: MemberRow, { sender }: MemberTable): Html {
  if (sender === "client") return isRequired ? html` <span class="required">required</span>` : nothing;
  return isRequired ? nothing : html` <span class="optional">may be absent</span>`;
}

function renderInner({ path, inner }: MemberRow, table: MemberTable): Html {
  if (inner.length === 0) return nothing;
  return html`
<tr class="inner"><td colspan="2"><details><summary>Inside <code>${path}</code></summary>
<div>${renderMembers(`Inside ${path}`, inner, table)}</div></details></td></tr>`;
}

function renderPath(path: string): Html {
  const lastDot = path.lastIndexOf(".");
  if (lastDot < 0) return html`<code>${path}</code>`;
  return html`<code><span class="parent">${path.slice(0, lastDot + 1)}</span>${path.slice(lastDot + 1)}</code>`;
}

function renderType({ type, component }: MemberRow, { toObject }: MemberTable): Html {
  const at = component === null ? -1 : type.indexOf(component);
  if (component === null || at < 0) return html`${type}`;
  const after = type.slice(at + component.length);
  return html`${type.slice(0, at)}<a href="${toObject(component)}">${component}</a>${after}`;
}
