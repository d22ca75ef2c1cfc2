// Draws samples in the browser: documents and a picture, as PNG files.

export interface TextStyle {
  readonly size?: number;
  readonly isBold?: boolean;
  readonly align?: "left" | "right" | "center";
  readonly color?: string;
  readonly font?: string;
}

export interface Pen {
  readonly canvas: CanvasRenderingContext2D;
  text(x: number, y: number, text: string, style?: TextStyle): void;
  line(x1: number, y1: number, x2: number, y2: number, width?: number): void;
  fill(x: number, y: number, width: number, height: number, color: string): void;
}

const ink = "#1a1d23";

export async function drawFile(
  name: string,
  width: number,
  height: number,
  draw: (pen: Pen) => void,
  background = "#ffffff",
): Promise<File> {
  const element = document.createElement("canvas");
  element.width = width;
  element.height = height;
  const canvas = element.getContext("2d");
  if (canvas === null) throw new Error("This browser cannot draw the sample. Choose a file of your own.");
  canvas.fillStyle = background;
  canvas.fillRect(0, 0, width, height);
  draw(toPen(canvas));
  const blob = await new Promise<Blob | null>((resolve) => element.toBlob(resolve, "image/png"));
  if (blob === null) throw new Error("This browser cannot draw the sample. Choose a file of your own.");
  return new File([blob], name, { type: "image/png" });
}

function toPen(canvas: CanvasRenderingContext2D): Pen {
  return {
    canvas,
    text(
      x,
      y,
      text,
      { size = 24, isBold = false, align = "left", color = ink, font = "Arial, Helvetica, sans-serif" } = {},
    ) {
      canvas.font = `${isBold ? "bold " : ""}${size}px ${font}`;
      canvas.textAlign = align;
      canvas.textBaseline = "alphabetic";
      canvas.fillStyle = color;
      canvas.fillText(text, x, y);
    },
    line(x1, y1, x2, y2, width = 2) {
      canvas.strokeStyle = ink;
      canvas.lineWidth = width;
      canvas.beginPath();
      canvas.moveTo(x1, y1);
      canvas.lineTo(x2, y2);
      canvas.stroke();
    },
    fill(x, y, width, height, color) {
      canvas.fillStyle = color;
      canvas.fillRect(x, y, width, height);
    },
  };
}
