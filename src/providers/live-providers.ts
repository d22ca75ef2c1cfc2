// Providers whose credentials change while they are in use. A change replaces the addresses and credentials of the same object, so all who
// hold the provider use the new ones for their next call; a running call keeps the deployment that it was given.

import { suggest } from "../lib/find-nearest.ts";
import {
  type AllStored,
  configureProvider,
  draftProviders,
  type Provider,
  type ProviderDraft,
  type Written,
} from "./configure.ts";
import type { StoredAccess } from "./deployment.ts";
import type { ProviderRow } from "./provider.ts";

export interface LiveProvidersOptions {
  readonly rows: readonly ProviderRow[];
  readonly written: Written;
  /** As the settings alone configure them. */
  readonly providers: ReadonlyMap<string, Provider>;
}

/** A provider under the name that its stored credentials have. */
export interface NamedProvider {
  readonly provider: Provider;
  /** The name of the provider, or of its model API. */
  readonly storedName: string;
}

export type LiveProviders = ReturnType<typeof createLiveProviders>;

// Secrets of earlier credentials stay hidden, because running calls still use them.
const mostHiddenSecrets = 50;

export function createLiveProviders({ rows, written, providers }: LiveProvidersOptions) {
  // The settings were checked when the providers were configured.
  const drafts = draftProviders(rows, written.declared, () => {}).filter(({ row }) => providers.has(row.name));
  let stored: AllStored = new Map();

  function configureWith(draft: ProviderDraft, accesses: AllStored): Provider {
    return configureProvider(draft, written, accesses);
  }

  function findDraft(provider: Provider): ProviderDraft {
    const draft = drafts.find(({ row }) => row.name === provider.name);
    if (draft === undefined) throw new TypeError(`there is no draft of the provider '${provider.name}'`);
    return draft;
  }

  return {
    providers,
    /** The provider of any of its names; otherwise a text that names the nearest one. */
    find(name: string): NamedProvider | { readonly nearest: string } {
      for (const { row, names } of drafts) {
        const provider = providers.get(row.name);
        if (provider === undefined) continue;
        if (row.modelAccess?.name === name) return { provider, storedName: name };
        if (names.includes(name)) return { provider, storedName: row.name };
      }
      return {
        nearest: suggest(
          name,
          drafts.flatMap(({ row, names }) => [...names, row.modelAccess?.name ?? row.name]),
        ),
      };
    },
    /** The provider as it would be with these credentials. Throws when they cannot be used. */
    preview({ provider, storedName }: NamedProvider, access: StoredAccess): Provider {
      return configureWith(findDraft(provider), new Map(stored).set(storedName, access));
    },
    /** The provider as it would be without credentials of the store. */
    previewWithout: (provider: Provider): Provider => configureWith(findDraft(provider), new Map()),
    /** Uses these credentials from now on. Returns the providers that they change, with the reason where one cannot use them. */
    apply(next: AllStored): { readonly provider: Provider; readonly error: unknown }[] {
      const before = stored;
      stored = next;
      const names = ({ row }: ProviderDraft) => [
        row.name,
        ...(row.modelAccess === undefined ? [] : [row.modelAccess.name]),
      ];
      const isChanged = (name: string) => !Bun.deepEquals(before.get(name), next.get(name));
      return drafts.flatMap((draft) => {
        const provider = providers.get(draft.row.name);
        if (provider === undefined || !names(draft).some(isChanged)) return [];
        try {
          replaceAccess(provider, configureWith(draft, next));
          return [{ provider, error: null }];
        } catch (error) {
          return [{ provider, error }];
        }
      });
    },
  };
}

/** The row, the dialect and everything else that the operator's file decides stays. */
function replaceAccess(provider: Provider, next: Provider): void {
  const { deployments, missingSetting, configured, taskDeployments, missingTaskSetting, sources, readSetting } = next;
  const secrets = [...new Set([...next.secrets, ...provider.secrets])].slice(0, mostHiddenSecrets);
  const access = { deployments, missingSetting, configured, taskDeployments, missingTaskSetting, sources, readSetting };
  // Only this file writes to a provider.
  Object.assign(provider, { ...access, secrets });
}
