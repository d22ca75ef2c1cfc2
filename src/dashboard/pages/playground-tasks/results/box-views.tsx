// Results with places: the page, what was found on it, and the text that can be copied.

import { CopyButton } from "../../../components/copy-button.tsx";
import { BoxedPages } from "./boxed-pages.tsx";
import { type Found, foundIn } from "./boxes.ts";
import { fileOf, type ResultProps } from "./view.ts";

export function OcrView({ input, output }: ResultProps<"ocr/ocr">) {
  return <ReadText input={input} found={foundIn["ocr/ocr"](output)} text={output.text} />;
}

export function OcrPagesView({ input, output }: ResultProps<"ocr/ocr_async">) {
  return <ReadText input={input} found={foundIn["ocr/ocr_async"](output)} text={output.raw_text} />;
}

export function DataExtractionView({ input, output }: ResultProps<"ocr/data_extraction">) {
  return <BoxedPages file={fileOf(input)} found={foundIn["ocr/data_extraction"](output)} noun="Fields" />;
}

export function DocumentQuestionsView({ input, output }: ResultProps<"ocr/custom_document_parsing_async">) {
  return (
    <BoxedPages file={fileOf(input)} found={foundIn["ocr/custom_document_parsing_async"](output)} noun="Answers" />
  );
}

export function ObjectsView({ input, output }: ResultProps<"image/object_detection">) {
  return <BoxedPages file={fileOf(input)} found={foundIn["image/object_detection"](output)} noun="Objects" />;
}

export function FacesView({ input, output }: ResultProps<"image/face_detection">) {
  return <BoxedPages file={fileOf(input)} found={foundIn["image/face_detection"](output)} noun="Faces" />;
}

export function FaceCompareView({ input, output }: ResultProps<"image/face_compare">) {
  return <BoxedPages file={fileOf(input, "file2")} found={foundIn["image/face_compare"](output)} noun="Faces" />;
}

export function LogosView({ input, output }: ResultProps<"image/logo_detection">) {
  return <BoxedPages file={fileOf(input)} found={foundIn["image/logo_detection"](output)} noun="Logos" />;
}

export function LandmarksView({ input, output }: ResultProps<"image/landmark_detection">) {
  return <BoxedPages file={fileOf(input)} found={foundIn["image/landmark_detection"](output)} noun="Landmarks" />;
}

interface ReadTextProps extends Pick<ResultProps<"ocr/ocr">, "input"> {
  readonly found: readonly Omit<Found, "id">[];
  readonly text: string;
}

function ReadText({ input, found, text }: ReadTextProps) {
  return (
    <div className="result-stack">
      <BoxedPages file={fileOf(input)} found={found} noun="Lines" showsLabels={false} />
      {text !== "" && (
        <section>
          <h3>
            Text <CopyButton text={text} label="Copy the text" />
          </h3>
          <p className="result-text">{text}</p>
        </section>
      )}
    </div>
  );
}
