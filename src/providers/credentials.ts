// Turns a provider's key into headers, parameters or an authorizer, by the kind of authorization in its row.

import { createAwsAuthorizer } from "./authorize/aws.ts";
import { createGoogleAuthorizer } from "./authorize/google.ts";
import type { Authorization, Authorizer } from "./provider.ts";
import { type Fill, MissingSetting, type ReadSetting, requireSetting } from "./settings.ts";

export interface Credentials {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Members of a JSON body, or fields of a form. */
  readonly members?: Readonly<Record<string, string>>;
  /** `service`: the service that the request is sent to. */
  readonly createAuthorizer?: (service: string) => Authorizer;
  /** Further secrets beside the key. */
  readonly secrets?: readonly string[];
}

interface CredentialOptions {
  readonly key: string | null;
  /** The setting to report when there is no key. */
  readonly keyName: string;
  readonly fill: Fill;
  readonly readSetting: ReadSetting;
}

export function readCredentials(
  auth: Authorization,
  { key, keyName, fill, readSetting }: CredentialOptions,
): Credentials {
  if (auth.kind === "none" || (auth.kind === "optional-bearer" && !key)) return {};
  if (auth.kind === "aws-sigv4" && !(auth.orBearer && key)) return readAwsCredentials(auth.service, readSetting);
  if (!key) throw new MissingSetting(keyName);
  const bearer = { headers: { authorization: `Bearer ${key}` } };
  switch (auth.kind) {
    case "bearer":
    case "optional-bearer":
    case "aws-sigv4":
      return bearer;
    case "header":
      if (auth.orToken && isToken(key)) return bearer;
      return { headers: { [auth.name.toLowerCase()]: `${fill(auth.prefix ?? "")}${key}` } };
    case "query":
      return { query: { [auth.name]: key } };
    case "member":
      return { members: { [auth.name]: key } };
    case "basic": {
      const encoded = Buffer.from(toPair(auth, key, fill)).toString("base64");
      return { headers: { authorization: `Basic ${encoded}` }, secrets: [encoded] };
    }
    case "google-service-account": {
      const authorizer = createGoogleAuthorizer({ credentials: key });
      return { createAuthorizer: () => authorizer, secrets: authorizer.secrets };
    }
  }
}

function toPair({ user, password }: Extract<Authorization, { kind: "basic" }>, key: string, fill: Fill): string {
  if (user !== undefined) return `${fill(user)}:${key}`;
  return password === undefined ? key : `${key}:${fill(password)}`;
}

function readAwsCredentials(ownService: string | undefined, readSetting: ReadSetting): Credentials {
  const accessKeyId = requireSetting("AWS_ACCESS_KEY_ID", readSetting);
  const secretAccessKey = requireSetting("AWS_SECRET_ACCESS_KEY", readSetting);
  const region = requireSetting("AWS_REGION", readSetting);
  const sessionToken = readSetting("AWS_SESSION_TOKEN");
  const session = sessionToken === null ? {} : { sessionToken };
  return {
    createAuthorizer: (service) =>
      createAwsAuthorizer({ region, service: ownService ?? service, accessKeyId, secretAccessKey, ...session }),
    secrets: [secretAccessKey, ...(sessionToken === null ? [] : [sessionToken])],
  };
}

/** A JWT has three parts of base64url, the first of which is a JSON object. */
function isToken(key: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(key);
}
