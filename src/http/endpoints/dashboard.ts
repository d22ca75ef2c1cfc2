// `/dashboard`: the web application. Every address below it is answered with the same page, because the application reads the address itself.

import { GatewayError, messageOf } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { type Reply, reply } from "../reply.ts";
import type { ServedRoute } from "../route.ts";
import { createDashboardLoader, type DashboardBundle, type DashboardManifest } from "./dashboard-bundle.ts";

const common = { method: "GET", key: "none" } as const;
const assetsPath = "/dashboard/assets";
// Their names contain a hash of their content.
const immutable = "public, max-age=31536000, immutable";

/** Not operations of the public interface, so they are not in the OpenAPI document. */
export function dashboardRoutes(log: Log): ServedRoute[] {
  const load = createDashboardLoader();

  async function sendPage(): Promise<Reply> {
    try {
      return toPage((await load()).manifest);
    } catch (error) {
      log.error("the dashboard could not be built", { error });
      return toUnavailablePage(messageOf(error));
    }
  }

  async function sendAsset(name: string, acceptEncoding: string): Promise<Reply> {
    const asset = await (await open()).read(name, acceptEncoding);
    if (asset === null) throw new GatewayError("not_found", "The dashboard has no such file. Reload its page.");
    return reply(asset.bytes, {
      headers: {
        "content-type": asset.type,
        "cache-control": immutable,
        vary: "accept-encoding",
        ...(asset.encoding !== null && { "content-encoding": asset.encoding }),
      },
    });
  }

  async function open(): Promise<DashboardBundle> {
    try {
      return await load();
    } catch (cause) {
      throw new GatewayError("not_found", "The dashboard has not been built.", { cause });
    }
  }

  return [
    {
      ...common,
      path: `${assetsPath}/{name}`,
      run: ({ params, request }) =>
        sendAsset((params as { readonly name: string }).name, request.headers.get("accept-encoding") ?? ""),
    },
    ...["/dashboard", "/dashboard/", "/dashboard/{path...}"].map((path) => ({ ...common, path, run: sendPage })),
    {
      ...common,
      path: "/",
      run({ request }) {
        // Programs keep the answer of an unknown path.
        if (!(request.headers.get("accept") ?? "").includes("text/html"))
          throw new GatewayError("not_found", "There is no route for /. GET /docs lists all routes.");
        return reply(null, { status: 303, headers: { location: "/dashboard", vary: "accept" } });
      },
    },
  ];
}

function toPage({ script, colorScheme, style, pdfWorker }: DashboardManifest): Reply {
  // The component library adds style elements while it runs, and marks them with this value.
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64");
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta id="style-nonce" nonce="${nonce}">
<meta name="pdf-worker" content="${assetsPath}/${pdfWorker}">
<title>Switchyard</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%234263eb'/%3E%3Cpath d='M7 10h6c5 0 5 12 10 12h2M7 22h6c5 0 5-12 10-12h2' fill='none' stroke='white' stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E">
<link rel="stylesheet" href="${assetsPath}/${style}">
<script src="${assetsPath}/${colorScheme}"></script>
<script type="module" src="${assetsPath}/${script}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p class="plain-page">The dashboard needs JavaScript. The same data is available over the HTTP interface, which is described under /docs.</p></noscript>
</body>
</html>
`;
  return reply(text, { headers: pageHeaders(nonce) });
}

function toUnavailablePage(reason: string): Reply {
  const text = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Switchyard</title></head>
<body>
<h1>The dashboard is not available</h1>
<p>The gateway works, but it has no dashboard to show: the package carries none, and it could not be built from the sources.</p>
<p>Run <code>npm ci</code> in the folder of switchyard, with development dependencies, and reload this page; or install a packed release.</p>
<pre>${escapeHtml(reason.slice(0, 2_000))}</pre>
</body>
</html>
`;
  return reply(text, { status: 503, headers: pageHeaders(null) });
}

/** Scripts come from this origin only, and no other page may show this one in a frame. */
function pageHeaders(styleNonce: string | null): Record<string, string> {
  const styles = styleNonce === null ? "'none'" : `'self' 'nonce-${styleNonce}'`;
  return {
    "content-type": "text/html; charset=utf-8",
    // The page is smaller than a packet, and each one has a nonce of its own.
    "cache-control": "no-store",
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      `style-src ${styles}`,
      "img-src 'self' data: blob:",
      "media-src 'self' data: blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
  };
}

function escapeHtml(text: string): string {
  const characters: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => characters[character] ?? "");
}
