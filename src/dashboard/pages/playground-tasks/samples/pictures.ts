// A picture and a short clip that are drawn in the browser. Photographs show more of what a task can do: drop one of your own.

import { drawFile, type Pen } from "./draw.ts";

export function drawStillLife(): Promise<File> {
  return drawFile("still-life.png", 900, 600, (pen) => {
    const { canvas } = pen;
    const sky = canvas.createLinearGradient(0, 0, 0, 420);
    sky.addColorStop(0, "#dbe7f5");
    sky.addColorStop(1, "#f6ead9");
    canvas.fillStyle = sky;
    canvas.fillRect(0, 0, 900, 420);
    pen.fill(0, 420, 900, 180, "#b98a5e");
    drawCup(canvas);
    drawApple(canvas);
  });
}

function drawCup(canvas: CanvasRenderingContext2D): void {
  canvas.fillStyle = "#f5f5f2";
  canvas.beginPath();
  canvas.moveTo(230, 260);
  canvas.lineTo(440, 260);
  canvas.quadraticCurveTo(430, 470, 390, 490);
  canvas.lineTo(280, 490);
  canvas.quadraticCurveTo(240, 470, 230, 260);
  canvas.fill();
  canvas.lineWidth = 22;
  canvas.strokeStyle = "#f5f5f2";
  canvas.beginPath();
  canvas.ellipse(445, 345, 48, 58, 0, -1.4, 1.6);
  canvas.stroke();
  canvas.fillStyle = "#5a3a22";
  canvas.beginPath();
  canvas.ellipse(335, 262, 104, 24, 0, 0, 2 * Math.PI);
  canvas.fill();
}

function drawApple(canvas: CanvasRenderingContext2D): void {
  const skin = canvas.createRadialGradient(620, 380, 20, 650, 410, 110);
  skin.addColorStop(0, "#ff8a7a");
  skin.addColorStop(1, "#b3202a");
  canvas.fillStyle = skin;
  canvas.beginPath();
  canvas.ellipse(620, 415, 70, 82, 0.15, 0, 2 * Math.PI);
  canvas.ellipse(680, 415, 70, 82, -0.15, 0, 2 * Math.PI);
  canvas.fill();
  canvas.strokeStyle = "#5b3b1c";
  canvas.lineWidth = 9;
  canvas.beginPath();
  canvas.moveTo(650, 350);
  canvas.quadraticCurveTo(655, 320, 678, 300);
  canvas.stroke();
}

/** The picture with a sentence in it, for questions and for the search of texts. */
export function drawSign(): Promise<File> {
  return drawFile("sign.png", 900, 600, (pen: Pen) => {
    pen.fill(0, 0, 900, 600, "#20456b");
    pen.fill(60, 120, 780, 300, "#f7f4ea");
    pen.text(450, 230, "Welcome to Harbour Museum", { size: 52, isBold: true, align: "center" });
    pen.text(450, 320, "Open daily from 10 to 18", { size: 40, align: "center" });
  });
}

const clipMs = 2_000;
const clipWidth = 320;
const clipHeight = 180;

/** Two scenes of one second each, with a moving circle. */
export async function recordClip(): Promise<File> {
  const element = document.createElement("canvas");
  element.width = clipWidth;
  element.height = clipHeight;
  const canvas = element.getContext("2d");
  if (canvas === null || typeof MediaRecorder === "undefined")
    throw new Error("This browser cannot record the sample. Choose a video of your own.");
  const type = ["video/mp4", "video/webm"].find((one) => MediaRecorder.isTypeSupported(one)) ?? "video/webm";
  const stream = element.captureStream(15);
  const recorder = new MediaRecorder(stream, { mimeType: type });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
  recorder.start();
  const start = performance.now();
  await new Promise<void>((resolve) => {
    const draw = () => {
      const elapsed = performance.now() - start;
      drawFrame(canvas, elapsed);
      if (elapsed < clipMs) requestAnimationFrame(draw);
      else resolve();
    };
    draw();
  });
  recorder.stop();
  await ended;
  for (const track of stream.getTracks()) track.stop();
  return new File(parts, type === "video/mp4" ? "clip.mp4" : "clip.webm", { type });
}

function drawFrame(canvas: CanvasRenderingContext2D, elapsed: number): void {
  const isSecond = elapsed > clipMs / 2;
  canvas.fillStyle = isSecond ? "#123524" : "#f2e6c9";
  canvas.fillRect(0, 0, clipWidth, clipHeight);
  canvas.fillStyle = isSecond ? "#ffd166" : "#b3202a";
  canvas.beginPath();
  canvas.arc(40 + ((elapsed / clipMs) * clipWidth) / 1.3, 110, 26, 0, 2 * Math.PI);
  canvas.fill();
  canvas.font = "bold 24px Arial, sans-serif";
  canvas.fillText(isSecond ? "Second scene" : "First scene", 20, 40);
}
