// A small server that speaks as much of S3's protocol as the gateway uses: objects whole and in parts, ranges, lists, deletes.
// Invented after the public API reference; it checks that requests are signed, not the signature itself.

export interface TestS3 {
  readonly url: string;
  /** By key. */
  readonly objects: Map<string, StoredObject>;
  /** From now on every request is answered with this status; null: as usual. */
  failWith(status: number | null): void;
  /** From now on this part of every upload is refused, or accepted and not stored; null: as usual. */
  failPart(fault: PartFault | null): void;
  /** From now on downloads send half of the object and then nothing. */
  stallDownloads(): void;
  stop(): void;
}

export interface PartFault {
  readonly partNumber: number;
  readonly fault: "refused" | "lost";
}

export interface StoredObject {
  readonly bytes: Buffer;
  lastModified: number;
}

export const testBucket = "switchyard-test";

export function startS3(): TestS3 {
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Map<number, Buffer>>();
  let failure: number | null = null;
  let partFault: PartFault | null = null;
  let stalls = false;

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (failure !== null) return toError(failure, "InternalError");
    if (!request.headers.get("authorization")?.startsWith("AWS4-HMAC-SHA256 ")) return toError(403, "AccessDenied");
    const [, bucket, ...rest] = decodeURIComponent(pathname).split("/");
    if (bucket !== testBucket) return toError(404, "NoSuchBucket");
    const key = rest.join("/");
    const uploadId = searchParams.get("uploadId");
    if (key === "") return list(searchParams);
    if (request.method === "POST" && searchParams.has("uploads")) return begin(key);
    if (request.method === "POST" && uploadId !== null) return complete(key, uploadId);
    if (request.method === "PUT" && uploadId !== null) {
      const partNumber = Number(searchParams.get("partNumber"));
      const fault = partFault?.partNumber === partNumber ? partFault.fault : null;
      if (fault === "refused") return toError(403, "AccessDenied");
      const bytes = Buffer.from(await request.arrayBuffer());
      if (fault === null) uploads.get(uploadId)?.set(partNumber, bytes);
      return new Response(null, { headers: { etag: `"${partNumber}"` } });
    }
    if (request.method === "PUT") return put(key, Buffer.from(await request.arrayBuffer()));
    if (request.method === "DELETE") {
      if (uploadId === null) objects.delete(key);
      else uploads.delete(uploadId);
      return new Response(null, { status: 204 });
    }
    return get(key, request);
  }

  function begin(key: string): Response {
    const id = crypto.randomUUID();
    uploads.set(id, new Map());
    return xml(
      `<InitiateMultipartUploadResult><Bucket>${testBucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
  }

  function complete(key: string, uploadId: string): Response {
    const parts = [...(uploads.get(uploadId) ?? [])].sort(([left], [right]) => left - right);
    uploads.delete(uploadId);
    put(key, Buffer.concat(parts.map(([, bytes]) => bytes)));
    return xml(`<CompleteMultipartUploadResult><Key>${key}</Key><ETag>"e"</ETag></CompleteMultipartUploadResult>`);
  }

  function put(key: string, bytes: Buffer): Response {
    objects.set(key, { bytes, lastModified: Date.now() });
    return new Response(null, { headers: { etag: '"e"' } });
  }

  function get(key: string, request: Request): Response {
    const found = objects.get(key);
    if (found === undefined) return toError(404, "NoSuchKey");
    const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "") ?? [];
    if (request.method === "HEAD")
      return new Response(null, { headers: { "content-length": `${found.bytes.length}` } });
    if (stalls) return new Response(halfOf(found.bytes), { headers: { "content-length": `${found.bytes.length}` } });
    if (start === undefined) return new Response(new Uint8Array(found.bytes));
    const bytes = found.bytes.subarray(Number(start), end ? Number(end) + 1 : undefined);
    return new Response(new Uint8Array(bytes), { status: 206 });
  }

  function list(query: URLSearchParams): Response {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("start-after") ?? "";
    const most = Number(query.get("max-keys") ?? 1000);
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const shown = keys.slice(0, most).map((key) => {
      const { bytes, lastModified } = objects.get(key) as StoredObject;
      const at = new Date(lastModified).toISOString();
      return `<Contents><Key>${key}</Key><LastModified>${at}</LastModified><Size>${bytes.length}</Size></Contents>`;
    });
    return xml(
      `<ListBucketResult><Name>${testBucket}</Name><KeyCount>${shown.length}</KeyCount><IsTruncated>${keys.length > most}</IsTruncated>${shown.join("")}</ListBucketResult>`,
    );
  }

  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, maxRequestBodySize: 2 ** 30, fetch: answer });
  return {
    url: server.url.origin,
    objects,
    failWith: (status) => {
      failure = status;
    },
    failPart: (fault) => {
      partFault = fault;
    },
    stallDownloads: () => {
      stalls = true;
    },
    stop: () => void server.stop(true),
  };
}

function halfOf(bytes: Buffer): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(bytes.subarray(0, bytes.length / 2))),
  });
}

function xml(text: string): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>${text}`, {
    headers: { "content-type": "application/xml" },
  });
}

function toError(status: number, code: string): Response {
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
    {
      status,
      headers: { "content-type": "application/xml" },
    },
  );
}
