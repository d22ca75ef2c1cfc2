// What the playgrounds of models have in common: the models that they wait for, and a panel of settings that can be closed.

import { Button, Skeleton } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { type ComponentProps, type ComponentType, type ReactNode, useState } from "react";
import { useApi } from "../api/hooks.ts";
import type { ModelList } from "../api/types.ts";
import { ErrorNotice } from "../components/error-notice.tsx";
import { Page } from "../components/page.tsx";
import { IconSliders } from "../icons.ts";
import { type Model, sortModels } from "./model-picker.tsx";
import { PlaygroundTabs } from "./tabs.tsx";

interface WithModelsProps {
  /** The endpoint that the models serve. */
  readonly endpoint: string;
  /** Null: more than the models is missing. */
  readonly children: ((models: readonly Model[]) => ReactNode) | null;
}

export function WithModels({ endpoint, children }: WithModelsProps) {
  const models = useApi<ModelList>("/v3/models", { include: "sandbox", endpoint });
  if (models.data !== undefined && children !== null) return children(sortModels(models.data.data));
  return (
    <Page title="Playground" description={<PlaygroundTabs />}>
      {models.error === null ? (
        <Skeleton height={480} radius="md" aria-label="Loading" role="status" />
      ) : (
        <ErrorNotice error={models.error} onRetry={() => void models.refetch()} />
      )}
    </Page>
  );
}

interface HeadButtonProps extends Omit<ComponentProps<typeof Button<"button">>, "children"> {
  readonly icon: ComponentType<{ readonly size: number }>;
  readonly label: string;
}

/** A button at the head of a playground. */
export function HeadButton({ icon: Icon, label, ...button }: HeadButtonProps) {
  return (
    <Button variant="default" size="xs" leftSection={<Icon size={15} />} {...button}>
      {label}
    </Button>
  );
}

/** The settings are open from the start where the window has room for them. */
export function useSettingsPanel(): { readonly isOpen: boolean; readonly button: ReactNode } {
  const isWide = useMediaQuery("(min-width: 1200px)", undefined, { getInitialValueInEffect: false });
  const [isChosen, setChosen] = useState<boolean | null>(null);
  const isOpen = isChosen ?? isWide;
  const button = (
    <HeadButton
      icon={IconSliders}
      label="Settings"
      variant={isOpen ? "light" : "default"}
      aria-expanded={isOpen}
      onClick={() => setChosen(!isOpen)}
    />
  );
  return { isOpen, button };
}
