// Signs requests with AWS Signature Version 4. What is signed is what goes over the wire: the host, the path as it is
// spelled there, the content type and the vendor's own headers, and the body.

import { createHash } from "node:crypto";
import { RequestSigner } from "aws4";
import type { Authorizer } from "../authorizer.ts";

export interface AwsCredentials {
  readonly region: string;
  readonly service: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Comes with credentials that run out. */
  readonly sessionToken?: string;
}

/** Headers of a request that are part of its signature: others may be changed on the way. */
const signedHeader = /^(?:content-type|x-amz-.*)$/i;

export function createAwsAuthorizer(credentials: AwsCredentials, now: () => Date = () => new Date()): Authorizer {
  const { region, service, accessKeyId, secretAccessKey, sessionToken } = credentials;
  return {
    authorize({ method, host, path, body, headers }) {
      const datetime = toAmzDate(now());
      // Bytes are signed by their digest, which Amazon S3 requires of every request.
      const isText = typeof body === "string" && service !== "s3";
      const own: Record<string, string> = {
        "x-amz-date": datetime,
        ...(isText ? {} : { "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") }),
        ...(sessionToken ? { "x-amz-security-token": sessionToken } : {}),
      };
      const signed = { ...onlySigned(headers), ...own, host };
      const signer = new RequestSigner(
        { method, host, path, body: isText ? body : "", service, region, headers: signed, doNotModifyHeaders: true },
        { accessKeyId, secretAccessKey },
      );
      // Otherwise the library takes the time of its own clock.
      signer.datetime = datetime;
      return { ...own, authorization: signer.authHeader() };
    },
  };
}

function onlySigned(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => signedHeader.test(name)));
}

/** `20150830T123600Z` */
function toAmzDate(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}
