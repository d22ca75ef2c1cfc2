// The characters that the recognition network knows. Its file has them among the metadata, which the runtime does not hand out.

import type { Buffer as NodeBuffer } from "node:buffer";

/** Fields of the message ModelProto of onnx.proto, and of its entries of metadata. */
const metadataField = 14;
const keyField = 1;
const valueField = 2;
const bytesType = 2;
const fixedSizes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/** By class of the network: class 0 stands for no character, the last one for a space. */
export function readCharacters(model: Uint8Array): string[] {
  for (const { field, content } of readFields(Buffer.from(model.buffer, model.byteOffset, model.byteLength))) {
    if (field !== metadataField) continue;
    const entry = [...readFields(content)];
    const textOf = (wanted: number) => entry.find((part) => part.field === wanted)?.content.toString("utf8") ?? "";
    if (textOf(keyField) === "character") return ["", ...textOf(valueField).split("\n"), " "];
  }
  throw new Error("The recognition network has no list of characters");
}

/** The fields of a message of protocol buffers that contain bytes. */
function* readFields(message: NodeBuffer): Generator<{ field: number; content: NodeBuffer }> {
  let at = 0;
  const readNumber = () => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = message.readUInt8(at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
  };
  while (at < message.length) {
    const tag = readNumber();
    const type = tag & 7;
    if (type === 0) readNumber();
    else if (type === bytesType) {
      const length = readNumber();
      yield { field: tag >>> 3, content: message.subarray(at, at + length) };
      at += length;
    } else {
      const size = fixedSizes[type];
      if (size === undefined) throw new Error(`Unknown type ${type} in a model file`);
      at += size;
    }
  }
}
