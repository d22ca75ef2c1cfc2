// Distinguishes public addresses of the internet from all others. Addresses that are not global unicast are not public.

import { BlockList, isIP } from "node:net";

/** A set of address ranges. */
export interface AddressRanges {
  readonly isEmpty: boolean;
  /** `address` is an IP literal without brackets. An IPv4 address in its IPv6-mapped form counts as itself. */
  has(address: string): boolean;
}

/** Each range is a CIDR or a single address. The error for an invalid range quotes it. */
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

/** An address with or without a port; an IPv6 address with a port needs brackets. The error for an invalid address quotes it. */
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

/** Null for a name, and for an address with a zone ("fe80::1%eth0"), which belongs to an interface of this machine. */
function familyOf(address: string): "ipv4" | "ipv6" | null {
  const version = address.includes("%") ? 0 : isIP(address);
  return version === 0 ? null : version === 4 ? "ipv4" : "ipv6";
}

// The special-purpose registries of IANA, other ranges that are not global unicast, and the metadata address of a cloud that looks public.
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
  // Ranges within 2000::/3 for documentation, tunnels and benchmarks. Addresses outside of it are not global unicast.
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

/** Like `mayBePublicHost`, with exempt ranges. A local name is accepted then, because it may resolve to an exempt address. */
export function createHostRule(exempt: AddressRanges): (hostname: string) => boolean {
  if (exempt.isEmpty) return mayBePublicHost;
  return (hostname) => {
    const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    if (isIP(literal) !== 0) return exempt.has(literal) || isPublicAddress(literal);
    return isHostName(hostname);
  };
}

const label = /^[^.]{1,63}$/;

/** Whether a name has the form of a host name: no empty label, and no label or name that is too long for DNS. */
export function isHostName(hostname: string): boolean {
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return name.length <= 253 && name.split(".").every((part) => label.test(part));
}
