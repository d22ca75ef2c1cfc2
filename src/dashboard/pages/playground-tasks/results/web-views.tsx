// Results of web tasks: pages, links and sources. Titles link to their pages; texts are shown as plain text, never as markup.

import { Anchor } from "@mantine/core";
import { PlainText } from "./before-after.tsx";
import { DataList, isEmpty } from "./data-list.tsx";
import { toWebAddress } from "./resource.ts";
import type { ResultProps } from "./view.ts";

interface WebItem {
  readonly url: string;
  readonly title: string | null | undefined;
  readonly text: string | null | undefined;
}

type Source = NonNullable<ResultProps<"web/search">["output"]["sources"]>[number];
type Page = Pick<ResultProps<"web/scraping">["output"], "url" | "title" | "summary" | "content">;

/** A crawl may return hundreds of long pages, which a browser draws slowly. “Raw” copies the whole texts. */
const maxShownCharacters = 4_000;

export function WebSearchView({ output }: ResultProps<"web/search">) {
  const { answer, results = [], sources = [] } = output;
  if (!answer && results.length === 0 && sources.length === 0) return <p className="result-none">Nothing was found.</p>;
  return (
    <div className="result-stack">
      {answer && <PlainText text={answer} />}
      <WebItems label="Results" items={results.map(({ url, title, content }) => ({ url, title, text: content }))} />
      <WebItems label="Sources" items={sources.map(toSourceItem)} />
    </div>
  );
}

export function WebPageView({ output }: ResultProps<"web/scraping">) {
  return <WebItems label="Page" items={[toPageItem(output)]} />;
}

export function WebPagesView({ output }: ResultProps<"web/crawl_async" | "web/batch_scrape_async">) {
  const { pages = [] } = output;
  if (pages.length === 0) return <p className="result-none">No pages were found.</p>;
  return <WebItems label={`Pages (${pages.length})`} items={pages.map(toPageItem)} />;
}

export function SiteMapView({ output }: ResultProps<"web/map">) {
  const { links = [] } = output;
  if (links.length === 0) return <p className="result-none">No links were found.</p>;
  return (
    <WebItems
      label={`Links (${links.length})`}
      items={links.map(({ url, title, description }) => ({ url, title, text: description }))}
    />
  );
}

export function ResearchView({ output }: ResultProps<"web/research_async" | "web/structured_extraction_async">) {
  const { data, sources = [] } = output;
  const answer = "answer" in output ? output.answer : null;
  return (
    <div className="result-stack">
      {answer && <PlainText text={answer} />}
      {/* For empty data, DataList says that nothing was found. Beside an answer, that would be wrong. */}
      {(!answer || !isEmpty(data)) && <DataList value={data} />}
      <WebItems label="Sources" items={sources.map(toSourceItem)} />
    </div>
  );
}

function toSourceItem({ url, title, snippet }: Source): WebItem {
  return { url, title, text: snippet };
}

function toPageItem({ url, title, summary, content }: Page): WebItem {
  return { url, title, text: summary || content };
}

function WebItems({ items, label }: { readonly items: readonly WebItem[]; readonly label: string }) {
  if (items.length === 0) return null;
  return (
    <section>
      <h3>{label}</h3>
      <ol className="web-list">
        {items.map(({ url, title, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same address may occur twice
          <li key={index}>
            <WebLink url={url} title={title || url} />
            {title && title !== url && <span className="web-address truncate">{url}</span>}
            {text && <PlainText text={shorten(text)} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

function WebLink({ url, title }: { readonly url: string; readonly title: string }) {
  const address = toWebAddress(url);
  if (address === null) return <span className="wrap-anywhere">{title}</span>;
  return (
    <Anchor href={address} target="_blank" rel="noreferrer" className="wrap-anywhere" size="sm" fw={550}>
      {title}
    </Anchor>
  );
}

function shorten(text: string): string {
  return text.length <= maxShownCharacters ? text : `${text.slice(0, maxShownCharacters)}…`;
}
