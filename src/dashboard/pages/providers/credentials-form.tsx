// Stores the credentials of a provider, or replaces its key, and shows whether the provider accepts them. Secrets go one way: the gateway
// never returns them.

import { Alert, Anchor, Button, Group, Modal, PasswordInput, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useApi, useChange } from "../../api/hooks.ts";
import type { ProviderDetail, ProviderTest, SetProvider, SettingsInForce } from "../../api/types.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { IconAlert, IconExternal } from "../../icons.ts";
import { providersPath } from "./paths.ts";
import { TestResults } from "./test-results.tsx";

interface CredentialsFormProps {
  readonly name: string;
  /** Replaces the key alone, after a test. */
  readonly isRotation?: boolean;
  readonly onClose: () => void;
}

export function CredentialsForm({ name, isRotation = false, onClose }: CredentialsFormProps) {
  const detail = useApi<ProviderDetail>(`${providersPath}/${encodeURIComponent(name)}`);
  const title = detail.data?.title ?? name;
  return (
    <Modal
      opened
      onClose={onClose}
      title={isRotation ? `Replace the key of ${title}` : `Set up ${title}`}
      closeButtonProps={{ "aria-label": "Close" }}
      size="lg"
    >
      {detail.data === undefined ? (
        detail.error === null ? (
          <Skeleton height={160} aria-label="Loading" role="status" />
        ) : (
          <ErrorNotice error={detail.error} onRetry={() => void detail.refetch()} />
        )
      ) : (
        <Fields name={name} detail={detail.data} isRotation={isRotation} onClose={onClose} />
      )}
    </Modal>
  );
}

interface FieldsProps extends Required<CredentialsFormProps> {
  readonly detail: ProviderDetail;
}

function Fields({ name, detail, isRotation, onClose }: FieldsProps) {
  const { access } = detail;
  const [hadCredentials] = useState(detail.stored.length > 0);
  const [apiKey, setApiKey] = useState("");
  const [address, setAddress] = useState("");
  const [further, setFurther] = useState<Readonly<Record<string, string>>>({});
  const settings = useApi<SettingsInForce>("/v3/manage/settings");
  const change = useChange<ProviderDetail>([providersPath, "/v3/models", "/v3/manage/routing"]);
  const test = useChange<ProviderTest>(["/v3/manage/usage"]);
  const path = `${providersPath}/${encodeURIComponent(name)}`;
  const isEncrypted = settings.data?.settings.find((one) => one.name === "encryption_key")?.value !== null;

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    test.reset();
    const filled = Object.fromEntries(Object.entries(further).filter(([, value]) => value !== ""));
    const body: SetProvider = {
      ...(apiKey !== "" && { api_key: apiKey }),
      ...(address !== "" && { base_url: address }),
      ...(Object.keys(filled).length > 0 && { settings: filled }),
    };
    try {
      if (isRotation) {
        await change.mutateAsync({ method: "POST", path: `${path}/rotate`, body });
        onClose();
        return;
      }
      const saved = await change.mutateAsync({ method: "PUT", path, body });
      if (saved.configured) await test.mutateAsync({ method: "POST", path: `${path}/test`, body: {} });
    } catch {
      // The mutations hold the error, which is shown below.
    }
  }

  const result = test.data;
  const isWorking = result !== undefined && result.ok !== false;
  const isMissing = change.data !== undefined && !change.data.configured;
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        {!isEncrypted && settings.data !== undefined && <NoEncryption />}
        {!isRotation && hadCredentials && (
          <Alert variant="light" color="orange" icon={<IconAlert size={18} />}>
            What is stored for this provider is replaced as a whole.
          </Alert>
        )}
        {access.key !== "none" && (
          <PasswordInput
            label={access.key === "required" ? "API key" : "API key, optional"}
            description={
              <>
                Or in the environment: <code>{access.variables[0]}</code>
              </>
            }
            placeholder="Paste the key"
            autoComplete="off"
            data-autofocus
            required={access.key === "required" && !isRotation}
            value={apiKey}
            error={change.error?.problemOf("api_key") ?? undefined}
            onChange={(event) => setApiKey(event.currentTarget.value.trim())}
            visibilityToggleButtonProps={{ "aria-label": "Show or hide the key" }}
          />
        )}
        {access.settings.map(({ name: setting, is_secret }) => {
          const field = {
            label: setting,
            autoComplete: "off",
            value: further[setting] ?? "",
            error: change.error?.problemOf(`settings.${setting}`) ?? undefined,
            onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
              setFurther({ ...further, [setting]: event.currentTarget.value.trim() }),
          };
          return is_secret ? (
            <PasswordInput
              key={setting}
              {...field}
              visibilityToggleButtonProps={{ "aria-label": `Show or hide ${setting}` }}
            />
          ) : (
            <TextInput key={setting} {...field} />
          );
        })}
        {!isRotation && (
          <TextInput
            label="Address, optional"
            description="For a proxy, a region or a server of your own."
            placeholder={access.address ?? "https://example.com/v1"}
            inputMode="url"
            value={address}
            error={change.error?.problemOf("base_url") ?? undefined}
            onChange={(event) => setAddress(event.currentTarget.value.trim())}
          />
        )}
        {change.error !== null && <ErrorNotice error={change.error} />}
        {isMissing && (
          <Alert variant="light" color="orange" icon={<IconAlert size={18} />} title="Stored, but not complete">
            {detail.title} still needs {change.data?.missing_setting}.
          </Alert>
        )}
        {test.error !== null && <ErrorNotice error={test.error} />}
        {result !== undefined && <TestResults test={result} />}
        {result?.ok === false && (
          <Text size="sm">They are stored all the same. Save others to replace them, or close and remove them.</Text>
        )}
        <Group justify="space-between" gap="xs">
          {/* Providers that the operator declared have no page. */}
          {access.docs.startsWith("https://") ? (
            <Anchor href={access.docs} target="_blank" rel="noreferrer" size="sm">
              <Group gap={4} wrap="nowrap">
                Documentation of the provider <IconExternal size={13} />
              </Group>
            </Anchor>
          ) : (
            <span />
          )}
          <Group gap="xs">
            <Button variant="default" onClick={onClose}>
              {isWorking ? "Done" : change.data === undefined ? "Cancel" : "Close"}
            </Button>
            {!isWorking && (
              <Button type="submit" loading={change.isPending || test.isPending}>
                {isRotation ? "Test and replace" : "Save and test"}
              </Button>
            )}
          </Group>
        </Group>
        <Text size="xs" c="dimmed">
          {isRotation
            ? "The new key is tried with one call first. Unless the provider accepts it, the old one stays."
            : "Keys are stored encrypted and never shown again. The test makes one small call, which may cost a fraction of a cent."}
        </Text>
      </Stack>
    </form>
  );
}

function NoEncryption() {
  return (
    <Alert variant="light" color="red" icon={<IconAlert size={18} />} title="The gateway has no encryption key">
      <Text size="sm">
        Keys are stored only encrypted. Set <code>SWITCHYARD_ENCRYPTION_KEY</code> to the output of this command and
        restart the gateway, or set the variable of the provider instead.
      </Text>
      <CodeBlock label="Command" text="openssl rand -base64 32" />
    </Alert>
  );
}
