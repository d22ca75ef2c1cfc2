// Sound, video and documents that a task made, and what was found in them over time.

import { Anchor, Button } from "@mantine/core";
import { useRef } from "react";
import { IconDownload } from "../../../icons.ts";
import { formatPercent } from "../../../lib/format.ts";
import { useObjectUrl } from "../file-field.tsx";
import { FoundText } from "./boxed-pages.tsx";
import { toOwnAddress, toPictureAddress } from "./resource.ts";
import { Scores, Verdict } from "./scores.tsx";
import { fileOf, type ResultProps, textOf } from "./view.ts";

export function SpeechView({ input, output }: ResultProps<"audio/tts">) {
  const source = toOwnAddress(output.audio_resource_url);
  if (source === null) return <ForeignAddress address={output.audio_resource_url} />;
  return (
    <div className="result-stack">
      {/* biome-ignore lint/a11y/useMediaCaption: the spoken text stands below */}
      <audio controls preload="auto" src={source} className="player" aria-label="The spoken text" />
      <p className="result-text">{textOf(input)}</p>
      <Download address={source} name="speech" />
    </div>
  );
}

export function VideoView({ output }: ResultProps<"video/generation_async">) {
  const source = toOwnAddress(output.video_resource_url);
  if (source === null) return <ForeignAddress address={output.video_resource_url} />;
  return (
    <div className="result-stack">
      {/* biome-ignore lint/a11y/useMediaCaption: made by a model, without captions */}
      <video controls src={source} className="player" aria-label="The video" />
      <Download address={source} name="video" />
    </div>
  );
}

function Download({ address, name }: { readonly address: string; readonly name: string }) {
  return (
    <div>
      <Button
        component="a"
        href={address}
        download={name}
        variant="default"
        size="compact-sm"
        leftSection={<IconDownload size={14} />}
      >
        Download
      </Button>
    </div>
  );
}

/** The policy of the page loads nothing from elsewhere, so the person opens it. */
function ForeignAddress({ address }: { readonly address: string }) {
  const isWeb = /^https?:\/\//i.test(address);
  return (
    <p>
      The result is at another address:{" "}
      {isWeb ? (
        <Anchor href={address} target="_blank" rel="noreferrer" className="wrap-anywhere">
          {address}
        </Anchor>
      ) : (
        <code className="wrap-anywhere">{address}</code>
      )}
    </p>
  );
}

export function TranslatedDocumentView({ output }: ResultProps<"translation/document_translation">) {
  return <DocumentResult base64={output.file} address={output.document_resource_url} name="translation" />;
}

export function AnonymisedDocumentView({ output }: ResultProps<"ocr/anonymization_async">) {
  return <DocumentResult base64={output.document} address={output.document_url} name="anonymised" />;
}

interface DocumentResultProps {
  readonly base64: string;
  readonly address: string;
  readonly name: string;
}

function DocumentResult({ base64, address, name }: DocumentResultProps) {
  const picture = toPictureAddress(base64);
  const source = toOwnAddress(address);
  return (
    <div className="result-stack">
      <Verdict title="The document is ready" tone="good" />
      {picture !== null && <img className="boxed-only" src={picture} alt="The resulting document" />}
      {source === null ? <ForeignAddress address={address} /> : <Download address={source} name={name} />}
    </div>
  );
}

export function TranscriptView({ input, output }: ResultProps<"audio/speech_to_text_async">) {
  const { entries = [], total_speakers } = output.diarization;
  const moments = entries.map(({ segment, start_time, end_time, speaker, confidence }) => ({
    start: start_time === null ? null : Number(start_time),
    end: end_time === null ? null : Number(end_time),
    label: segment,
    note: total_speakers > 1 ? `Speaker ${speaker}` : undefined,
    confidence,
  }));
  return (
    <div className="result-stack">
      <p className="result-text">{output.text}</p>
      <Moments file={fileOf(input)} moments={moments} noun="Segments" />
    </div>
  );
}

