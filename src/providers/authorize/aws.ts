// Signs requests with AWS Signature Version 4: the host, the path, the content type, the vendor's own headers and the body, as they are sent.

import { createHash } from "node:crypto";
import { RequestSigner } from "aws4";
import type { Authorizer } from "../provider.ts";

export interface AwsCredentials {
  readonly region: string;
  readonly service: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For temporary credentials. */
  readonly sessionToken?: string;
}

/** The headers that are signed; others may change on the way. */
const signedHeader = /^(?:content-type|x-amz-.*)$/i;

export function createAwsAuthorizer(credentials: AwsCredentials, now: () => Date = () => new Date()): Authorizer {
  const { region, service, accessKeyId, secretAccessKey, sessionToken } = credentials;
  return {
    authorize({ method, host, path, body, headers }) {
      const datetime = toAmzDate(now());
      // Bytes are signed by their digest, which Amazon S3 requires for every request.
      const isText = typeof body === "string" && service !== "s3";
      const own: Record<string, string> = {
        "x-amz-date": datetime,
        ...(isText ? {} : { "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") }),
        ...(sessionToken ? { "x-amz-security-token": sessionToken } : {}),
      };
      const covered = Object.entries(headers).filter(([name]) => signedHeader.test(name));
      const signed = { ...Object.fromEntries(covered), ...own, host };
      const signer = new RequestSigner(
        { method, host, path, body: isText ? body : "", service, region, headers: signed, doNotModifyHeaders: true },
        { accessKeyId, secretAccessKey },
      );
      // Without it, the library uses its own clock.
      signer.datetime = datetime;
      return { ...own, authorization: signer.authHeader() };
    },
  };
}

/** `20150830T123600Z` */
function toAmzDate(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}
