// The tables, as a list of migrations. New ones are appended; a released one is never edited, because stores hold its checksum.
// Both engines use the same types: text (also for JSON) and bigint (times in epoch milliseconds, money in whole pico-dollars, 0 and 1 for
// booleans). Bytes are `bytea`, a type of PostgreSQL; SQLite accepts any type name.

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
  /** Only for SQLite: the work queue, which PostgreSQL keeps in pg-boss. */
  readonly sqliteStatements?: readonly string[];
}

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
];
