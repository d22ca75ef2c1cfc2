// The names of test/cases/bad-inputs.json, and where they lead.

import type { DnsAnswer } from "./dns-server.ts";

/** Where the receivers of tests listen: exempt from the guard, which the rest of loopback is not. */
export const receiverAddress = "127.0.0.2";
/** One whose certificate nobody vouches for. */
export const strangeAddress = "127.0.0.3";
export const gatewayName = "gateway.example.com";

export const receiverNames: Readonly<Record<string, readonly DnsAnswer[]>> = {
  "hooks.example.com": [[receiverAddress]],
  "files.example.com": [[receiverAddress]],
  "redirect.example": [[receiverAddress]],
  "selfsigned.example": [[strangeAddress]],
  "public.example": [["8.8.8.8", "2606:4700::1"]],
  [gatewayName]: [["8.8.4.4"]],
  "private.example": [["10.0.0.1"]],
  "mapped.example": [["::ffff:127.0.0.1"]],
  "mixed.example": [["8.8.8.8", "127.0.0.1"]],
  "nx.example": ["nxdomain"],
  "failing.example": ["servfail"],
  "slow-dns.example": ["silent"],
};
