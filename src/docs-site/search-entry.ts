// An entry of the search index: the text from one heading to the next.

export interface SearchEntry {
  readonly id: number;
  /** From the root of the server or of the static site, without a slash at its beginning. */
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}
