import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createSealer, parseSealingKeys, SealError } from "../../src/lib/seal.ts";
import { catchError } from "../contracts/engines.ts";

const key = randomBytes(32);
const sealer = createSealer([key]);
const maxBytes = 3_000_000;
const context = ["responses", "body", "resp_1", "tenant"];
const text = (length: number) =>
  Buffer.from("The quick brown fox jumps over it. ".repeat(length / 35 + 1).slice(0, length));

describe("sealing", () => {
  test("a sealed value opens to the same bytes, whatever their number and kind", async () => {
    for (const length of [0, 1, 15, 16, 1023, 1024, 1025, 32_767, 32_768, 100_000, 3_000_000]) {
      for (const content of [text(length), randomBytes(length), Buffer.alloc(length)]) {
        const opened = await sealer.open(await sealer.seal(content, context), context, maxBytes);
        expect(opened.equals(content)).toBe(true);
      }
    }
  });

  test("envelopes that were stored before still open", async () => {
    // Made by the first version of the envelope: the key is 0, 1, 2 … 31.
    const stored = createSealer([randomBytes(32), Buffer.from(Array.from({ length: 32 }, (_, index) => index))]);
    const open = async (base64: string) =>
      (await stored.open(Buffer.from(base64, "base64"), ["table", "row"], maxBytes)).toString();
    expect(await open("AQC3MvbGGeCJ1Plovbi74xYCbYHJLgCZ79zlUT/R1I4Ou5vkNt4FBxYZWxSkNdV30llWxxY8ZFQBnY8bDcqr3A==")).toBe(
      "a short secret",
    );
    expect(
      await open(
        "AQG3MvbGGeCJ1LyrDCVw2hctpZaTfSssVgr8TnLhXD+zz7/MFmnX++EKV4D1mqX92vi3SkGBqhymd6oZxSO6VUD90ROpoN5ar7VgQ+SY9LvT",
      ),
    ).toBe("a long secret ".repeat(100));
  });

  test("an envelope says whether the current key sealed it", async () => {
    const [older, newer] = [createSealer([key]), createSealer([randomBytes(32), key])];
    const envelope = await older.seal(text(10), context);
    expect([older.isSealedWithFirst(envelope), newer.isSealedWithFirst(envelope)]).toEqual([true, false]);
    const again = await newer.seal(await newer.open(envelope, context, maxBytes), context);
    expect([older.isSealedWithFirst(again), newer.isSealedWithFirst(again)]).toEqual([false, true]);
  });

  test("an envelope opens from a part of a larger array, as databases hand them out", async () => {
    const envelope = await sealer.seal(text(2000), context);
    const around = new Uint8Array(envelope.length + 20);
    around.set(envelope, 7);
    const opened = await sealer.open(around.subarray(7, 7 + envelope.length), context, maxBytes);
    expect(opened.equals(text(2000))).toBe(true);
  });

  test("an envelope shows nothing of its content, and the same content is sealed differently each time", async () => {
    const content = Buffer.from("a marker that nobody may read");
    const envelopes = await Promise.all(Array.from({ length: 100 }, () => sealer.seal(content, context)));
    for (const envelope of envelopes) expect(envelope.includes("marker")).toBe(false);
    expect(new Set(envelopes.map((envelope) => envelope.subarray(10).toString("hex"))).size).toBe(100);
    expect(new Set(envelopes.map((envelope) => envelope.subarray(10, 34).toString("hex"))).size).toBe(100);
  });

  test("long text is stored compressed, and content that does not compress grows by the envelope only", async () => {
    expect((await sealer.seal(text(10_000), context)).length).toBeLessThan(1_000);
    expect((await sealer.seal(randomBytes(10_000), context)).length).toBe(10_050);
    expect((await sealer.seal(text(1_000), context)).length).toBe(1_050);
  });

  test("content that is longer than the reader accepts is refused, compressed or not", async () => {
    for (const length of [1, 1023, 1024, 32_768, 32_769, 3_000_000]) {
      for (const content of [text(length), randomBytes(length)]) {
        const envelope = await sealer.seal(content, context);
        expect((await sealer.open(envelope, context, length)).equals(content)).toBe(true);
        await expectReason(sealer.open(envelope, context, length - 1), "too_large");
        await expectReason(sealer.open(envelope, context, 0), "too_large");
      }
    }
  });

  test("an envelope that was moved to another owner, row or column does not open", async () => {
    const envelope = await sealer.seal(text(100), context);
    const others = [
      ["responses", "body", "resp_1", "tenant2"],
      ["responses", "body", "resp_2", "tenant"],
      ["responses", "input", "resp_1", "tenant"],
      ["responses", "body", "resp_1tenant", ""],
      ["responses", "body", "resp_1", "tenant", ""],
      [],
    ];
    for (const other of others) await expectReason(sealer.open(envelope, other, maxBytes), "damaged");
  });

  test("an envelope with any one bit changed does not open", async () => {
    for (const content of [text(20), text(1500)]) {
      const envelope = await sealer.seal(content, context);
      for (let bit = 0; bit < envelope.length * 8; bit += 1) {
        const changed = Buffer.from(envelope);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(await catchError(sealer.open(changed, context, maxBytes))).toBeInstanceOf(SealError);
      }
    }
  });

  test("an envelope that was cut or extended anywhere does not open", async () => {
    const envelope = await sealer.seal(text(30), context);
    for (let length = 0; length < envelope.length; length += 1) {
      expect(await catchError(sealer.open(envelope.subarray(0, length), context, maxBytes))).toBeInstanceOf(SealError);
    }
    await expectReason(sealer.open(Buffer.concat([envelope, Buffer.of(0)]), context, maxBytes), "damaged");
  });

  test("after a key rotation, values of the old key open until the old key is removed", async () => {
    const [older, newer] = [randomBytes(32), randomBytes(32)];
    const before = createSealer([older]);
    const during = createSealer([newer, older]);
    const after = createSealer([newer]);
    const first = await before.seal(text(50), context);
    const second = await during.seal(text(60), context);
    expect((await during.open(first, context, maxBytes)).equals(text(50))).toBe(true);
    expect((await after.open(second, context, maxBytes)).equals(text(60))).toBe(true);
    await expectReason(after.open(first, context, maxBytes), "unknown_key");
    await expectReason(before.open(second, context, maxBytes), "unknown_key");
  });

  test("bytes that are not an envelope, or an envelope of a later version, are reported as such", async () => {
    const envelope = await sealer.seal(text(50), context);
    await expectReason(sealer.open(new Uint8Array(), context, maxBytes), "unknown_form");
    await expectReason(
      sealer.open(Buffer.from(`{"plain": "${"JSON ".repeat(20)}"}`), context, maxBytes),
      "unknown_form",
    );
    await expectReason(
      sealer.open(Buffer.concat([Buffer.of(2), envelope.subarray(1)]), context, maxBytes),
      "unknown_form",
    );
  });

  test("an error contains neither the key nor the content", async () => {
    const content = Buffer.from("a marker that nobody may read");
    const envelope = await sealer.seal(content, context);
    const error = await catchError(sealer.open(envelope, ["elsewhere"], maxBytes));
    const printed = Bun.inspect(error);
    for (const secret of ["marker", key.toString("hex"), key.toString("base64")]) expect(printed).not.toContain(secret);
  });

  test("no key, or one of another length, is refused at once", () => {
    expect(() => createSealer([])).toThrow("needs a key");
    expect(() => createSealer([randomBytes(16)])).toThrow("has 32 bytes, not 16");
    expect(() => createSealer([randomBytes(32), randomBytes(33)])).toThrow("has 32 bytes, not 33");
  });
});

