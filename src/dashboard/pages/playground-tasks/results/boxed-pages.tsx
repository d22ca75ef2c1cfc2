// Boxes over a page or picture, linked with the list of what was found: pointing at one, or reaching it with the keyboard, marks the other.

import { type SyntheticEvent, useMemo, useRef, useState } from "react";
import { formatPercent } from "../../../lib/format.ts";
import type { Found } from "./boxes.ts";
import { toShares } from "./boxes.ts";
import { type PageImage, usePages } from "./pages.ts";

const colorCount = 7;
/** More boxes than this are a grey area, and make the page slow. */
const maxShown = 2_000;

interface BoxedPagesProps {
  readonly file: File | null;
  readonly found: readonly Omit<Found, "id">[];
  /** What the list holds. */
  readonly noun: string;
  /** Labels stand at their boxes all the time. Off for texts, which can be read on the page itself. */
  readonly showsLabels?: boolean;
}

export function BoxedPages({ file, found, noun, showsLabels = true }: BoxedPagesProps) {
  const [active, setActive] = useState<string | null>(null);
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const pages = usePages(file);
  const all = useMemo(() => found.slice(0, maxShown).map((one, index) => ({ ...one, id: String(index) })), [found]);
  const placed = useMemo(() => toShares(all, size), [all, size]);
  const groups = useMemo(() => [...new Set(all.map(({ group }) => group))], [all]);
  const colorOf = (group: string) => (groups.indexOf(group) % colorCount) + 1;
  const pageCount = Math.max(pages.length, 1, ...placed.map(({ page }) => page + 1));
  const hasPlaces = placed.some(({ box }) => box !== null);

  function showRow(id: string): void {
    setActive(id);
    list.current?.querySelector(`[data-row="${id}"]`)?.scrollIntoView({ block: "nearest" });
  }

  if (all.length === 0)
    return (
      <div className="result-stack">
        <p className="result-none">Nothing was found.</p>
        {pages[0] !== undefined && <img className="boxed-only" src={pages[0].url} alt="What was sent" />}
      </div>
    );
  return (
    <div className="boxed">
      <div className="boxed-pages">
        {Array.from({ length: pageCount }, (_, index) => (
          <BoxedPage
            // biome-ignore lint/suspicious/noArrayIndexKey: pages are told apart by their number
            key={index}
            page={pages[index]}
            found={placed.filter(({ page, box }) => page === index && box !== null)}
            active={active}
            colorOf={colorOf}
            showsLabels={showsLabels}
            onSize={index === 0 ? setSize : undefined}
            onPoint={(id) => (id === null ? setActive(null) : showRow(id))}
          />
        ))}
        {!hasPlaces && <p className="result-none">The provider did not state where on the page.</p>}
      </div>
      <ol className="boxed-list" ref={list} aria-label={noun}>
        {placed.map(({ id, label, detail, confidence, group }) => (
          <li key={id}>
            <button
              type="button"
              className="boxed-row"
              data-row={id}
              data-color={colorOf(group)}
              data-active={active === id || undefined}
              onMouseEnter={() => setActive(id)}
              onMouseLeave={() => setActive(null)}
              onFocus={() => setActive(id)}
              onBlur={() => setActive(null)}
            >
              <span className="entity-dot" />
              <FoundText label={label} detail={detail} confidence={confidence} />
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** What was found, in a row of a list: its label, more about it, and how certain the provider is. */
export function FoundText({ label, detail, confidence }: Pick<Found, "label" | "detail" | "confidence">) {
  return (
    <>
      <span className="boxed-label">
        {label}
        {detail !== undefined && <span className="boxed-detail">{detail}</span>}
      </span>
      {confidence !== null && <span className="boxed-confidence">{formatPercent(confidence)}</span>}
    </>
  );
}

interface BoxedPageProps {
  readonly page: PageImage | undefined;
  readonly found: readonly Found[];
  readonly active: string | null;
  readonly colorOf: (group: string) => number;
  readonly showsLabels: boolean;
  readonly onSize: ((size: { width: number; height: number }) => void) | undefined;
  readonly onPoint: (id: string | null) => void;
}

function BoxedPage({ page, found, active, colorOf, showsLabels, onSize, onPoint }: BoxedPageProps) {
  const measure = ({ currentTarget }: SyntheticEvent<HTMLImageElement>) =>
    onSize?.({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight });
  return (
    <div className="boxed-page" data-blank={page === undefined || undefined} data-labelled={showsLabels || undefined}>
      {page !== undefined && (
        <img src={page.url} alt="What was sent, with the places of what was found" onLoad={measure} />
      )}
      {found.map(({ id, label, box, group }) => (
        // For the mouse only: the row of the list does the same for the keyboard.
        <div
          key={id}
          className="boxed-box"
          aria-hidden="true"
          data-box={id}
          data-color={colorOf(group)}
          data-active={active === id || undefined}
          style={toStyle(box)}
          onMouseEnter={() => onPoint(id)}
          onMouseLeave={() => onPoint(null)}
        >
          {page === undefined ? (
            <span className="boxed-text">{label}</span>
          ) : (
            <span className="boxed-tag">{label}</span>
          )}
        </div>
      ))}
    </div>
  );
}

function toStyle(box: Found["box"]) {
  if (box === null) return {};
  return {
    left: `${box.left * 100}%`,
    top: `${box.top * 100}%`,
    width: `${box.width * 100}%`,
    height: `${box.height * 100}%`,
  };
}
