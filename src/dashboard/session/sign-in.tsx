// The page that asks who the person is.

import { Alert, Anchor, Button, Divider, PasswordInput, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { z } from "zod";
import type { signInMethods } from "../../contract/sessions.ts";
import { ApiError, sessionPath, toUrl } from "../api/client.ts";
import { useClient } from "../api/hooks.ts";
import { Mark } from "../components/mark.tsx";
import { ColorSchemeButton } from "../frame.tsx";
import { IconAlert } from "../icons.ts";
import { useUrlState } from "../lib/url-state.ts";
import { useSignIn } from "./session.ts";

type SignInMethods = z.output<typeof signInMethods>;

export function SignIn() {
  const client = useClient();
  const methods = useQuery({
    queryKey: [`${sessionPath}/methods`],
    queryFn: ({ signal }) => client.call<SignInMethods>("GET", `${sessionPath}/methods`, { signal }),
    retry: false,
  });
  const oidc = methods.data?.oidc ?? null;
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <Mark size={44} />
        <Title order={1} size="h2">
          Sign in to Switchyard
        </Title>
        <OidcFailure />
        {oidc !== null && (
          <>
            <Button component="a" href={toUrl(oidc.url, { return_to: location.pathname })} fullWidth size="md">
              Continue with {oidc.name}
            </Button>
            <Divider label="or" labelPosition="center" w="100%" />
          </>
        )}
        <KeyForm isSecondary={oidc !== null} />
        <Text size="xs" c="dimmed">
          The first start of the gateway wrote a management key to <code>data/first-keys/management.key</code>. The
          dashboard exchanges it for a session and does not keep it. Programs use the{" "}
          <Anchor href="/docs" inherit underline="always">
            HTTP interface
          </Anchor>
          .
        </Text>
      </div>
      <div className="sign-in-scheme">
        <ColorSchemeButton />
      </div>
    </main>
  );
}

/** The gateway leads here when the issuer or the gateway refused the person. The code is shown, and nothing else of the address. */
function OidcFailure() {
  const url = useUrlState();
  const code = url.get("sign_in_error");
  if (!/^[a-z_]{1,64}$/.test(code)) return null;
  return (
    <Alert color="red" variant="light" icon={<IconAlert size={18} />} role="alert" w="100%">
      Signing in failed (<code>{code}</code>). Try again, or ask an administrator of the gateway.
    </Alert>
  );
}

function KeyForm({ isSecondary }: { readonly isSecondary: boolean }) {
  const { signIn } = useSignIn();
  const [key, setKey] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (key.trim() === "") {
      setError("Enter a management key.");
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await signIn(key.trim());
    } catch (failure) {
      setError(failure instanceof ApiError ? describe(failure) : "Signing in failed. Try again.");
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} className="sign-in-form">
      <PasswordInput
        label="Management key"
        placeholder="mgmt-sy-…"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
        error={error}
        errorProps={{ role: "alert" }}
        autoComplete="current-password"
        autoFocus
        size="md"
        leftSection={error === null ? undefined : <IconAlert size={16} />}
      />
      <Button type="submit" fullWidth size="md" loading={isBusy} variant={isSecondary ? "default" : "filled"}>
        Sign in
      </Button>
    </form>
  );
}

function describe({ status, message, requestId }: ApiError): string {
  const text = status === 401 ? "This key is not a valid management key." : message;
  return requestId === null ? text : `${text} (request ${requestId})`;
}
