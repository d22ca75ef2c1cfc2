// Credentials that are made for each call, or that run out: which kind needs which settings.

import { createAwsAuthorizer } from "./authorize/aws.ts";
import { createGoogleAuthorizer } from "./authorize/google.ts";
import type { ReadSetting } from "./configure.ts";

export interface Authorizer {
  /** Headers to add. A promise only when they have to be waited for. */
  authorize(request: OutgoingRequest): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly host: string;
  /** As it goes over the wire. */
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Made {
  readonly authorizer: Authorizer | null;
  readonly missing: string | null;
  readonly secrets: readonly string[];
}

export function createAuthorizer(
  kind: "aws-sigv4" | "google-service-account",
  key: string | null,
  readSetting: ReadSetting,
): Made {
  return kind === "google-service-account" ? authorizeGoogle(key) : authorizeAws(key, readSetting);
}

function authorizeGoogle(key: string | null): Made {
  if (!key) return { authorizer: null, missing: null, secrets: [] };
  const authorizer = createGoogleAuthorizer({ credentials: key });
  return { authorizer, missing: null, secrets: authorizer.secrets };
}

/** A plain key of the service goes as it is; else every request is signed. */
function authorizeAws(key: string | null, readSetting: ReadSetting): Made {
  if (key) return { authorizer: { authorize: () => ({ authorization: `Bearer ${key}` }) }, missing: null, secrets: [] };
  const settings: Record<string, string> = {};
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"]) {
    const value = readSetting(name);
    if (value === null) return { authorizer: null, missing: name, secrets: [] };
    settings[name] = value;
  }
  const sessionToken = readSetting("AWS_SESSION_TOKEN");
  const secretAccessKey = settings["AWS_SECRET_ACCESS_KEY"] ?? "";
  const authorizer = createAwsAuthorizer({
    region: settings["AWS_REGION"] ?? "",
    service: "bedrock",
    accessKeyId: settings["AWS_ACCESS_KEY_ID"] ?? "",
    secretAccessKey,
    ...(sessionToken === null ? {} : { sessionToken }),
  });
  return { authorizer, missing: null, secrets: [secretAccessKey, ...(sessionToken === null ? [] : [sessionToken])] };
}
