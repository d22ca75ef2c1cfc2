// Sign-in with OpenID Connect in a real browser. The issuer is another site (localhost) than the gateway (127.0.0.1), so the rules for
// cookies between sites apply as they do in production.

import { afterAll, expect, test } from "bun:test";
import { sharedBrowser } from "../support/browser.ts";
import { startIssuer } from "../support/oidc-issuer.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const issuer = await startIssuer({ host: "localhost" });
afterAll(() => issuer.stop());
const oidc = {
  issuer: issuer.url,
  client_id: issuer.clientId,
  client_secret: issuer.clientSecret,
  name: "Example Login",
  roles: [{ group: "gateway-admins", role: "administrator" }],
};
const gateway = await sharedGateway({ config: { oidc } });
const browser = await sharedBrowser();

test("a person signs in at the issuer, works, and signs out", async () => {
  await using opened = await browser.openPage(`${gateway.url}/dashboard/keys`);
  const { page } = opened;
  await page.getByRole("link", { name: "Continue with Example Login" }).click();
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor({ state: "attached" });
  expect(new URL(page.url()).pathname).toBe("/dashboard/keys");
  const cookies = await page.context().cookies(gateway.url);
  expect(cookies.find(({ name }) => name === "switchyard_session")).toMatchObject({
    httpOnly: true,
    sameSite: "Strict",
  });
  expect(await page.evaluate("document.cookie")).toBe("");
  const status = await page.evaluate(async () => {
    const session = (await (await fetch("/v3/manage/session")).json()) as { csrf_token: string };
    const headers = { "x-switchyard-csrf": session.csrf_token };
    return (await fetch("/v3/manage/session", { method: "DELETE", headers })).status;
  });
  expect(status).toBe(204);
  await page.reload();
  await page.getByRole("link", { name: "Continue with Example Login" }).waitFor({ state: "attached" });
});

test("a page of another site cannot use the session", async () => {
  await using opened = await browser.openPage(`${gateway.url}/dashboard`);
  const { page } = opened;
  await page.getByRole("link", { name: "Continue with Example Login" }).click();
  await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
  await page.waitForFunction('fetch("/v3/manage/session").then((answer) => answer.ok)');
  const before = (await gateway.manage("GET", "/keys")) as { total: number };
  // The same browser, a page of the issuer's site.
  await page.goto(`${issuer.url}/keys`);
  const outcomes = await page.evaluate(async (url) => {
    const send = (headers: Record<string, string>) =>
      fetch(`${url}/v3/manage/keys`, {
        method: "POST",
        credentials: "include",
        mode: "no-cors",
        headers,
        body: '{"name":"x"}',
      });
    const answer = await send({ "content-type": "text/plain" });
    return answer.type;
  }, gateway.url);
  expect(outcomes).toBe("opaque");
  expect(((await gateway.manage("GET", "/keys")) as { total: number }).total).toBe(before.total);
});

test("a person without a role is told so", async () => {
  issuer.state.person = { sub: "di", groups: ["nobody"] };
  await using opened = await browser.openPage(`${gateway.url}/dashboard`);
  const { page } = opened;
  await page.getByRole("link", { name: "Continue with Example Login" }).click();
  await page.getByText("no_role").or(page.getByText(/role/i)).first().waitFor({ state: "attached" });
  expect(new URL(page.url()).searchParams.get("sign_in_error")).toBe("no_role");
});
