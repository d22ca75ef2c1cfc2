// Draws the faces of examples/tasks/image: heads that are formulas, of nobody, so that the tasks about faces can be tried without a
// photograph of anyone. The pictures are committed; run this after it was changed.

import { join } from "node:path";
import { draw } from "../test/quality/vision/pictures.ts";

type Vector = readonly [x: number, y: number, z: number];

/** Lengths in units of a head that is some 2.4 high: x to the viewer's right, y up, z towards the viewer. */
interface Face {
  readonly skin: Vector;
  readonly lips: Vector;
  readonly iris: Vector;
  readonly hair: Vector;
  readonly brows: Vector;
  readonly cloth: Vector;
  readonly cheekWidth: number;
  readonly jawWidth: number;
  readonly chin: number;
  readonly eyeDistance: number;
  readonly eyeHeight: number;
  readonly eyeSlant: number;
  readonly browHeight: number;
  readonly browThickness: number;
  readonly noseLength: number;
  readonly noseWidth: number;
  readonly mouthWidth: number;
  readonly lipHeight: number;
  readonly smile: number;
  /** How high over the middle of the head hair begins, which falls over the ears. Null: bald. */
  readonly hairline: number | null;
  /** How thick; 0: shaved. */
  readonly beard: number;
}

interface Scene {
  readonly width: number;
  readonly height: number;
  /** Head heights that the picture is high. */
  readonly heads: number;
  /** Where the head is, in parts of the picture from its middle. */
  readonly shift: readonly [right: number, up: number];
  /** Degrees: to the viewer's right, up, clockwise. */
  readonly pose: Vector;
  /** Where the light comes from. */
  readonly light: Vector;
  readonly lightColour: Vector;
  readonly fill: number;
  readonly wall: readonly [top: Vector, bottom: Vector];
}

const folder = join(import.meta.dir, "..", "examples", "tasks", "image");
const headHeight = 2.45;
const eyeAway = 8;
/** Rays to a pixel, in a square: one alone makes stairs of every outline. */
const raysPerSide = 2;

const one: Face = {
  skin: [0.86, 0.63, 0.51],
  lips: [0.68, 0.24, 0.24],
  iris: [0.2, 0.3, 0.34],
  hair: [0.36, 0.18, 0.08],
  brows: [0.25, 0.13, 0.07],
  cloth: [0.2, 0.3, 0.45],
  cheekWidth: 0.6,
  jawWidth: 0.56,
  chin: 0.16,
  eyeDistance: 0.29,
  eyeHeight: 0.082,
  eyeSlant: 0.025,
  browHeight: 0.29,
  browThickness: 0.024,
  noseLength: 0.4,
  noseWidth: 0.1,
  mouthWidth: 0.24,
  lipHeight: 0.072,
  smile: 0.03,
  hairline: 0.84,
  beard: 0,
};

const two: Face = {
  skin: [0.33, 0.19, 0.12],
  lips: [0.33, 0.15, 0.13],
  iris: [0.12, 0.08, 0.05],
  hair: [0.5, 0.49, 0.47],
  brows: [0.34, 0.33, 0.31],
  cloth: [0.5, 0.2, 0.2],
  cheekWidth: 0.72,
  jawWidth: 0.72,
  chin: 0.27,
  eyeDistance: 0.33,
  eyeHeight: 0.05,
  eyeSlant: -0.02,
  browHeight: 0.23,
  browThickness: 0.055,
  noseLength: 0.48,
  noseWidth: 0.18,
  mouthWidth: 0.31,
  lipHeight: 0.055,
  smile: -0.01,
  hairline: null,
  beard: 0.055,
};

