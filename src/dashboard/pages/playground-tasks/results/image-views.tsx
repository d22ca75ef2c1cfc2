// Pictures that a task made or changed.

import { Button } from "@mantine/core";
import { useState } from "react";
import { IconDownload } from "../../../icons.ts";
import { useObjectUrl } from "../file-field.tsx";
import { BoxedPages } from "./boxed-pages.tsx";
import { foundIn } from "./boxes.ts";
import { toOwnAddress, toPictureAddress } from "./resource.ts";
import { fileOf, type ResultProps } from "./view.ts";

export function PicturesView({ output }: ResultProps<"image/generation" | "image/variation">) {
  const items: readonly { image: string; image_resource_url: string }[] = output.items ?? [];
  if (items.length === 0) return <p className="result-none">There is no picture.</p>;
  return (
    <ul className="picture-list">
      {items.map(({ image, image_resource_url }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pictures have no name but their place
        <li key={index}>
          <Picture base64={image} address={image_resource_url} alt={`Result ${index + 1}`} />
          <SaveButton base64={image} address={image_resource_url} name={`picture-${index + 1}`} />
        </li>
      ))}
    </ul>
  );
}

export function CutOutView({ input, output }: ResultProps<"image/background_removal">) {
  return (
    <div className="result-stack">
      <CompareSlider file={fileOf(input)} after={sourceOf(output.image_b64, output.image_resource_url)} isCutOut />
      <SaveButton base64={output.image_b64} address={output.image_resource_url} name="cut-out" />
    </div>
  );
}

export function ImageAnonymizationView({ input, output }: ResultProps<"image/anonymization">) {
  return (
    <div className="result-stack">
      <CompareSlider file={fileOf(input)} after={sourceOf(output.image, output.image_resource_url)} />
      <SaveButton base64={output.image} address={output.image_resource_url} name="anonymised" />
      <BoxedPages file={fileOf(input)} found={foundIn["image/anonymization"](output)} noun="Hidden" />
    </div>
  );
}

/** The bytes of the answer come first: they need no further request. */
function sourceOf(base64: string, address: string): string | null {
  return toPictureAddress(base64) ?? toOwnAddress(address);
}

function Picture({
  base64,
  address,
  alt,
}: {
  readonly base64: string;
  readonly address: string;
  readonly alt: string;
}) {
  const source = sourceOf(base64, address);
  return source === null ? (
    <p className="result-none">This picture cannot be shown here.</p>
  ) : (
    <img src={source} alt={alt} />
  );
}

function SaveButton({
  base64,
  address,
  name,
}: {
  readonly base64: string;
  readonly address: string;
  readonly name: string;
}) {
  const source = toOwnAddress(address) ?? toPictureAddress(base64);
  if (source === null) return null;
  return (
    <Button
      component="a"
      href={source}
      download={name}
      variant="default"
      size="compact-sm"
      className="save"
      leftSection={<IconDownload size={14} />}
    >
      Download
    </Button>
  );
}

interface CompareSliderProps {
  readonly file: File | null;
  readonly after: string | null;
  /** The result has transparent parts: a checkerboard shows them. */
  readonly isCutOut?: boolean;
}

/** Both pictures on top of each other: left of the line is what was sent, right of it is the result. */
function CompareSlider({ file, after, isCutOut = false }: CompareSliderProps) {
  const [share, setShare] = useState(50);
  const before = useObjectUrl(file);
  if (after === null) return <p className="result-none">This picture cannot be shown here.</p>;
  return (
    <div>
      <div className="compare" data-cut-out={isCutOut || undefined}>
        <img src={after} alt="The result" />
        {before !== null && (
          <>
            <img
              className="compare-before"
              src={before}
              alt="What was sent"
              style={{ clipPath: `inset(0 ${100 - share}% 0 0)` }}
            />
            <span className="compare-line" style={{ left: `${share}%` }} />
          </>
        )}
      </div>
      {before !== null && (
        <label className="compare-control">
          <span>Before</span>
          <input
            type="range"
            min={0}
            max={100}
            value={share}
            aria-label="How much of the picture shows what was sent"
            onChange={(event) => setShare(Number(event.currentTarget.value))}
          />
          <span>After</span>
        </label>
      )}
    </div>
  );
}
