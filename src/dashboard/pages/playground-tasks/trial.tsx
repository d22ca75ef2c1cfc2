// One task: its form at the left, its result at the right.

import { Button, Group, Switch } from "@mantine/core";
import { type FormEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import type { VoiceList } from "../../../contract/audio.ts";
import { ApiError } from "../../api/client.ts";
import { useApi } from "../../api/hooks.ts";
import type { SubfeatureDetail } from "../../api/types.ts";
import { Panel } from "../../components/page.tsx";
import { IconPlay } from "../../icons.ts";
import type { CopiedProgram, CopiedRequest } from "../../playground/code-samples.ts";
import { CopyAs } from "../../playground/copy-as.tsx";
import type { PlaygroundKey } from "../../playground/key.ts";
import { KeyChoice } from "../../playground/key-notice.tsx";
import { TaskForm, type Values } from "./form.tsx";
import { ResultPanel } from "./result-panel.tsx";
import { useTaskRun } from "./run.ts";
import { samplesFor } from "./samples/files.ts";
import { examplesFor } from "./samples/inputs.ts";
import { type Field, toFields, toInitialValues, toInput } from "./schema.ts";
import { filesIn, type TaskRequest, toBody, toTaskCode } from "./task-code.ts";

interface TaskTrialProps {
  readonly task: string;
  readonly detail: SubfeatureDetail;
  readonly model: string;
  readonly playgroundKey: PlaygroundKey;
}

export function TaskTrial({ task, detail, model, playgroundKey }: TaskTrialProps) {
  const fields = useFields(task, detail, model);
  const examples = examplesFor(task);
  const [values, setValues] = useState<Values>(() => ({ ...toInitialValues(fields), ...examples[0]?.input }));
  const [showsOriginal, setShowsOriginal] = useState(false);
  const { state, run, cancel } = useTaskRun();
  const ranWith = useRef<Values>(values);
  const form = useRef<HTMLFormElement>(null);
  useFirstSamples(task, fields, setValues);

  const isJob = detail.models.some((one) => one.model === model && one.mode === "async") || task.endsWith("_async");
  const current: TaskRequest = { task, model, isJob, input: toInput(fields, values), showsOriginal };
  const isBusy = state.phase === "uploading" || state.phase === "running";
  const start = () => {
    if (isBusy) return;
    ranWith.current = values;
    void run(current);
  };
  const error = state.phase === "failed" && state.error instanceof ApiError ? state.error : null;
  const problemOf = (path: string) => {
    const [member = ""] = path.split(".");
    // The mark of a field disappears when the field is changed.
    if (error === null || values[member] !== ranWith.current[member]) return null;
    return findProblem(error, path);
  };
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);

  return (
    <div className="task-trial" data-task={task}>
      <Panel title="Input" actions={<CopyAs request={toCopied(state.phase === "idle" ? current : state.request)} />}>
        <form
          ref={form}
          className="task-form"
          noValidate
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            start();
          }}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            // In a line of text, it would also submit the form.
            event.preventDefault();
            start();
          }}
        >
          {examples.length > 0 && (
            <Group gap={6} role="group" aria-label="Examples">
              {examples.map(({ title, input }) => (
                <Button
                  key={title}
                  size="compact-xs"
                  variant="default"
                  onClick={() => setValues({ ...values, ...input })}
                >
                  {title}
                </Button>
              ))}
            </Group>
          )}
          <TaskForm task={task} fields={fields} values={values} onChange={setValues} problemOf={problemOf} />
          <Switch
            size="xs"
            label="Add the provider’s own answer, below “Raw”"
            checked={showsOriginal}
            onChange={(event) => setShowsOriginal(event.currentTarget.checked)}
          />
          <Button
            type="submit"
            leftSection={<IconPlay size={15} />}
            loading={isBusy}
            disabled={!playgroundKey.isReady}
            fullWidth
          >
            Run
          </Button>
          <KeyChoice playgroundKey={playgroundKey} />
        </form>
      </Panel>
      <Panel title="Result" className="task-result">
        <ResultPanel state={state} onCancel={() => void cancel()} onRetry={start} />
      </Panel>
    </div>
  );
}

/** The voices of a provider are not in the schema. */
function useFields(task: string, detail: SubfeatureDetail, model: string): readonly Field[] {
  const [, , provider] = model.split("/");
  const voices = useApi<VoiceList>("/v3/info/audio/tts/voices", undefined, { enabled: task === "audio/tts" });
  return useMemo(() => {
    const known = voices.data?.items.filter((one) => one.provider === provider).map(({ voice }) => voice) ?? [];
    const suggestions = [...new Set(known)];
    return toFields(detail.input_schema).map((field) =>
      field.kind === "text" && field.name === "voice" ? { ...field, suggestions } : field,
    );
  }, [detail, voices.data, provider]);
}

/** The sample that costs nothing to make is there at once, so that a newcomer can press Run. */
function useFirstSamples(
  task: string,
  fields: readonly Field[],
  setValues: (change: (values: Values) => Values) => void,
) {
  useEffect(() => {
    let isOpen = true;
    const sample = samplesFor(task).find(({ draw }) => draw !== undefined);
    if (sample?.draw === undefined) return;
    for (const field of fields.filter(({ kind, isRequired }) => kind === "file" && isRequired))
      void sample.draw().then((file) => {
        if (isOpen)
          setValues((values) => (values[field.name] === undefined ? { ...values, [field.name]: file } : values));
      });
    return () => {
      isOpen = false;
    };
  }, [task, fields, setValues]);
}

function findProblem({ problems }: ApiError, path: string): string | null {
  const paths = problems.map(({ loc, msg }) => ({ at: loc[1] === "input" ? loc.slice(2).join(".") : "", msg }));
  const found = paths.find(({ at }) => (path.endsWith(".") ? at.startsWith(path) : at === path));
  return found?.msg ?? null;
}

/** One request is copied as such; files and jobs take several. */
function toCopied(request: TaskRequest): CopiedRequest | CopiedProgram {
  if (request.isJob || filesIn(request.input).length > 0)
    return { write: (language, origin) => toTaskCode(language, request, origin) };
  return { method: "POST", path: "/v3/universal-ai", json: toBody(request) };
}
