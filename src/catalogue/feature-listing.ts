// The listing of tasks: the task registry with the offers of this gateway.

import type { Feature, FeatureList, Subfeature, SubfeatureDetail, TaskModel, TaskPricing } from "../contract/info.ts";
import { features, type Task, tasks } from "../contract/tasks.ts";
import { once } from "../lib/once.ts";
import { createJsonDocument, type Document, withCompression } from "./document.ts";

/** A provider or engine for a task. */
export interface TaskOffer {
  readonly feature: string;
  readonly subfeature: string;
  readonly provider: string;
  /** `<feature>/<subfeature>/<provider>[/<model>]` */
  readonly model: string;
  /** The model that is used when a request names only the provider. */
  readonly defaultModel: string | null;
  readonly pricing: TaskPricing | null;
  /** Whether the offer can be used now. */
  readonly configured: boolean;
  /** An offer of the sandbox, which is listed only on request. */
  readonly isSandbox: boolean;
}

/** Offers that a listing contains in addition to the configured ones. */
export interface Included {
  readonly unconfigured: boolean;
  readonly sandbox: boolean;
}

export type FeatureListing = ReturnType<typeof createFeatureListing>;

/** The registry with one set of offers. */
interface View {
  readonly list: Document;
  readonly features: ReadonlyMap<string, () => Document>;
  readonly subfeatures: ReadonlyMap<string, () => Document>;
}

export function createFeatureListing(offers: readonly TaskOffer[]) {
  const real = offers.filter(({ isSandbox }) => !isSandbox);
  const views = [real, [...real, ...offers.filter(({ isSandbox }) => isSandbox)]].map((listed) => ({
    configured: once(() => createView(listed, false)),
    everything: once(() => createView(listed, true)),
  }));
  const view = ({ unconfigured, sandbox }: Included) =>
    views[sandbox ? 1 : 0]?.[unconfigured ? "everything" : "configured"]() as View;

  return {
    list: (included: Included) => view(included).list,
    findFeature: (feature: string, included: Included) => view(included).features.get(feature)?.(),
    findSubfeature: (feature: string, subfeature: string, included: Included) =>
      view(included).subfeatures.get(`${feature}/${subfeature}`)?.(),
  };
}

function createView(offers: readonly TaskOffer[], withUnconfigured: boolean): View {
  const byFeature = new Map<string, Subfeature[]>(features.map((feature) => [feature.name, []]));
  const details = new Map<string, () => Document>();
  const byTask = Map.groupBy(offers, ({ feature, subfeature }) => `${feature}/${subfeature}`);
  for (const task of tasks) {
    const { name } = task;
    const subfeature = toSubfeature(task, byTask.get(name) ?? [], withUnconfigured);
    const detail = once(() => withCompression(createJsonDocument(toDetail(task, subfeature))));
    details.set(name, detail);
    if (withUnconfigured || subfeature.models.length > 0) byFeature.get(task.feature)?.push(subfeature);
  }

  const listed = features.map((feature): Feature => {
    const subfeatures = byFeature.get(feature.name) ?? [];
    return { ...feature, configured: subfeatures.some(({ configured }) => configured), subfeatures };
  });
  const list: FeatureList = { features: listed.filter((feature) => feature.subfeatures.length > 0) };
  return {
    list: withCompression(createJsonDocument(list)),
    features: new Map(
      listed.map((feature) => [feature.name, once(() => withCompression(createJsonDocument(feature)))]),
    ),
    subfeatures: details,
  };
}

/** `offers` are those of this task. */
function toSubfeature(task: Task, offers: readonly TaskOffer[], withUnconfigured: boolean): Subfeature {
  const models = offers.map(({ model, provider, defaultModel, pricing, configured }): TaskModel => {
    return { model, provider, default_model: defaultModel, pricing, mode: task.mode, configured };
  });
  const usable = models.filter(({ configured }) => configured);
  return {
    name: task.subfeature,
    fullname: task.fullname,
    description: task.description,
    // The sandbox simulates every task, so it does not count.
    configured: offers.some(({ configured, isSandbox }) => configured && !isSandbox),
    models: withUnconfigured ? [...usable, ...models.filter(({ configured }) => !configured)] : usable,
  };
}

function toDetail({ feature, inputSchema, outputSchema }: Task, subfeature: Subfeature): SubfeatureDetail {
  return { feature, ...subfeature, input_schema: inputSchema, output_schema: outputSchema };
}
