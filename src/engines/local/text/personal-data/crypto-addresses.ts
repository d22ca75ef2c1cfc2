// Addresses of crypto currencies. All have a checksum, except those of Ethereum in one case.

import { createHash } from "node:crypto";
import type { PersonalDatum } from "./datum.ts";

type Form = readonly [label: string, pattern: RegExp, isValid: (address: string) => boolean];

const bitcoinAlphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const rippleAlphabet = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";

const forms: readonly Form[] = [
  // Bitcoin, Litecoin, Dogecoin, Dash, Zcash and Tron differ in the first letter only.
  [
    "BASE58_ADDRESS",
    /(?<![\p{L}\p{N}])[13LMDXtTm2n][1-9A-HJ-NP-Za-km-z]{25,34}(?![\p{L}\p{N}])/gu,
    (address) => isBase58(address, bitcoinAlphabet),
  ],
  [
    "XRP_ADDRESS",
    /(?<![\p{L}\p{N}])r[1-9A-HJ-NP-Za-km-z]{24,34}(?![\p{L}\p{N}])/gu,
    (address) => isBase58(address, rippleAlphabet),
  ],
  [
    "BECH32_ADDRESS",
    /(?<![\p{L}\p{N}])(?:bc1|tb1|ltc1|BC1|addr1|cosmos1)[02-9ac-hj-np-zAC-HJ-NP-Z]{25,110}(?![\p{L}\p{N}])/gu,
    isBech32,
  ],
  ["ETHEREUM_ADDRESS", /(?<![\p{L}\p{N}])0x[\da-fA-F]{40}(?![\p{L}\p{N}])/gu, isEthereum],
  ["MONERO_ADDRESS", /(?<![\p{L}\p{N}])[48][0-9AB][1-9A-HJ-NP-Za-km-z]{93}(?![\p{L}\p{N}])/gu, () => true],
];

export function findCryptoAddresses(text: string): PersonalDatum[] {
  return forms.flatMap(([label, pattern, isValid]) =>
    Array.from(text.matchAll(pattern))
      .filter(([address]) => isValid(address))
      .map((match) => ({ text: match[0], start: match.index, kind: "CRYPTO_ADDRESS", label, confidence: 0.97 })),
  );
}

/** The last four bytes are the start of the double SHA-256 of the others. */
function isBase58(address: string, alphabet: string): boolean {
  let number = 0n;
  for (const character of address) number = number * 58n + BigInt(alphabet.indexOf(character));
  const bytes = Buffer.from(number.toString(16).padStart(50, "0"), "hex");
  if (bytes.length !== 25 && bytes.length !== 26) return false;
  return sha256(sha256(bytes.subarray(0, -4)))
    .subarray(0, 4)
    .equals(bytes.subarray(-4));
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const bech32Generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** The constants of bech32 and bech32m. */
const bech32Constants = [1, 0x2bc830a3];

function isBech32(address: string): boolean {
  if (address !== address.toLowerCase() && address !== address.toUpperCase()) return false;
  const [prefix = "", rest = ""] = address.toLowerCase().split("1", 2);
  const codes = Array.from(prefix, (character) => character.charCodeAt(0));
  const values = Array.from(rest, (character) => bech32Alphabet.indexOf(character));
  if (values.includes(-1)) return false;
  let checksum = 1;
  for (const value of [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...values]) {
    const top = checksum >>> 25;
    checksum = ((checksum & 0x1ffffff) << 5) ^ value;
    for (const [index, generator] of bech32Generators.entries()) if ((top >> index) & 1) checksum ^= generator;
  }
  return bech32Constants.includes(checksum >>> 0);
}

/** An address in one case has no checksum; in mixed case, the cases of its letters are one (EIP-55). */
function isEthereum(address: string): boolean {
  const digits = address.slice(2);
  if (/^(.)\1*$/.test(digits) || /^0{20}/.test(digits)) return false;
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  const hash = keccak256(digits.toLowerCase());
  return Array.from(digits).every((digit, index) => {
    const isHigh = Number.parseInt(hash.charAt(index), 16) >= 8;
    return /\d/.test(digit) || (digit === digit.toUpperCase()) === isHigh;
  });
}

const mask = (1n << 64n) - 1n;
const rotations = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44];
const lanes = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1];

/** Keccak-256 of less than 136 ASCII characters, as hexadecimal digits. It is the padding that differs from SHA-3, which the runtime has. */
function keccak256(text: string): string {
  const block = Buffer.alloc(136);
  block.write(text, "latin1");
  block[text.length] = 0x01;
  block[135] = (block[135] ?? 0) | 0x80;
  const state = Array.from({ length: 25 }, (_, index) => (index < 17 ? block.readBigUInt64LE(index * 8) : 0n));
  permute(state);
  const output = Buffer.alloc(32);
  for (let index = 0; index < 4; index++) output.writeBigUInt64LE(state[index] ?? 0n, index * 8);
  return output.toString("hex");
}

/** Keccak-f[1600]. */
function permute(state: bigint[]): void {
  const lane = (index: number) => state[index] ?? 0n;
  let register = 1;
  for (let round = 0; round < 24; round++) {
    const columns = [0, 1, 2, 3, 4].map((x) => lane(x) ^ lane(x + 5) ^ lane(x + 10) ^ lane(x + 15) ^ lane(x + 20));
    for (let index = 0; index < 25; index++)
      state[index] = lane(index) ^ (columns[(index + 4) % 5] ?? 0n) ^ rotate(columns[(index + 1) % 5] ?? 0n, 1);
    let moved = lane(1);
    for (const [index, target] of lanes.entries()) {
      const next = lane(target);
      state[target] = rotate(moved, rotations[index] ?? 0);
      moved = next;
    }
    for (let row = 0; row < 25; row += 5) {
      const values = state.slice(row, row + 5);
      for (let x = 0; x < 5; x++)
        state[row + x] = (values[x] ?? 0n) ^ (~(values[(x + 1) % 5] ?? 0n) & mask & (values[(x + 2) % 5] ?? 0n));
    }
    // The constants of the rounds are the output of a shift register.
    let constant = 0n;
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) constant |= 1n << BigInt(2 ** bit - 1);
      register = (register << 1) ^ (register >> 7 ? 0x171 : 0);
    }
    state[0] = lane(0) ^ constant;
  }
}

function rotate(lane: bigint, count: number): bigint {
  return ((lane << BigInt(count)) | (lane >> BigInt(64 - count))) & mask;
}
