// Which addresses are on the public internet. Everything that is not global unicast is refused by default.

import { BlockList, isIP } from "node:net";

// The special-purpose registries of IANA, and what is not global unicast.
const notPublicV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
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
];
// Inside 2000::/3 these are documentation, tunnels and benchmarks; outside of it nothing is global unicast.
const notPublicV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const blocked = new BlockList();
for (const subnet of notPublicV4) addSubnet(subnet, "ipv4");
for (const subnet of notPublicV6) addSubnet(subnet, "ipv6");
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** `address` is an IP literal without brackets. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked.check(address, "ipv4");
  if (family === 6) return globalUnicast.check(address, "ipv6") && !blocked.check(address, "ipv6");
  return false;
}

const localName = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa)\.?$/i;

/** Whether a URL's host may be public: a public address, or a name that is not local by its form. */
export function mayBePublicHost(hostname: string): boolean {
  const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  if (isIP(literal) !== 0) return isPublicAddress(literal);
  return hostname.includes(".") && !localName.test(hostname);
}

function addSubnet(subnet: string, family: "ipv4" | "ipv6"): void {
  const [network = "", prefix = ""] = subnet.split("/");
  blocked.addSubnet(network, Number(prefix), family);
}
