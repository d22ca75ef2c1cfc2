// A page: its title, what it is for, its actions and its content.

import { Group, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

interface PageProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Switchyard`;
  }, [title]);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Title order={1} size="h2">
            {title}
          </Title>
          <Description size="sm" mt={4}>
            {description}
          </Description>
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </div>
      {children}
    </div>
  );
}

interface PanelProps {
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A part of a page with a border of its own. */
export function Panel({ title, description, actions, children, className }: PanelProps) {
  return (
    <section className={className === undefined ? "panel" : `panel ${className}`}>
      {(title !== undefined || actions !== undefined) && (
        <div className="panel-head">
          <div>
            <Title order={2} size="h5">
              {title}
            </Title>
            <Description size="xs">{description}</Description>
          </div>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}

interface DescriptionProps {
  readonly size: "xs" | "sm";
  readonly mt?: number;
  readonly children: ReactNode;
}

function Description({ children, ...look }: DescriptionProps) {
  if (children === undefined) return null;
  return (
    <Text c="dimmed" component="div" {...look}>
      {children}
    </Text>
  );
}