describe("the setting with the sealing keys", () => {
  test("a key is 32 bytes in base64 of either alphabet, padded or not, or in hexadecimal", () => {
    for (let round = 0; round < 200; round += 1) {
      const bytes = randomBytes(32);
      const base64 = bytes.toString("base64");
      const spellings = [base64, base64.replace("=", ""), bytes.toString("base64url"), bytes.toString("hex")];
      for (const spelling of [...spellings, bytes.toString("hex").toUpperCase(), ` ${base64}\n`]) {
        expect(parseSealingKeys(spelling)).toEqual([bytes]);
      }
    }
  });

  test("several keys keep their order", () => {
    const keys = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const written = keys.map((one) => one.toString("base64"));
    expect(parseSealingKeys(written.join(","))).toEqual(keys);
    expect(parseSealingKeys(written.join(" , \n"))).toEqual(keys);
  });

  test("anything else is refused, with what to do and without repeating it", () => {
    const good = randomBytes(32).toString("base64");
    const wrong = [
      "correct horse battery staple correct horse",
      randomBytes(31).toString("base64"),
      randomBytes(33).toString("base64"),
      randomBytes(16).toString("hex"),
      `${good}=`,
      `${good.slice(0, 42)}B=`,
      `${good.slice(1)}!`,
    ];
    for (const written of wrong) {
      expect(() => parseSealingKeys(written)).toThrow(/key 1 is not 32 bytes in base64 or hexadecimal: .*openssl rand/);
    }
    expect(() => parseSealingKeys(`${good} nonsense`)).toThrow(/^key 2 is not 32 bytes/);
    expect(() => parseSealingKeys(`${good},nonsense`)).not.toThrow("nonsense");
    for (const empty of ["", "  ", ",,"]) expect(() => parseSealingKeys(empty)).toThrow("should hold a key");
    expect(() => parseSealingKeys(`${good},${Buffer.from(good, "base64").toString("hex")}`)).toThrow("same key twice");
    for (const byte of [0, 1, 255]) {
      expect(() => parseSealingKeys(Buffer.alloc(32, byte).toString("hex"))).toThrow("repeats one byte");
    }
  });
});

async function expectReason(work: Promise<unknown>, reason: SealError["reason"]): Promise<void> {
  const error = await catchError(work);
  expect(error).toBeInstanceOf(SealError);
  expect(error).toMatchObject({ reason });
}
