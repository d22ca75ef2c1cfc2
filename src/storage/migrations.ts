// The tables, as a list of migrations. New ones are appended; a released one is never edited, because stores hold its checksum.
// Both engines use the same types: text (also for JSON) and bigint (times in epoch milliseconds, money in whole pico-dollars, 0 and 1 for
// booleans). Bytes are `bytea`, a type of PostgreSQL; SQLite accepts any type name.

import { convertLedger } from "./ledger-conversion.ts";
import type { Sql } from "./sql.ts";

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
  /** Only for SQLite: the work queue, which PostgreSQL keeps in pg-boss, and tables that are partitioned there. */
  readonly sqliteStatements?: readonly string[];
  /** Only for PostgreSQL: partitioned tables. */
  readonly postgresStatements?: readonly string[];
  /** Moves rows to the new tables, after the statements. */
  readonly convert?: (sql: Sql) => Promise<void>;
}

const blockColumns = `
        id text not null,
        process_id text not null,
        from_time bigint not null,
        to_time bigint not null,
        lines bigint not null,
        filter bytea not null,
        data bytea not null,
        primary key (to_time, id)`;
const blockIndexes = [
  "create index ledger_blocks_by_id on ledger_blocks (id)",
  "create index ledger_blocks_by_start on ledger_blocks (from_time)",
  "create index ledger_blocks_small on ledger_blocks (process_id, to_time, id) where lines < 256",
];

const usageDimensions = ["key_id", "team", "tags", "provider", "model", "task", "endpoint", "outcome"];
const usageSumNames = [
  ...["lines", "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost_pico", "unknown_costs"],
  ...["latency_ms", "first_token_ms", "streams"],
];
const usageSums = ["dimension_id", "hour", ...usageSumNames].map((name) => `${name} bigint not null`).join(", ");
/** usage-totals.ts says how the id of a sum is made. */
const moveTotals = [
  `insert into usage_dimensions select row_number() over (), ${usageDimensions.join(", ")}, max(hour)
    from usage_hourly_old group by ${usageDimensions.join(", ")}`,
  `insert into usage_sums select d.id * 2097152 + t.hour / 3600000, d.id, t.hour, ${usageSumNames.map((name) => `t.${name}`).join(", ")}
    from usage_hourly_old t join usage_dimensions d on ${usageDimensions.map((name) => `d.${name} = t.${name}`).join(" and ")}`,
  "drop table usage_hourly_old",
  `create view usage_hourly as select s.hour, ${usageDimensions.map((name) => `d.${name}`).join(", ")}, ${usageSumNames.map((name) => `s.${name}`).join(", ")}
    from usage_sums s join usage_dimensions d on d.id = s.dimension_id`,
];

// The same in both engines; PostgreSQL also divides the table into partitions.
const ledgerColumns = `        id text not null,
        time bigint not null,
        request_id text not null,
        key_id text,
        team text,
        tags text not null,
        endpoint text not null,
        provider text,
        model text,
        task text,
        deployment text,
        attempt bigint not null,
        outcome text not null,
        status bigint,
        input_tokens bigint,
        output_tokens bigint,
        cached_tokens bigint,
        reasoning_tokens bigint,
        price_version text,
        cost_pico bigint,
        cost_reason text,
        counted_pico bigint not null,
        latency_ms bigint not null,
        first_token_ms bigint,
        is_stream bigint not null,
        is_cached bigint not null,
        job_id text,
        count bigint not null,
        reason text,
        accounts text,
        tokens text,
        units text,
        usage text,
        primary key (time, id)`;

