// The server of a test shares its event loop with the test, and the machine with other programs: neither may make it refuse requests.

import { Admission } from "../../src/http/admission.ts";
import type { LoadLimits } from "../../src/http/load-watch.ts";
import type { Log } from "../../src/log.ts";

export const patientLimits: LoadLimits = { delayLimitMs: 60_000, pauseLimitMs: 60_000 };

export function openPatientAdmission(log: Log): Admission {
  return new Admission({ loadLimits: patientLimits, maxRunning: 100_000, log }).start();
}
