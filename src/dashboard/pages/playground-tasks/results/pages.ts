// The pages of a file as pictures, as far as the browser can show them.

import { useEffect, useState } from "react";
import { drawPdf } from "../../../pdf/draw-pdf.ts";

export interface PageImage {
  readonly url: string;
}

const shownTypes = /^image\/(?:png|jpeg|gif|webp|bmp|avif|svg\+xml)$/;

/** Empty while they load, and for files that the browser cannot show. */
export function usePages(file: File | null): readonly PageImage[] {
  const [pages, setPages] = useState<readonly PageImage[]>([]);
  useEffect(() => {
    setPages([]);
    if (file === null) return;
    const urls: string[] = [];
    const end = new AbortController();
    const onPage = (picture: Blob) => {
      const url = URL.createObjectURL(picture);
      urls.push(url);
      setPages((before) => [...before, { url }]);
    };
    if (shownTypes.test(file.type)) onPage(file);
    else if (file.type === "application/pdf") void drawPdf(file, { onPage, signal: end.signal });
    return () => {
      end.abort();
      for (const url of urls) URL.revokeObjectURL(url);
    };
  }, [file]);
  return pages;
}