export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: "keys",
    statements: [
      `create table topics (
        topic text primary key,
        revision bigint not null
      )`,
      `create table api_keys (
        id text primary key,
        kind text not null,
        name text not null,
        owner text,
        scopes text not null,
        allowed_models text,
        rate_limit text,
        budget_pico_usd bigint,
        budget_period text,
        tags text not null,
        enabled bigint not null,
        secret_hash text not null unique,
        secret_tail text not null,
        previous_hash text,
        previous_until bigint,
        created_at bigint not null,
        expires_at bigint,
        revoked_at bigint,
        last_used_at bigint,
        revision bigint not null
      )`,
      "create index api_keys_by_revision on api_keys (revision)",
      "create index api_keys_by_creation on api_keys (created_at, id)",
    ],
  },
  {
    number: 2,
    name: "responses and secrets",
    statements: [
      // The large columns come last, so that SQLite can read the others without loading their pages.
      `create table responses (
        id text primary key,
        owner text not null,
        key_id text not null,
        provider text not null,
        deployment text not null,
        provider_response_id text,
        model text not null,
        status text not null,
        previous_id text,
        depth bigint not null,
        created_at bigint not null,
        expires_at bigint,
        body bytea,
        input bytea
      )`,
      "create index responses_by_expiry on responses (expires_at, id)",
      `create table secrets (
        name text primary key,
        value bytea not null,
        created_at bigint not null
      )`,
    ],
  },
  {
    number: 3,
    name: "files",
    statements: [
      `create table files (
        id text primary key,
        owner text not null,
        kind text not null,
        place text not null,
        name text not null,
        size bigint not null,
        media_type text not null,
        purpose text not null,
        metadata text not null,
        created_at bigint not null,
        expires_at bigint not null
      )`,
      "create index files_by_owner on files (owner, kind, created_at, id)",
      "create index files_by_expiry on files (expires_at, id)",
    ],
  },
  {
    number: 4,
    name: "jobs",
    statements: [
      // The large columns come last. `work_id` identifies the work that is queued for the job.
      `create table jobs (
        id text primary key,
        owner text not null,
        key_id text not null,
        feature text not null,
        subfeature text not null,
        provider text not null,
        model text,
        status text not null,
        created_at bigint not null,
        finished_at bigint,
        expires_at bigint not null,
        runs bigint not null,
        progress bigint,
        cost_pico_usd bigint,
        cost_reason text,
        webhook_receiver text,
        work_id text,
        result text,
        kept text,
        request text not null
      )`,
      "create index jobs_by_owner on jobs (owner, created_at, id)",
      "create index jobs_by_expiry on jobs (expires_at, id)",
      `create table job_marks (
        owner text not null,
        mark text not null,
        body_hash text not null,
        job_id text not null,
        expires_at bigint not null,
        primary key (owner, mark)
      )`,
      "create index job_marks_by_job on job_marks (job_id)",
      `create table deliveries (
        id text primary key,
        job_id text not null,
        owner text not null,
        receiver text not null,
        state text not null,
        created_at bigint not null,
        attempts bigint not null,
        next_attempt_at bigint,
        work_id text
      )`,
      "create index deliveries_by_job on deliveries (job_id, created_at, id)",
      `create table delivery_attempts (
        delivery_id text not null,
        number bigint not null,
        claim text not null,
        started_at bigint not null,
        duration_ms bigint not null,
        status bigint,
        error text,
        key_id text not null,
        primary key (delivery_id, number),
        unique (delivery_id, claim)
      )`,
    ],
    sqliteStatements: [
      `create table work (
        id text primary key,
        kind text not null,
        subject text not null,
        group_name text not null,
        due_at bigint not null,
        takes bigint not null,
        held bigint not null
      )`,
      // Includes the group, so that ignored groups are skipped without reading their rows.
      "create index work_by_due_time on work (kind, due_at, group_name)",
    ],
  },
  {
    number: 5,
    name: "limits per owner",
    statements: [
      // Counts the unfinished jobs of an owner, for the limit and for the rank of the next job.
      "create index jobs_unfinished on jobs (owner, created_at) where status = 'processing'",
      // The sum of the sizes in `files`, so that one statement checks the limit and adds to the sum.
      `create table file_bytes (
        owner text primary key,
        bytes bigint not null
      )`,
      "insert into file_bytes (owner, bytes) select owner, cast(sum(size) as bigint) from files group by owner",
    ],
    sqliteStatements: [
      "alter table work add column rank bigint not null default 0",
      "create index runs_by_rank on work (rank, due_at, group_name) where kind = 'run'",
    ],
  },
  {
    number: 6,
    name: "collections of faces",
    statements: [
      `create table collections (
        id text primary key,
        owner text not null,
        provider text not null,
        name text not null,
        face_count bigint not null,
        created_at bigint not null,
        expires_at bigint
      )`,
      "create index collections_by_owner on collections (owner, created_at, id)",
      `create table collection_faces (
        collection_id text not null,
        id text not null,
        created_at bigint not null,
        vector bytea,
        primary key (collection_id, id)
      )`,
      "create index collection_faces_by_creation on collection_faces (collection_id, created_at, id)",
    ],
  },
  {
    number: 7,
    name: "teams",
    statements: [
      `create table teams (
        id text primary key,
        name text not null unique,
        display_name text,
        allowed_models text,
        rate_limit text,
        budget text,
        model_limits text not null,
        tags text not null,
        enabled bigint not null,
        created_at bigint not null,
        revision bigint not null
      )`,
      "create index teams_by_revision on teams (revision)",
      "create index teams_by_creation on teams (created_at, id)",
      // Every owner becomes a team. Its id is that of a key of the owner with another version digit, because the engines have no common
      // function for UUIDs.
      `insert into teams (id, name, model_limits, tags, enabled, created_at, revision)
        select substr(min(id), 1, 14) || '8' || substr(min(id), 16), owner, '[]', '{}', 1, min(created_at), max(revision)
        from api_keys where owner is not null group by owner`,
      "create index api_keys_by_owner on api_keys (owner)",
      "alter table api_keys add column model_limits text not null default '[]'",
      "alter table api_keys add column budget text",
      `update api_keys
        set budget = '{"amount":' || budget_pico_usd || 'e-12,"period":"' || budget_period || '","time_zone":"UTC","raise":null}'
        where budget_pico_usd is not null`,
      "alter table api_keys drop column budget_pico_usd",
      "alter table api_keys drop column budget_period",
    ],
  },
  {
    number: 8,
    name: "ledger",
    statements: [
      // The sums of the lines of one hour. Absent dimensions are empty, because two nulls are different to a unique index.
      `create table usage_hourly (
        hour bigint not null,
        key_id text not null,
        team text not null,
        tags text not null,
        provider text not null,
        model text not null,
        task text not null,
        endpoint text not null,
        outcome text not null,
        lines bigint not null,
        input_tokens bigint not null,
        output_tokens bigint not null,
        cached_tokens bigint not null,
        reasoning_tokens bigint not null,
        cost_pico bigint not null,
        unknown_costs bigint not null,
        latency_ms bigint not null,
        first_token_ms bigint not null,
        streams bigint not null
      )`,
      // Keys ask for their own usage.
      "create index usage_hourly_by_key on usage_hourly (key_id, hour)",
    ],
    sqliteStatements: [
      "create unique index usage_hourly_rows on usage_hourly (hour, key_id, team, tags, provider, model, task, endpoint, outcome)",
      `create table ledger (
${ledgerColumns}
      )`,
      "create index ledger_by_request on ledger (request_id)",
      "create index ledger_by_key on ledger (key_id, time, id)",
    ],
    postgresStatements: [
      // Rows of an index have at most 2,704 bytes, and tags alone can be longer.
      "create unique index usage_hourly_rows on usage_hourly (hour, key_id, provider, endpoint, outcome, md5(team || '|' || tags || '|' || model || '|' || task))",
      // One partition per month, so that old lines are dropped with their partition.
      `create table ledger (
${ledgerColumns}
      ) partition by range (time)`,
      "create index ledger_by_request on ledger (request_id)",
      "create index ledger_by_key on ledger (key_id, time, id)",
    ],
  },
  {
    number: 9,
    name: "shares of rate limits",
    statements: [
      // How much of the window of a rate limit each gateway may use without asking again.
      `create table rate_shares (
        limit_id text not null,
        window_start bigint not null,
        gateway_id text not null,
        granted bigint not null,
        expires_at bigint not null,
        primary key (limit_id, window_start, gateway_id)
      )`,
      "create index rate_shares_by_expiry on rate_shares (expires_at)",
      `create table gateways (
        id text primary key,
        seen_at bigint not null
      )`,
    ],
  },
  {
    number: 10,
    name: "budgets",
    statements: [
      // What a budget has spent in one period. Changed only in the transaction that inserts the lines of the ledger.
      `create table budget_accounts (
        id text primary key,
        rule_id text not null,
        period_start bigint not null,
        period_end bigint,
        limit_pico bigint not null,
        spent_pico bigint not null,
        alerted bigint not null,
        wanted_until bigint not null
      )`,
      "create index budget_accounts_by_rule on budget_accounts (rule_id, period_start)",
      "create index budget_accounts_by_end on budget_accounts (period_end)",
      "create index budget_accounts_wanted on budget_accounts (wanted_until)",
      // A webhook that is not about a job has its content here.
      "alter table deliveries add column alert text",
      `create table budget_leases (
        account_id text not null,
        process_id text not null,
        amount_pico bigint not null,
        expires_at bigint not null,
        number bigint not null,
        granted_pico bigint not null,
        primary key (account_id, process_id)
      )`,
      "create index budget_leases_by_expiry on budget_leases (expires_at)",
    ],
  },
  {
    number: 11,
    name: "roles, sessions and audit",
    statements: [
      // The role of a management key; null for other keys.
      "alter table api_keys add column role text",
      "update api_keys set role = 'administrator' where kind = 'management'",
      // The team of a management key limits its role from now on. Keys that managed the whole gateway continue to, except those of a
      // disabled team, which are refused.
      `update api_keys set owner = null
        where kind = 'management' and owner not in (select name from teams where enabled = 0)`,
      `create table sessions (
        id text primary key,
        token_hash text not null unique,
        key_id text,
        key_proof text,
        issuer text,
        subject text,
        group_names text,
        name text not null,
        created_at bigint not null,
        seen_at bigint not null,
        expires_at bigint not null
      )`,
      "create index sessions_by_expiry on sessions (expires_at, id)",
      `create table audit (
        id text primary key,
        time bigint not null,
        actor_kind text not null,
        actor_id text,
        actor_name text not null,
        actor_role text not null,
        address text,
        request_id text,
        action text not null,
        outcome text not null,
        code text,
        target_kind text not null,
        target_id text,
        target_name text,
        team text,
        state_before text,
        state_after text
      )`,
      "create index audit_by_time on audit (time, id)",
      "create index audit_by_team on audit (team, time, id)",
      "create index audit_by_target on audit (target_id, time, id)",
    ],
  },
  {
    number: 12,
    name: "ledger in blocks",
    statements: [
      // How many lines of each process are in the ledger.
      `create table ledger_positions (
        process_id text primary key,
        position bigint not null,
        updated_at bigint not null
      )`,
      // Lines that more than one process may append.
      `create table ledger_once (
        id text primary key,
        time bigint not null
      )`,
      "create index ledger_once_by_time on ledger_once (time)",
    ],
    sqliteStatements: [`create table ledger_blocks (${blockColumns})`, ...blockIndexes],
    postgresStatements: [`create table ledger_blocks (${blockColumns}) partition by range (to_time)`, ...blockIndexes],
    convert: convertLedger,
  },
  {
    number: 13,
    name: "latencies",
    statements: [
      // How many calls of an hour took how long; latencies.ts has the bounds of the buckets.
      `create table latency_hourly (
        hour bigint not null,
        team text not null,
        provider text not null,
        model text not null,
        calls_0 bigint not null,
        calls_1 bigint not null,
        calls_2 bigint not null,
        calls_3 bigint not null,
        calls_4 bigint not null,
        calls_5 bigint not null,
        calls_6 bigint not null,
        calls_7 bigint not null,
        calls_8 bigint not null,
        calls_9 bigint not null,
        calls_10 bigint not null,
        calls_11 bigint not null,
        calls_12 bigint not null,
        streams_0 bigint not null,
        streams_1 bigint not null,
        streams_2 bigint not null,
        streams_3 bigint not null,
        streams_4 bigint not null,
        streams_5 bigint not null,
        streams_6 bigint not null,
        streams_7 bigint not null,
        streams_8 bigint not null,
        streams_9 bigint not null,
        streams_10 bigint not null,
        streams_11 bigint not null,
        streams_12 bigint not null,
        primary key (hour, team, provider, model)
      )`,
    ],
  },
  {
    number: 14,
    name: "jobs of all owners",
    statements: [
      // For the operator, who lists the jobs of all owners by time.
      "create index jobs_by_time on jobs (created_at, id)",
    ],
  },
  {
    number: 15,
    name: "captured requests",
    statements: [
      `create table captures (
        id text primary key,
        request_id text not null,
        time bigint not null,
        key_id text not null,
        team text,
        content bytea not null
      )`,
      "create index captures_by_request on captures (request_id, time, id)",
      "create index captures_by_time on captures (time, id)",
    ],
  },
  {
    number: 16,
    name: "totals by combination",
    statements: ["drop index usage_hourly_by_key", "alter table usage_hourly rename to usage_hourly_old"],
    sqliteStatements: [
      `create table usage_dimensions (id integer primary key, ${usageDimensions.map((name) => `${name} text not null`).join(", ")}, last_hour bigint not null)`,
      `create unique index usage_dimensions_rows on usage_dimensions (${usageDimensions.join(", ")})`,
      `create table usage_sums (id integer primary key, ${usageSums})`,
      ...moveTotals,
    ],
    postgresStatements: [
      `create table usage_dimensions (id bigint primary key, ${usageDimensions.map((name) => `${name} text not null`).join(", ")}, last_hour bigint not null)`,
      "create unique index usage_dimensions_rows on usage_dimensions (key_id, provider, endpoint, outcome, md5(team || '|' || tags || '|' || model || '|' || task))",
      `create table usage_sums (id bigint primary key, ${usageSums})`,
      "create index usage_sums_by_hour on usage_sums (hour)",
      ...moveTotals,
    ],
  },
];
