// The form of a task: one field for each member of its input. Problems that the gateway found stand at their fields.

import {
  ActionIcon,
  Autocomplete,
  Button,
  JsonInput,
  NumberInput,
  Select,
  Switch,
  Textarea,
  TextInput,
} from "@mantine/core";
import { IconPlus, IconTrash } from "../../icons.ts";
import { FileField } from "./file-field.tsx";
import { type Field, toInitialValue } from "./schema.ts";

export type Values = Readonly<Record<string, unknown>>;

interface FormProps {
  readonly task: string;
  readonly fields: readonly Field[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  /** The problem of a member, by its path below `input`. With a dot at the end: of anything inside it. */
  readonly problemOf: (path: string) => string | null;
}

export function TaskForm({ task, fields, values, onChange, problemOf }: FormProps) {
  const show = (field: Field) => (
    <FieldInput
      key={field.name}
      task={task}
      field={field}
      path={field.name}
      value={values[field.name]}
      onChange={(value) => onChange({ ...values, [field.name]: value })}
      problemOf={problemOf}
    />
  );
  const isWide = ({ kind, isRequired }: Field) => isRequired || kind === "list" || kind === "object" || kind === "json";
  return (
    <>
      {fields.filter(isWide).map(show)}
      <div className="task-options">{fields.filter((field) => !isWide(field)).map(show)}</div>
    </>
  );
}

interface FieldProps<F extends Field = Field> {
  readonly task: string;
  readonly field: F;
  readonly path: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly problemOf: (path: string) => string | null;
}

type Of<Kind extends Field["kind"]> = Extract<Field, { readonly kind: Kind }>;

function FieldInput(props: FieldProps) {
  const { task, field, path, value, onChange, problemOf } = props;
  const common = {
    label: field.label,
    description: field.description ?? undefined,
    // These fields show no parts of their value.
    error: problemOf(path) ?? (field.kind === "json" || field.kind === "file" ? problemOf(`${path}.`) : null),
    required: field.isRequired,
    withAsterisk: field.isRequired,
  };
  const text = typeof value === "string" ? value : "";
  switch (field.kind) {
    case "file":
      return <FileField {...common} task={task} name={path} value={value} onChange={onChange} />;
    case "boolean":
      return (
        <Switch {...common} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
      );
    case "choice":
      return (
        <Select
          {...common}
          data={[...field.choices]}
          value={text === "" ? null : text}
          allowDeselect={!field.isRequired}
          onChange={(chosen) => onChange(chosen ?? undefined)}
        />
      );
    case "number":
      return (
        <NumberInput
          {...common}
          value={typeof value === "number" ? value : ""}
          allowDecimal={!field.isInteger}
          placeholder={boundsOf(field)}
          step={field.isInteger ? 1 : 0.1}
          onChange={(amount) => onChange(amount === "" ? undefined : Number(amount))}
        />
      );
    case "text":
      if (field.isLong)
        return (
          <Textarea
            {...common}
            autosize
            minRows={field.name === "text" ? 5 : 2}
            maxRows={16}
            value={text}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        );
      if (field.suggestions.length > 0)
        return (
          <Autocomplete
            {...common}
            placeholder={field.placeholder ?? undefined}
            data={[...field.suggestions]}
            value={text}
            onChange={onChange}
          />
        );
      return <TextInput {...common} value={text} onChange={(event) => onChange(event.currentTarget.value)} />;
    case "json":
      return (
        <JsonInput
          {...common}
          description={field.description ?? "JSON"}
          autosize
          minRows={2}
          maxRows={14}
          formatOnBlur
          validationError="This is not JSON."
          value={typeof value === "string" || value === undefined ? text : JSON.stringify(value, null, 2)}
          onChange={onChange}
        />
      );
    case "object":
      return <ObjectInput {...props} field={field} />;
    case "tuple":
      return <TupleInput {...props} field={field} />;
    case "list":
      return <ListInput {...props} field={field} />;
  }
}

function boundsOf({ min, max }: Of<"number">): string | undefined {
  if (min === null && max === null) return undefined;
  if (max === null) return `from ${min}`;
  return min === null ? `up to ${max}` : `${min} to ${max}`;
}

function ObjectInput({ task, field, path, value, onChange, problemOf }: FieldProps<Of<"object">>) {
  const values = (typeof value === "object" && value !== null ? value : {}) as Values;
  return (
    <fieldset className="task-group">
      <legend>{field.label}</legend>
      {field.fields.map((inner) => (
        <FieldInput
          key={inner.name}
          task={task}
          field={inner}
          path={`${path}.${inner.name}`}
          value={values[inner.name]}
          onChange={(one) => onChange({ ...values, [inner.name]: one })}
          problemOf={problemOf}
        />
      ))}
    </fieldset>
  );
}

function TupleInput({ task, field, path, value, onChange, problemOf }: FieldProps<Of<"tuple">>) {
  const values = field.items.map((_, index) => (Array.isArray(value) ? value[index] : undefined));
  return (
    <div className="task-tuple">
      {field.items.map((item, index) => (
        <FieldInput
          key={item.name}
          task={task}
          // `Example 2a`, `Example 2b`.
          field={{ ...item, label: `${field.label}${"abcd"[index] ?? ""}`, isRequired: false }}
          path={`${path}.${index}`}
          value={values[index]}
          onChange={(one) => onChange(values.with(index, one))}
          problemOf={problemOf}
        />
      ))}
      {problemOf(path) !== null && <p className="task-problem">{problemOf(path)}</p>}
    </div>
  );
}

function ListInput({ task, field, path, value, onChange, problemOf }: FieldProps<Of<"list">>) {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const { item, label, maxItems } = field;
  const ownProblem = problemOf(path);
  return (
    <fieldset className="task-group">
      <legend>
        {label}
        {field.isRequired && (
          <span className="task-required" aria-hidden="true">
            {" "}
            *
          </span>
        )}
      </legend>
      {items.map((one, index) => (
        // Rows have no identity but their place.
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <div key={index} className="task-row">
          <div className="task-row-field">
            <FieldInput
              task={task}
              field={{ ...item, label: `${item.label} ${index + 1}`, isRequired: false }}
              path={`${path}.${index}`}
              value={one}
              onChange={(changed) => onChange(items.with(index, changed))}
              problemOf={problemOf}
            />
          </div>
          <ActionIcon
            aria-label={`Remove ${item.label.toLowerCase()} ${index + 1}`}
            onClick={() => onChange(items.toSpliced(index, 1))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </div>
      ))}
      {ownProblem !== null && <p className="task-problem">{ownProblem}</p>}
      {(maxItems === null || items.length < maxItems) && (
        <Button
          variant="subtle"
          size="compact-sm"
          className="task-add"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...items, toInitialValue(item)])}
        >
          Add {item.label.toLowerCase()}
        </Button>
      )}
    </fieldset>
  );
}
