// Secrets that are recognized by their form: keys of the gateway and of vendors, tokens, and credentials in addresses. The only list of them, for
// traces, captured requests, the log and errors that quote a vendor.

// In JSON, the letter of an escaped line break stands directly before the key.
const start = String.raw`(?:\b|(?<=\\(?:[bfnrt]|u[\da-fA-F]{4})))`;
/** Beginnings that are hardly ever those of a word. */
const distinct = [
  "(?:sk|mgmt|pk|rk|gh[opsur]|xox[abeoprs]|xapp|gsk|nvapi|glpat|vck)[-_]",
  ...["github_pat_", "tgp_v1_", "whsec_", "tvly-", "npm_", "dop_v1_"],
].join("|");
/** Beginnings of names as well, such as `hf_hub_download` and `pplx-70b-online`: what follows must look like a key. */
const ambiguous = "(?:key|csk|xai|hf|pplx|r8|fw|jina|pa|fc)[-_]";
const keyLike = "(?:[A-Za-z0-9]{30,}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{12,})[A-Za-z0-9_-]*";
/** Some vendors mask a key that they quote. The limit keeps the time linear. */
const masked = String.raw`(?:[\w-]{0,32}\*{2}|[\w-]{2,32}(?:\.{3}|…))[\w*-]*`;

const forms = [
  `${start}(?:(?:${distinct})[A-Za-z0-9_*-]{8,}|(?:${ambiguous})${keyLike}|(?:${distinct}|${ambiguous})${masked})`,
  `${start}A(?:KIA|SIA)[A-Z0-9]{12,}`,
  String.raw`${start}AIza[\w-]{30,}`,
  String.raw`(?<!-)${start}eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+`,
  String.raw`${start}Bearer[\s_-]+[\w.~+/*-]{7,}[\w~+/*-]=*`,
  "-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
  String.raw`(?<=:\\?/\\?/)[^\s/@:]{1,256}:[^\s/@]{1,1024}(?=@)`,
];
const secret = new RegExp(forms.join("|"), "g");
const gatewayKey = new RegExp(`${start}(?:sk-sy-(?:sandbox-)?|mgmt-sy-)[A-Za-z0-9_-]{8,}`, "g");

export function hideSecretForms(text: string, mark: string): string {
  return text.replace(secret, mark);
}

/** Only the gateway's own keys: much faster, for lines of the log. */
export function hideGatewayKeys(text: string, mark: string): string {
  return text.includes("-sy-") ? text.replace(gatewayKey, mark) : text;
}
