// Runs a task of a vendor's as a job: step after step, each with an engine of its own, as after a restart. What was kept goes through JSON,
// and only the first step has the files.

import { createEgress } from "../../../src/egress/egress.ts";
import type { Engine, EngineStep, InputFile, TaskResult } from "../../../src/engines/engine.ts";
import { createVendorEngines } from "../../../src/engines/vendors/vendor-engine.ts";
import { GatewayError } from "../../../src/errors.ts";
import { createTicker } from "../../../src/lib/ticker.ts";
import { createLog } from "../../../src/log.ts";
import { CallTicket } from "../../../src/providers/call-ticket.ts";
import { configureProviders } from "../../../src/providers/configure.ts";
import type { JsonObject } from "../../../src/providers/dialect.ts";
import { HttpClient } from "../../../src/providers/http-client.ts";
import { rejectionOf } from "../../support/thrown.ts";
import {
  type Asked,
  clocks,
  defaultModelOf,
  judge,
  key,
  type Seen,
  serveAnswers,
  withBinaries,
} from "../vendors-others/ask.ts";

export interface Job extends Asked {
  readonly jobId?: string;
}

export interface Done {
  readonly answer: TaskResult;
  readonly output: JsonObject;
  readonly seen: readonly Seen[];
  /** All steps before the last one. */
  readonly waits: readonly Extract<EngineStep, { checkpoint: unknown }>[];
}

const log = createLog({ level: "error", format: "json", secrets: [], write: () => undefined });
const mostSteps = 20;

export const jobId = "6b1f0f0e-0000-4000-8000-000000000001";

export function pathsOf(seen: readonly Seen[]): string[] {
  return seen.map(({ method, url }) => `${method} ${url.pathname}${url.search}`);
}

export function failureOf(job: Job): Promise<GatewayError> {
  return rejectionOf(runJob(job), GatewayError);
}

export async function runJob(job: Job): Promise<Done> {
  const { seen, server } = serveAnswers(job.answers, 400);
  const ticker = createTicker(20);
  const http = new HttpClient(ticker);
  const egress = createEgress({ allow: ["127.0.0.0/8"], log });
  const name = job.row.name.toUpperCase();
  const settings: Record<string, string> = {
    [`${name}_API_KEY`]: key,
    [`${name}_BASE_URL`]: `http://127.0.0.1:${server.port}`,
    AWS_ACCESS_KEY_ID: "AKID",
    AWS_SECRET_ACCESS_KEY: "aws-secret-0123456789",
    AWS_REGION: "eu-west-1",
    AWS_S3_BUCKET: "files",
    GOOGLE_CLOUD_STORAGE_BUCKET: "files",
    GOOGLE_CLOUD_PROJECT: "project-1",
    GOOGLE_CLOUD_LOCATION: "europe-west4",
    GOOGLE_DOCUMENT_AI_FORM_PROCESSOR: "projects/project-1/locations/eu/processors/abc",
    ...job.settings,
  };
  const createEngine = (): Engine => {
    const engines = createVendorEngines({
      providers: configureProviders([job.row], {}, (setting) => settings[setting] ?? null).values(),
      http,
      egress,
      ticker,
      clocks,
      shutdownSignal: new AbortController().signal,
      log,
    });
    const engine = engines.find((one) => one.task === job.task);
    if (engine === undefined) throw new Error(`${job.row.name} does not do ${job.task}`);
    return engine;
  };
  const callOf = (files: Readonly<Record<string, InputFile>>) => ({
    model: job.model ?? defaultModelOf(createEngine(), job.input),
    input: job.input,
    files,
    providerParams: job.providerParams ?? {},
    signal: new AbortController().signal,
    deadline: performance.now() + clocks.totalTimeoutMs,
    ticket: new CallTicket(),
    requestId: "req-1",
    owner: "key:test",
    jobId: job.jobId ?? jobId,
  });
  const finish = (answer: TaskResult, waits: Done["waits"]): Done => {
    const output = withBinaries(answer.output, answer.binaries);
    judge(job.task, output);
    return { answer, output, seen, waits };
  };
  try {
    const waits: Extract<EngineStep, { checkpoint: unknown }>[] = [];
    const first = createEngine();
    if (first.runStep === undefined) return finish(await first.run(callOf(job.files ?? {})), []);
    let step = await first.runStep(callOf(job.files ?? {}), null);
    while ("checkpoint" in step) {
      waits.push(step);
      if (waits.length > mostSteps) throw new Error("there is no end to it");
      const checkpoint = JSON.parse(JSON.stringify(step.checkpoint));
      step = (await createEngine().runStep?.(callOf({}), checkpoint)) as EngineStep;
    }
    return finish(step.result, waits);
  } finally {
    http.close();
    egress.close();
    ticker.close();
    await server.stop(true);
  }
}
