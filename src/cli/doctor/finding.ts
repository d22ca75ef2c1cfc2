// The result of one check of `switchyard doctor`.

export type Severity =
  | "ok"
  /** Worth knowing; everything works. */
  | "note"
  /** It works now, but may fail later. */
  | "warning"
  /** It does not work. */
  | "problem";

export interface Finding {
  readonly check: string;
  readonly severity: Severity;
  readonly message: string;
  /** What to do about it; null: nothing. */
  readonly remedy: string | null;
}

export function report(check: string) {
  const find = (severity: Severity) => (message: string, remedy: string) => ({ check, severity, message, remedy });
  return {
    ok: (message: string): Finding => ({ check, severity: "ok", message, remedy: null }),
    note: find("note"),
    warning: find("warning"),
    problem: find("problem"),
  } as const satisfies Record<string, (message: string, remedy: string) => Finding>;
}