const pictures: readonly { name: string; face: Face; scene: Scene }[] = [
  {
    name: "face-one.jpg",
    face: one,
    scene: {
      width: 400,
      height: 440,
      heads: 1.5,
      shift: [0, 0.04],
      pose: [0, 0, 0],
      light: [-0.5, 0.6, 0.9],
      lightColour: [1, 0.97, 0.92],
      fill: 0.4,
      wall: [
        [0.55, 0.6, 0.62],
        [0.4, 0.45, 0.48],
      ],
    },
  },
  {
    name: "face-one-again.jpg",
    face: one,
    scene: {
      width: 480,
      height: 400,
      heads: 1.7,
      shift: [-0.08, 0.02],
      pose: [12, -3, 6],
      light: [0.7, 0.4, 0.8],
      lightColour: [1, 0.9, 0.78],
      fill: 0.3,
      wall: [
        [0.62, 0.5, 0.36],
        [0.42, 0.32, 0.22],
      ],
    },
  },
  {
    name: "face-two.jpg",
    face: two,
    scene: {
      width: 400,
      height: 440,
      heads: 1.55,
      shift: [0, 0.03],
      pose: [-8, 0, -3],
      light: [0.4, 0.7, 0.9],
      lightColour: [1, 0.98, 0.95],
      fill: 0.45,
      wall: [
        [0.5, 0.58, 0.45],
        [0.36, 0.42, 0.32],
      ],
    },
  },
];

for (const { name, face, scene } of pictures) {
  const bytes = await new Bun.Image(await drawFace(face, scene)).jpeg({ quality: 85 }).bytes();
  await Bun.write(join(folder, name), bytes);
  console.log(`${name}  ${Math.ceil(bytes.length / 1024)} KB`);
}

function drawFace(face: Face, scene: Scene): Promise<Uint8Array> {
  const { width, height, heads, shift, pose } = scene;
  const head = createHead(face);
  const turn = toTurn(pose);
  const unit = (heads * headHeight) / height;
  const origin = turn([0, 0, eyeAway]);
  const light = normalise(turn(scene.light));
  return draw(width, height, (column, row) => {
    let sum: Vector = [0, 0, 0];
    for (let index = 0; index < raysPerSide ** 2; index++) {
      const right = column + ((index % raysPerSide) + 0.5) / raysPerSide - width * (0.5 + shift[0]);
      const down = row + (Math.floor(index / raysPerSide) + 0.5) / raysPerSide - height * (0.5 - shift[1]);
      const ray = normalise(turn([right * unit, -down * unit, -eyeAway]));
      sum = along(sum, colourAlong(origin, ray, row / height), 1 / raysPerSide ** 2);
    }
    const grain = (hash(column, row, 7) - 0.5) * 3;
    return sum.map((light) => toByte(light, grain));
  });

  function colourAlong(from: Vector, ray: Vector, down: number): Vector {
    const away = march(head.distance, from, ray, 4, 12);
    if (away === null) return mix(scene.wall[0], scene.wall[1], down);
    const place = along(from, ray, away);
    const { colour, gloss, roughness } = head.surface(place);
    const normal = bend(slope(head.distance, place), place, roughness);
    const facing = dot(normal, light);
    const shadow = facing > 0 ? shadowAt(head.distance, along(place, normal, 0.01), light) : 0;
    const open = opennessAt(head.distance, place, normal);
    // Light that enters skin comes out again beside the spot, redder.
    const lit = [Math.max(0, facing * 0.85 + 0.15), Math.max(0, facing * 0.92 + 0.08), Math.max(0, facing)] as const;
    const half = normalise([light[0] - ray[0], light[1] - ray[1], light[2] - ray[2]]);
    const shine = gloss * Math.max(0, dot(normal, half)) ** (gloss > 0.5 ? 120 : 18) * shadow;
    const around = scene.fill * open * (0.75 + 0.25 * normal[1]);
    const shade = (channel: 0 | 1 | 2) =>
      colour[channel] * (scene.lightColour[channel] * lit[channel] * (0.15 + 0.85 * shadow) * 0.95 + around) + shine;
    return [shade(0), shade(1), shade(2)];
  }
}

type Distance = (x: number, y: number, z: number) => number;

interface Surface {
  readonly colour: Vector;
  readonly gloss: number;
  readonly roughness: number;
}

