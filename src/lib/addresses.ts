// Which addresses are on the public internet. Everything that is not global unicast is refused by default.

import { BlockList, isIP } from "node:net";

/** A set of address ranges. */
export interface AddressRanges {
  readonly isEmpty: boolean;
  /** `address` is an IP literal without brackets. An IPv4 address in its IPv6-mapped form counts as itself. */
  has(address: string): boolean;
}

/** Each range is a CIDR, or an address that stands for itself. Throws an error that names the first one that is neither. */
export function createAddressRanges(ranges: readonly string[]): AddressRanges {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", prefix, ...rest] = range.trim().split("/");
    const family = familyOf(network);
    const longest = family === "ipv4" ? 32 : 128;
    const length = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (family === null || rest.length > 0 || length < 0 || length > longest)
      throw new Error(`"${range}" is not a range of addresses such as 10.0.0.0/8 or fd00::/8`);
    list.addSubnet(network, length, family);
  }
  return {
    isEmpty: ranges.length === 0,
    has(address) {
      const family = familyOf(address);
      return family !== null && list.check(address, family);
    },
  };
}

/** An address with a port or without one; brackets are needed where an IPv6 address has one. Throws an error that names what is neither. */
export function readServerAddress(text: string): string {
  const written = text.trim();
  const [, bracketed, dotted, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(written) ?? [];
  const address = bracketed ?? dotted ?? written;
  const version = address.includes("%") ? 0 : isIP(address);
  const isWhole = version === 4 ? bracketed === undefined : version === 6 && dotted === undefined;
  if (!isWhole || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)))
    throw new Error(`"${text}" is not an address such as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:5353`);
  if (port === undefined) return address;
  return version === 4 ? `${address}:${port}` : `[${address}]:${port}`;
}

/** A zone ("fe80::1%eth0") names an interface of this machine: such an address is none of ours to classify. */
function familyOf(address: string): "ipv4" | "ipv6" | null {
  const version = address.includes("%") ? 0 : isIP(address);
  return version === 0 ? null : version === 4 ? "ipv4" : "ipv6";
}

// The special-purpose registries of IANA, what is not global unicast, and a cloud's wire server on an address that looks public.
const notPublic = createAddressRanges([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  // Inside 2000::/3 these are documentation, tunnels and benchmarks; outside of it nothing is global unicast.
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);
const globalUnicast = createAddressRanges(["2000::/3"]);

/** `address` is an IP literal without brackets. */
export function isPublicAddress(address: string): boolean {
  const family = familyOf(address);
  if (family === "ipv4") return !notPublic.has(address);
  if (family === "ipv6") return globalUnicast.has(address) && !notPublic.has(address);
  return false;
}

const localName = /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home\.arpa)\.?$/;

/** Whether a URL's host may be public: a public address, or a name that is not local by its form. */
export function mayBePublicHost(hostname: string): boolean {
  const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  if (isIP(literal) !== 0) return isPublicAddress(literal);
  return hostname.includes(".") && isHostName(hostname) && !localName.test(hostname.toLowerCase());
}

/** As `mayBePublicHost`, where these ranges are exempt. What a local name leads to is known only when it is looked up. */
export function createHostRule(exempt: AddressRanges): (hostname: string) => boolean {
  if (exempt.isEmpty) return mayBePublicHost;
  return (hostname) => {
    const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    if (isIP(literal) !== 0) return exempt.has(literal) || isPublicAddress(literal);
    return isHostName(hostname);
  };
}

const label = /^[^.]{1,63}$/;

/** Whether a name can be looked up at all: the lengths that the domain name system allows, and no empty part. */
export function isHostName(hostname: string): boolean {
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return name.length <= 253 && name.split(".").every((part) => label.test(part));
}
