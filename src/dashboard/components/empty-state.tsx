// What stands where there is no data yet: why, and what to do next.

import { Text, Title } from "@mantine/core";
import type { ComponentType, ReactNode } from "react";
import { IconInbox } from "../icons.ts";

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  readonly icon?: ComponentType<{ readonly size?: number | string }>;
}

export function EmptyState({ title, children, action, icon: Icon = IconInbox }: EmptyStateProps) {
  return (
    <div className="empty-state">
      <span className="tinted-icon empty-state-icon">
        <Icon size={22} />
      </span>
      <Title order={3} size="h5">
        {title}
      </Title>
      {children !== undefined && (
        <Text size="sm" c="dimmed" component="div" maw={520}>
          {children}
        </Text>
      )}
      {action}
    </div>
  );
}