function createHead(face: Face) {
  const eyeX = face.eyeDistance;
  const [eyeY, eyeZ, eyeRadius] = [0.06, 0.53, 0.17];
  const noseY = eyeY - face.noseLength;
  const mouthY = noseY - 0.24;

  /** Negative inside the slit between the lids. */
  function lidSlit(side: number, y: number): number {
    const across = (side - eyeX) / 0.155;
    const arch = Math.max(-0.5, 1 - across * across);
    const up = y - eyeY - face.eyeSlant * across;
    const slit = Math.max(up - face.eyeHeight * arch, -up - face.eyeHeight * 0.75 * arch) * 0.8;
    return Math.max(slit, Math.abs(side - eyeX) - 0.155);
  }

  /** Negative where the lips are. */
  function lipOutline(side: number, y: number): number {
    const across = side / face.mouthWidth;
    const arch = Math.max(-0.5, 1 - across * across);
    const up = y - mouthY - face.smile * across * across;
    const bow = 1 - 0.25 * Math.exp(-((across / 0.16) ** 2));
    const lips = Math.max(up - face.lipHeight * arch * bow, -up - face.lipHeight * 1.35 * arch);
    return Math.max(lips, side - face.mouthWidth);
  }

  /** 0..1: moustache, cheeks and chin, but not the lips. */
  function beardAt(side: number, y: number, z: number): number {
    const cheek = smooth(face.mouthWidth * 0.8, face.jawWidth, side);
    const top = (mouthY + 0.16) * (1 - cheek) - 0.12 * cheek + 0.05 * noise(side * 20, y * 8, 5);
    const fromMouth = Math.hypot(side / (face.mouthWidth * 1.1), (y - mouthY) / (face.lipHeight * 1.6));
    const onFace = smooth(0, 0.25, z - 0.2 * cheek + (y + 1) * 0.3);
    return smooth(top, top - 0.1, y) * smooth(0.95, 1.5, fromMouth) * onFace;
  }

  const skin: Distance = (x, y, z) => {
    const side = Math.abs(x);
    let d = ellipsoid(x, y - 0.35, z + 0.15, 0.78, 0.88, 0.93);
    d = blend(d, ellipsoid(x, y + 0.33, z - 0.12, face.jawWidth, 0.84, 0.68), 0.15);
    d = blend(d, ellipsoid(x, y + 1.0, z - 0.48, face.chin * 1.25, face.chin, 0.2), 0.16);
    d = blend(d, ellipsoid(side - face.cheekWidth * 0.68, y + 0.2, z - 0.47, 0.19, 0.2, 0.18), 0.22);
    d = blend(d, ellipsoid(side - eyeX, y - 0.24, z - 0.62, 0.24, 0.07, 0.12), 0.1);
    d = -blend(-d, ellipsoid(side - eyeX * 0.97, y - eyeY - 0.01, z - 0.86, 0.2, 0.12, 0.2), 0.09);
    d = blend(
      d,
      ellipsoid(side - eyeX, y - eyeY, z - eyeZ, eyeRadius + 0.022, eyeRadius * 0.9, eyeRadius + 0.022),
      0.04,
    );
    d = Math.max(d, -Math.max(lidSlit(side, y), eyeZ - z));
    d = blend(d, capsule(x, y, z, [0, 0.14, 0.66], [0, noseY + 0.07, 0.92], 0.055, 0.085), 0.1);
    d = blend(d, ellipsoid(x, y - noseY - 0.06, z - 0.93, face.noseWidth * 0.85, 0.095, 0.1), 0.06);
    d = blend(d, ellipsoid(side - face.noseWidth, y - noseY - 0.03, z - 0.82, 0.07, 0.07, 0.1), 0.05);
    d = -blend(-d, ellipsoid(side - face.noseWidth * 0.6, y - noseY + 0.035, z - 0.87, 0.042, 0.03, 0.06), 0.02);
    d = blend(d, ellipsoid(x, y - mouthY, z - 0.62, face.mouthWidth * 1.1, 0.2, 0.2), 0.1);
    const up = mouthY + face.smile * (x / face.mouthWidth) ** 2;
    d = blend(
      d,
      ellipsoid(x, y - up - face.lipHeight * 0.5, z - 0.79, face.mouthWidth * 0.85, face.lipHeight * 0.62, 0.07),
      0.04,
    );
    d = blend(
      d,
      ellipsoid(x, y - up + face.lipHeight * 0.68, z - 0.78, face.mouthWidth * 0.7, face.lipHeight * 0.72, 0.08),
      0.04,
    );
    d = -blend(-d, ellipsoid(x, y - up, z - 0.92, face.mouthWidth * 0.9, 0.012, 0.14), 0.02);
    if (face.beard > 0 && y < 0.1) d -= face.beard * beardAt(side, y, z) * (0.75 + 0.5 * noise(x * 26, y * 9, z * 26));
    if (face.hairline === null) d = blend(d, ellipsoid(side - 0.79, y + 0.08, z + 0.1, 0.07, 0.23, 0.15), 0.05);
    return blend(d, capsule(x, y, z, [0, -0.7, -0.25], [0, -2, -0.35], 0.43, 0.5), 0.12);
  };
  const eyes: Distance = (x, y, z) => Math.hypot(Math.abs(x) - eyeX, y - eyeY, z - eyeZ) - eyeRadius;
  const hair: Distance = (x, y, z) => {
    if (face.hairline === null) return Number.POSITIVE_INFINITY;
    const uneven = 0.03 * noise(x * 17, y * 4, z * 17);
    const top = ellipsoid(x, y - 0.42, z + 0.2, 0.89, 0.94, 0.99);
    const all = blend(top, ellipsoid(x, y + 0.35, z + 0.3, 0.98, 1.25, 0.6), 0.2);
    const opening = Math.max((Math.hypot(x / 0.75, (y + 0.1) / (face.hairline + 0.1)) - 1) * 0.7, -0.1 - z);
    return -blend(-all, opening + uneven, 0.12) - uneven;
  };
  const cloth: Distance = (x, y, z) => ellipsoid(x, Math.max(0, y + 2.5), z + 0.35, 2.5, 0.95, 0.8);

  return {
    distance: ((x, y, z) => Math.min(skin(x, y, z), eyes(x, y, z), hair(x, y, z), cloth(x, y, z))) as Distance,
    surface([x, y, z]: Vector): Surface {
      const places = [skin(x, y, z), eyes(x, y, z), hair(x, y, z), cloth(x, y, z)];
      const nearest = places.indexOf(Math.min(...places));
      if (nearest === 1) return eyeSurface(Math.abs(x) - eyeX, y - eyeY);
      if (nearest === 2) {
        const strand = 0.65 + 0.7 * noise(x * 60, y * 8, z * 60);
        return { colour: scale(face.hair, strand), gloss: 0.12, roughness: 0.5 };
      }
      if (nearest === 3)
        return { colour: scale(face.cloth, 0.9 + 0.2 * noise(x * 60, y * 60, z * 60)), gloss: 0, roughness: 0.1 };
      return skinSurface(x, y, z);
    },
  };

  function eyeSurface(side: number, up: number): Surface {
    const away = Math.hypot(side, up);
    const white: Vector = [0.86, 0.83, 0.8];
    const ring = mix(scale(face.iris, 0.4), white, smooth(0.072, 0.084, away));
    const iris = mix(face.iris, ring, smooth(0.055, 0.072, away));
    return { colour: mix([0.02, 0.02, 0.02], iris, smooth(0.03, 0.037, away)), gloss: 0.9, roughness: 0 };
  }

  function skinSurface(x: number, y: number, z: number): Surface {
    const side = Math.abs(x);
    const blotches = 0.94 + 0.08 * noise(x * 5, y * 5, z * 5) + 0.05 * noise(x * 45, y * 45, z * 45);
    const red =
      Math.exp(-((side - 0.38) ** 2 + (y + 0.28) ** 2) / 0.05) +
      0.7 * Math.exp(-(x * x + (y - noseY - 0.05) ** 2) / 0.02);
    let colour = scale(mix(face.skin, [face.skin[0], face.skin[1] * 0.78, face.skin[2] * 0.76], 0.6 * red), blotches);
    if (z < 0) return { colour, gloss: 0.05, roughness: 0.05 };
    colour = mix(face.lips, colour, smooth(-0.012, 0.01, lipOutline(side, y)));
    const seam = Math.abs(y - mouthY - face.smile * (x / face.mouthWidth) ** 2);
    colour = mix(
      scale(face.lips, 0.25),
      colour,
      Math.max(smooth(0.003, 0.018, seam), smooth(0.85, 0.98, side / face.mouthWidth)),
    );
    // Lashes, stronger above.
    const lash = lidSlit(side, y);
    colour = mix([0.06, 0.04, 0.03], colour, smooth(0.004, y > eyeY ? 0.026 : 0.012, lash));
    const along = (side - eyeX + 0.19) / 0.42;
    const arch = eyeY + face.browHeight - 0.1 + 0.09 * Math.sin(Math.PI * Math.min(1, Math.max(0, along)) * 0.72);
    const thickness = face.browThickness * (1 - 0.6 * Math.max(0, along - 0.4));
    const stroke = Math.abs(y - arch) - thickness * (0.8 + 0.4 * noise(x * 50, y * 20, 3));
    const ends = smooth(-0.03, 0.05, along) * (1 - smooth(0.95, 1.05, along));
    colour = mix(colour, face.brows, 0.9 * ends * (1 - smooth(-0.012, 0.014, stroke)));
    const isNostril = Math.hypot((side - face.noseWidth * 0.6) / 0.05, (y - noseY + 0.02) / 0.03) < 1 && z < 0.92;
    if (isNostril) colour = scale(colour, 0.45);
    if (face.beard === 0) return { colour, gloss: 0.1, roughness: 0.06 };
    const beard = beardAt(side, y, z);
    const strands = scale(face.hair, 0.7 + 0.6 * noise(x * 70, y * 18, z * 70));
    return { colour: mix(colour, strands, smooth(0.02, 0.25, beard)), gloss: 0.06, roughness: 0.06 + 0.5 * beard };
  }
}

