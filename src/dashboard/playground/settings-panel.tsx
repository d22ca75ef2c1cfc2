// What is sent with every message: instructions, parameters, tools, and the form of the answer.

import { Anchor, JsonInput, NumberInput, Select, Stack, Switch, Text, Textarea } from "@mantine/core";
import type { ReactNode } from "react";
import { Panel } from "../components/page.tsx";
import type { PlaygroundKey } from "./key.ts";
import { KeyChoice } from "./key-notice.tsx";
import { parseJson, type Settings } from "./settings.ts";

interface SettingsPanelProps {
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
  readonly playgroundKey: PlaygroundKey;
  /** `System prompt`, or what the interface calls it. */
  readonly systemLabel: string;
  readonly children?: ReactNode;
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"];

const toolChoices = [
  { value: "auto", label: "The model decides" },
  { value: "required", label: "The model has to call a tool" },
  { value: "none", label: "The model calls no tool" },
];

interface JsonFacts {
  readonly name: string;
  readonly label: string;
  readonly isRight: (value: unknown) => boolean;
  readonly problem: string;
  readonly example: unknown;
}

const tools: JsonFacts = {
  name: "Tools",
  label: "Tools as JSON",
  isRight: (value) => Array.isArray(value) && value.length > 0,
  problem: "Tools should be a JSON list with at least one tool.",
  example: [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "The weather in a city, now.",
        parameters: {
          type: "object",
          properties: {
            city: { type: "string", examples: ["Vienna"] },
            unit: { type: "string", enum: ["celsius", "fahrenheit"] },
          },
          required: ["city", "unit"],
          additionalProperties: false,
        },
      },
    },
  ],
};

const structuredOutput: JsonFacts = {
  name: "Structured output",
  label: "JSON Schema of the answer",
  isRight: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  problem: "The schema should be a JSON object.",
  example: {
    type: "object",
    properties: {
      summary: { type: "string" },
      sentiment: { type: "string", enum: ["positive", "neutral", "negative"] },
      topics: { type: "array", items: { type: "string" } },
    },
    required: ["summary", "sentiment", "topics"],
    additionalProperties: false,
  },
};

export function SettingsPanel({ settings, onChange, playgroundKey, systemLabel, children }: SettingsPanelProps) {
  const set = (change: Partial<Settings>) => onChange({ ...settings, ...change });
  return (
    <Panel className="playground-settings" title="Settings">
      <Stack gap="sm">
        <Textarea
          label={systemLabel}
          placeholder="You are a helpful assistant."
          autosize
          minRows={3}
          maxRows={10}
          value={settings.system}
          onChange={(event) => set({ system: event.currentTarget.value })}
        />
        <NumberInput
          label="Temperature"
          placeholder="the provider's default"
          min={0}
          max={2}
          step={0.1}
          decimalScale={2}
          value={settings.temperature}
          onChange={(value) => set({ temperature: value === "" ? "" : Number(value) })}
        />
        <NumberInput
          label="Maximum tokens"
          placeholder="the provider's default"
          min={1}
          max={1_000_000}
          allowDecimal={false}
          thousandSeparator=","
          value={settings.maxTokens}
          onChange={(value) => set({ maxTokens: value === "" ? "" : Number(value) })}
        />
        <Select
          label="Reasoning effort"
          placeholder="the provider's default"
          data={efforts}
          value={settings.reasoningEffort || null}
          onChange={(value) => set({ reasoningEffort: value ?? "" })}
          clearable
        />
        <JsonOption
          {...tools}
          isOn={settings.usesTools}
          value={settings.tools}
          onChange={(usesTools, text) => set({ usesTools, tools: text })}
        >
          <Select
            label="Tool choice"
            data={toolChoices}
            value={settings.toolChoice}
            allowDeselect={false}
            onChange={(value) => set({ toolChoice: value ?? "auto" })}
          />
        </JsonOption>
        <JsonOption
          {...structuredOutput}
          isOn={settings.usesSchema}
          value={settings.schema}
          onChange={(usesSchema, schema) => set({ usesSchema, schema })}
        />
        {children}
        <KeyChoice playgroundKey={playgroundKey} />
      </Stack>
    </Panel>
  );
}

function toText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

interface JsonOptionProps extends JsonFacts {
  readonly isOn: boolean;
  readonly value: string;
  /** An empty field that is switched on gets the example. */
  readonly onChange: (isOn: boolean, text: string) => void;
  /** More fields, below the first. */
  readonly children?: ReactNode;
}

/** A switch, and below it the field for what it switches on. */
function JsonOption({ isOn, value, onChange, children, ...facts }: JsonOptionProps) {
  const { name, example } = facts;
  return (
    <>
      <Switch
        label={name}
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked, value.trim() === "" ? toText(example) : value)}
      />
      {isOn && (
        <>
          <JsonField {...facts} value={value} onChange={(text) => onChange(true, text)} />
          {children}
        </>
      )}
    </>
  );
}

interface JsonFieldProps extends Omit<JsonFacts, "name"> {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function JsonField({ label, value, onChange, isRight, problem, example }: JsonFieldProps) {
  return (
    <div>
      <JsonInput
        label={label}
        value={value}
        onChange={onChange}
        error={isRight(parseJson(value)) ? null : problem}
        formatOnBlur
        autosize
        minRows={6}
        maxRows={18}
        className="json-field"
        spellCheck={false}
      />
      {value !== toText(example) && (
        <Text size="xs" mt={4}>
          <Anchor component="button" type="button" inherit underline="always" onClick={() => onChange(toText(example))}>
            Use the example
          </Anchor>
        </Text>
      )}
    </div>
  );
}