interface Moment {
  /** Seconds. */
  readonly start: number | null;
  readonly end?: number | null | undefined;
  readonly label: string;
  readonly note?: string | undefined;
  readonly confidence: number | null;
}

/** What was found over time. A click plays the recording from there. */
function Moments({
  file,
  moments,
  noun,
}: {
  readonly file: File | null;
  readonly moments: readonly Moment[];
  readonly noun: string;
}) {
  const url = useObjectUrl(file);
  const player = useRef<HTMLVideoElement>(null);
  const play = (start: number | null) => {
    if (player.current === null || start === null) return;
    player.current.currentTime = start;
    // A browser may refuse to play before the person pressed play.
    void player.current.play().catch(() => {});
  };
  return (
    <>
      {url !== null && (
        // biome-ignore lint/a11y/useMediaCaption: the list below says what is in it
        <video
          ref={player}
          controls
          src={url}
          className="player"
          data-audio={file?.type.startsWith("audio/") || undefined}
          aria-label="What was sent"
        />
      )}
      <ol className="moment-list" aria-label={noun}>
        {moments.map(({ start, end, label, note, confidence }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: moments have no name but their place
          <li key={index}>
            <button type="button" className="moment" onClick={() => play(start)}>
              <span className="moment-time">
                {toClock(start)}
                {end != null && `–${toClock(end)}`}
              </span>
              <FoundText label={label} detail={note} confidence={confidence} />
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

function toClock(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return "";
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;
}

export function VideoLabelsView({ input, output }: ResultProps<"video/label_detection_async">) {
  const moments = (output.labels ?? []).flatMap(({ name, confidence, category = [], timestamp = [] }) =>
    (timestamp.length === 0 ? [{ start: null, end: null }] : timestamp).map(({ start, end }) => ({
      start,
      end,
      label: name,
      note: category.join(", ") || undefined,
      confidence,
    })),
  );
  return <Moments file={fileOf(input)} moments={moments.toSorted(byStart)} noun="Labels" />;
}

function byStart(one: Moment, other: Moment): number {
  return (one.start ?? 0) - (other.start ?? 0);
}

export function ShotsView({ input, output }: ResultProps<"video/shot_change_detection_async">) {
  const moments = (output.shotAnnotations ?? []).map(({ startTimeOffset, endTimeOffset }, index) => ({
    start: startTimeOffset,
    end: endTimeOffset,
    label: `Shot ${index + 1}`,
    confidence: null,
  }));
  return <Moments file={fileOf(input)} moments={moments} noun="Shots" />;
}

export function VideoTextView({ input, output }: ResultProps<"video/text_detection_async">) {
  const moments = (output.texts ?? []).map(({ text, frames = [] }) => ({
    start: frames[0]?.timestamp ?? null,
    end: frames.at(-1)?.timestamp ?? null,
    label: text,
    confidence: frames[0]?.confidence ?? null,
  }));
  return <Moments file={fileOf(input)} moments={moments.toSorted(byStart)} noun="Texts" />;
}

export function ExplicitVideoView({ input, output }: ResultProps<"video/explicit_content_detection_async">) {
  const moments = (output.moderation ?? []).map(({ timestamp, category, confidence }) => ({
    start: timestamp,
    label: category,
    confidence,
  }));
  return moments.length === 0 ? (
    <Verdict title="Nothing explicit was found" tone="good" />
  ) : (
    <Moments file={fileOf(input)} moments={moments} noun="Findings" />
  );
}

export function VideoDeepfakeView({ output }: ResultProps<"video/deepfake_detection_async">) {
  const { prediction, average_score, details_per_frame = [] } = output;
  return (
    <div className="result-stack">
      <Verdict title={prediction} tone={prediction === "deepfake" ? "bad" : "good"}>
        average score {formatPercent(average_score)}
      </Verdict>
      <Scores
        label="Frames"
        scores={details_per_frame.map(({ position, score }) => ({ label: `At ${toClock(position)}`, share: score }))}
      />
    </div>
  );
}
