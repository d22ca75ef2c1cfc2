// What the cells of several tables have: a link on the row, and a name above a smaller line.

import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useUrlState } from "../lib/url-state.ts";
import { TimeText } from "./time-text.tsx";

/** The time of a row, as a link to its page. */
export function TimeLink({ to, time }: { readonly to: string; readonly time: string }) {
  return (
    <Link className="row-link" to={to} onClick={(event) => event.stopPropagation()}>
      <TimeText time={time} />
    </Link>
  );
}

interface ParameterLinkProps {
  readonly name: string;
  readonly value: string;
  readonly className: string;
  readonly children: ReactNode;
}

/** Sets a parameter of the address, which opens the drawer of the row. */
export function ParameterLink({ name, value, className, children }: ParameterLinkProps) {
  const url = useUrlState();
  return (
    <a
      className={`row-link ${className} truncate`}
      href={`?${name}=${encodeURIComponent(value)}`}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        url.set({ [name]: value });
      }}
    >
      {children}
    </a>
  );
}

/** `second`: null, if there is only one line. */
export function TwoLines({ first, second }: { readonly first: string; readonly second: string | null }) {
  return (
    <>
      <Text size="sm" truncate title={first}>
        {first}
      </Text>
      {second !== null && (
        <Text size="xs" c="dimmed" truncate title={second}>
          {second}
        </Text>
      )}
    </>
  );
}
