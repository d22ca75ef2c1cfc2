// A time in the viewer's zone: short on the page, complete when one points at it.

import { formatAgo, formatDateTime, formatTime, noValue } from "../lib/format.ts";

interface TimeTextProps {
  readonly time: string | null | undefined;
  /** As the time since, or until. */
  readonly ago?: boolean;
}

export function TimeText({ time, ago = false }: TimeTextProps) {
  if (time === null || time === undefined) return <>{noValue}</>;
  return (
    <time dateTime={time} title={formatDateTime(time)}>
      {ago ? formatAgo(time) : formatTime(time)}
    </time>
  );
}