function ellipsoid(x: number, y: number, z: number, a: number, b: number, c: number): number {
  const near = Math.sqrt((x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2);
  const steep = Math.sqrt((x / (a * a)) ** 2 + (y / (b * b)) ** 2 + (z / (c * c)) ** 2);
  return steep === 0 ? -Math.min(a, b, c) : (near * (near - 1)) / steep;
}

function capsule(x: number, y: number, z: number, from: Vector, to: Vector, first: number, last: number): number {
  const [ux, uy, uz] = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
  const [vx, vy, vz] = [x - from[0], y - from[1], z - from[2]];
  const part = Math.min(1, Math.max(0, (ux * vx + uy * vy + uz * vz) / (ux * ux + uy * uy + uz * uz)));
  return (
    Math.sqrt((vx - ux * part) ** 2 + (vy - uy * part) ** 2 + (vz - uz * part) ** 2) - (first + (last - first) * part)
  );
}

/** The nearer of two, without an edge between them. */
function blend(first: number, second: number, softness: number): number {
  const share = Math.max(0, softness - Math.abs(first - second)) / softness;
  return Math.min(first, second) - (share * share * softness) / 4;
}

function march(distance: Distance, from: Vector, ray: Vector, start: number, end: number): number | null {
  for (let away = start, step = 0; away < end && step < 160; step++) {
    const d = distance(from[0] + ray[0] * away, from[1] + ray[1] * away, from[2] + ray[2] * away);
    if (d < 0.0008) return away;
    away += d * 0.75;
  }
  return null;
}

function shadowAt(distance: Distance, from: Vector, light: Vector): number {
  let open = 1;
  for (let away = 0.02, step = 0; away < 2 && step < 40; step++) {
    const d = distance(from[0] + light[0] * away, from[1] + light[1] * away, from[2] + light[2] * away);
    open = Math.min(open, (9 * d) / away);
    if (open < 0.01) return 0;
    away += Math.max(0.015, d * 0.8);
  }
  return open * open * (3 - 2 * open);
}

/** How much of the room light reaches a place. */
function opennessAt(distance: Distance, place: Vector, normal: Vector): number {
  let hidden = 0;
  for (const [away, weight] of [
    [0.04, 1],
    [0.1, 0.6],
    [0.22, 0.35],
  ] as const) {
    const [x, y, z] = along(place, normal, away);
    hidden += weight * (1 - distance(x, y, z) / away);
  }
  return Math.max(0.1, 1 - hidden * 0.5);
}

function slope(distance: Distance, [x, y, z]: Vector): Vector {
  const e = 0.002;
  return normalise([
    distance(x + e, y, z) - distance(x - e, y, z),
    distance(x, y + e, z) - distance(x, y - e, z),
    distance(x, y, z + e) - distance(x, y, z - e),
  ]);
}

function bend(normal: Vector, [x, y, z]: Vector, roughness: number): Vector {
  if (roughness === 0) return normal;
  const shake = (seed: number) => (noise(x * 30 + seed, y * 12, z * 30) - 0.5) * roughness;
  return normalise([normal[0] + shake(0), normal[1] + shake(50), normal[2] + shake(100)]);
}

/** From the room into the head's own axes. */
function toTurn([turn, nod, tilt]: Vector): (vector: Vector) => Vector {
  const [a, b, c] = [turn, nod, tilt].map((degrees) => (degrees * Math.PI) / 180) as [number, number, number];
  return ([x, y, z]) => {
    const [x1, y1] = [x * Math.cos(c) - y * Math.sin(c), x * Math.sin(c) + y * Math.cos(c)];
    const [y2, z2] = [y1 * Math.cos(b) - z * Math.sin(b), y1 * Math.sin(b) + z * Math.cos(b)];
    return [x1 * Math.cos(a) - z2 * Math.sin(a), y2, x1 * Math.sin(a) + z2 * Math.cos(a)];
  };
}

function along(from: Vector, direction: Vector, away: number): Vector {
  return [from[0] + direction[0] * away, from[1] + direction[1] * away, from[2] + direction[2] * away];
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function normalise(vector: Vector): Vector {
  return scale(vector, 1 / Math.hypot(...vector));
}

function scale([x, y, z]: Vector, factor: number): Vector {
  return [x * factor, y * factor, z * factor];
}

function mix(first: Vector, second: Vector, share: number): Vector {
  return along(first, [second[0] - first[0], second[1] - first[1], second[2] - first[2]], share);
}

function smooth(from: number, to: number, value: number): number {
  const part = Math.min(1, Math.max(0, (value - from) / (to - from)));
  return part * part * (3 - 2 * part);
}

function toByte(light: number, grain: number): number {
  return Math.min(255, Math.max(0, 255 * Math.max(0, light) ** (1 / 1.6) + grain));
}

/** 0..1, without steps. */
function noise(x: number, y: number, z: number): number {
  const [left, low, back] = [Math.floor(x), Math.floor(y), Math.floor(z)];
  const [u, v, w] = [smooth(0, 1, x - left), smooth(0, 1, y - low), smooth(0, 1, z - back)];
  const edge = (dy: number, dz: number) =>
    hash(left, low + dy, back + dz) * (1 - u) + hash(left + 1, low + dy, back + dz) * u;
  return (edge(0, 0) * (1 - v) + edge(1, 0) * v) * (1 - w) + (edge(0, 1) * (1 - v) + edge(1, 1) * v) * w;
}

/** 0..1, always the same for the same place. */
function hash(x: number, y: number, z: number): number {
  let mixed = Math.imul(x, 374761393) ^ Math.imul(y, 668265263) ^ Math.imul(z, 2147483647);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 1274126177);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}
