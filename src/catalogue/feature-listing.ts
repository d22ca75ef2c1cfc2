// Which tasks are on offer: the task registry joined with who serves each task here.

import type { Feature, FeatureList, Subfeature, SubfeatureDetail, TaskModel, TaskPricing } from "../contract/info.ts";
import { features, type Task, tasks } from "../contract/tasks.ts";
import { once } from "../lib/once.ts";
import { createJsonDocument, type Document } from "./document.ts";

/** A task that this gateway can do, now or when it is told how. */
export interface TaskOffer {
  readonly feature: string;
  readonly subfeature: string;
  readonly provider: string;
  /** `<feature>/<subfeature>/<provider>[/<model>]` */
  readonly model: string;
  /** The model that does the task when a request names the provider alone. */
  readonly defaultModel: string | null;
  readonly pricing: TaskPricing | null;
  /** Whether it can be done now. */
  readonly configured: boolean;
  /** Of the pretend vendor, which is listed on request alone. */
  readonly isSandbox: boolean;
}

/** What a listing shows besides what is configured. */
export interface Included {
  readonly unconfigured: boolean;
  readonly sandbox: boolean;
}

export interface FeatureListing {
  list(included: Included): Document;
  /** Undefined when no task has this feature. */
  findFeature(feature: string, included: Included): Document | undefined;
  /** Undefined when there is no such task. */
  findSubfeature(feature: string, subfeature: string, included: Included): Document | undefined;
}

/** One view of the registry, either of what is configured or of everything. */
interface View {
  readonly list: Document;
  readonly features: ReadonlyMap<string, () => Document>;
  readonly subfeatures: ReadonlyMap<string, () => Document>;
}

export function createFeatureListing(offers: readonly TaskOffer[]): FeatureListing {
  const real = offers.filter(({ isSandbox }) => !isSandbox);
  const views = [real, [...real, ...offers.filter(({ isSandbox }) => isSandbox)]].map((listed) => ({
    configured: once(() => createView(listed, false)),
    everything: once(() => createView(listed, true)),
  }));
  const view = ({ unconfigured, sandbox }: Included) =>
    views[sandbox ? 1 : 0]?.[unconfigured ? "everything" : "configured"]() as View;

  return {
    list: (included) => view(included).list,
    findFeature: (feature, included) => view(included).features.get(feature)?.(),
    findSubfeature: (feature, subfeature, included) => view(included).subfeatures.get(`${feature}/${subfeature}`)?.(),
  };
}

function createView(offers: readonly TaskOffer[], withUnconfigured: boolean): View {
  const byFeature = new Map<string, Subfeature[]>(features.map((feature) => [feature.name, []]));
  const details = new Map<string, () => Document>();
  const byTask = Map.groupBy(offers, ({ feature, subfeature }) => `${feature}/${subfeature}`);
  for (const task of tasks) {
    const name = `${task.feature}/${task.subfeature}`;
    const subfeature = toSubfeature(task, byTask.get(name) ?? [], withUnconfigured);
    details.set(
      name,
      once(() => createJsonDocument(toDetail(task, subfeature))),
    );
    if (withUnconfigured || subfeature.models.length > 0) byFeature.get(task.feature)?.push(subfeature);
  }

  const listed = features.map(
    (feature): Feature => ({
      ...feature,
      configured: (byFeature.get(feature.name) ?? []).some((subfeature) => subfeature.configured),
      subfeatures: byFeature.get(feature.name) ?? [],
    }),
  );
  const list: FeatureList = { features: listed.filter((feature) => feature.subfeatures.length > 0) };
  return {
    list: createJsonDocument(list),
    features: new Map(listed.map((feature) => [feature.name, once(() => createJsonDocument(feature))])),
    subfeatures: details,
  };
}

/** `offers` are those of this task. */
function toSubfeature(task: Task, offers: readonly TaskOffer[], withUnconfigured: boolean): Subfeature {
  const models = offers.map(
    ({ model, provider, defaultModel, pricing, configured }): TaskModel => ({
      model,
      provider,
      default_model: defaultModel,
      pricing,
      mode: task.mode,
      configured,
    }),
  );
  const served = models.filter(({ configured }) => configured);
  return {
    name: task.subfeature,
    fullname: task.fullname,
    description: task.description,
    // The pretend vendor does every task, and none of them in earnest.
    configured: offers.some(({ configured, isSandbox }) => configured && !isSandbox),
    models: withUnconfigured ? [...served, ...models.filter(({ configured }) => !configured)] : served,
  };
}

function toDetail(task: Task, subfeature: Subfeature): SubfeatureDetail {
  return {
    feature: task.feature,
    ...subfeature,
    input_schema: task.inputSchema,
    output_schema: task.outputSchema,
  };
}
