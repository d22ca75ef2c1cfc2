// A real name server on loopback, over UDP, with names that a test gives. What is not in its table does not exist.

import { createSocket, type RemoteInfo } from "node:dgram";
import { isIP } from "node:net";

/** All addresses of a name, another name that it stands for, or a failure. Silence is an answer that never comes. */
export type DnsAnswer = readonly string[] | { readonly cname: string } | "nxdomain" | "servfail" | "refused" | "silent";

export interface DnsServer {
  /** `address:port`. */
  readonly address: string;
  /** Each lookup of a name takes the next of its answers, the last one again and again. */
  set(name: string, ...answers: DnsAnswer[]): void;
  /** How often the IPv4 addresses of a name were asked for. */
  lookups(name: string): number;
  stop(): Promise<void>;
}

interface Question {
  readonly name: string;
  readonly type: number;
  /** Its bytes, for the answer repeats them. */
  readonly bytes: Buffer;
}

const types = { A: 1, CNAME: 5, SOA: 6, AAAA: 28 } as const;
const codes = { found: 0, servfail: 2, nxdomain: 3, refused: 5 } as const;
const internet = 1;
const headerLength = 12;
// A name in an answer may point to where it stood before: here to the question, which follows the header.
const pointerToQuestion = Buffer.from([0xc0, headerLength]);

export async function startDnsServer(names: Readonly<Record<string, readonly DnsAnswer[]>> = {}): Promise<DnsServer> {
  const table = new Map<string, readonly DnsAnswer[]>();
  const asked = new Map<string, number>();
  const socket = createSocket("udp4");

  function set(name: string, ...answers: DnsAnswer[]): void {
    table.set(name.toLowerCase(), answers);
    for (const type of Object.values(types)) asked.delete(`${name.toLowerCase()} ${type}`);
  }

  function nextAnswer(name: string, type: number): DnsAnswer {
    const answers = table.get(name) ?? ["nxdomain"];
    const before = asked.get(`${name} ${type}`) ?? 0;
    asked.set(`${name} ${type}`, before + 1);
    return answers[Math.min(before, answers.length - 1)] ?? "nxdomain";
  }

  socket.on("message", (message: Buffer, { port, address }: RemoteInfo) => {
    const question = readQuestion(message);
    const records: Buffer[] = [];
    let addresses = nextAnswer(question.name, question.type);
    let owner: Buffer = pointerToQuestion;
    // A name that stands for another is answered with that one's addresses, as resolvers do.
    while (typeof addresses === "object" && "cname" in addresses) {
      const target = encodeName(addresses.cname);
      records.push(encodeRecord(owner, types.CNAME, target));
      owner = target;
      addresses = nextAnswer(addresses.cname, question.type);
    }
    if (addresses === "silent") return;
    if (typeof addresses === "string") return send(codes[addresses]);
    const family = question.type === types.AAAA ? 6 : question.type === types.A ? 4 : 0;
    for (const one of addresses)
      if (isIP(one) === family) records.push(encodeRecord(owner, question.type, encodeAddress(one)));
    send(codes.found);

    function send(code: number): void {
      // How long nothing is to be remembered stands in the zone's own record: not at all.
      const zone = records.length === 0 ? [encodeRecord(pointerToQuestion, types.SOA, Buffer.alloc(22))] : [];
      socket.send(encodeMessage(message, question, code, records, zone), port, address);
    }
  });

  for (const [name, answers] of Object.entries(names)) set(name, ...answers);
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    set,
    lookups: (name) => asked.get(`${name.toLowerCase()} ${types.A}`) ?? 0,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = headerLength;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  return {
    name: labels.join(".").toLowerCase(),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(headerLength, end),
  };
}

function encodeMessage(
  query: Buffer,
  { bytes }: Question,
  code: number,
  records: readonly Buffer[],
  zone: readonly Buffer[],
): Buffer {
  const header = Buffer.alloc(headerLength);
  query.copy(header, 0, 0, 2);
  // An answer, with recursion wished for and to be had.
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt16BE(zone.length, 8);
  return Buffer.concat([header, bytes, ...records, ...zone]);
}

function encodeRecord(owner: Buffer, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(internet, 2);
  // Not to be remembered by anybody: its time to live stays zero.
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fields, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function encodeAddress(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const [, dotted] = /:(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? [];
  const four = dotted === undefined ? null : encodeAddress(dotted).toString("hex");
  const plain = four === null ? address : address.replace(dotted ?? "", `${four.slice(0, 4)}:${four.slice(4)}`);
  const [left = "", right] = plain.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const [before, after] = [groups(left), groups(right ?? "")];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, "0")).join(""), "hex");
}
