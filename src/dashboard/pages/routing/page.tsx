// Where requests go: aliases and deployments as drawings, and a preview of what one request would try.

import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router";
import { useApi } from "../../api/hooks.ts";
import type { Provider, ProviderList, RoutingTable } from "../../api/types.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { IconRouting } from "../../icons.ts";
import { useSession } from "../../session/session.ts";
import { Diagram } from "./diagram.tsx";
import { Preview } from "./preview.tsx";

export default function RoutingPage() {
  const table = useApi<RoutingTable>("/v3/manage/routing");
  const { team } = useSession();
  return (
    <Page
      title="Routing"
      description={
        <>
          Which provider answers a request, and what is tried when it fails.{" "}
          <Anchor href="/docs/routing" target="_blank" rel="noreferrer" size="sm" underline="always">
            How it works
          </Anchor>
        </>
      }
    >
      <Preview aliases={table.data?.aliases.map(({ name }) => name) ?? []} />
      <Loaded query={table} height={240}>
        {(data) => <Aliases table={data} />}
      </Loaded>
      {team === null && <Deployments />}
    </Page>
  );
}

const exampleFile = `aliases:
  fast: openai/gpt-5-mini                          # another name
  careful: [anthropic/claude-opus-5, openai/gpt-5] # in order
  spread:                                          # by weight
    - { model: groq/llama-4, weight: 2 }
    - { model: cerebras/llama-4, weight: 1 }`;

function Aliases({ table: { aliases } }: { readonly table: RoutingTable }) {
  return (
    <Panel title="Aliases" description="Names of your own for one model, for several in order, or by weight.">
      {aliases.length === 0 ? (
        <EmptyState icon={IconRouting} title="No aliases yet">
          Declare names in <code>switchyard.yaml</code> and reload the gateway. Programs then use the name, and you
          change the models behind it in one place.
          <CodeBlock label="Example" text={exampleFile} className="example-file" />
        </EmptyState>
      ) : (
        <div className="diagrams">
          {aliases.map(({ name, targets }) => (
            <Diagram
              key={name}
              label={`Models of the alias ${name}`}
              from={
                <>
                  <strong className="wrap-anywhere">{name}</strong>
                  <div className="muted">{describeOrder(targets)}</div>
                </>
              }
              branches={targets.map(({ model, share, configured }, index) => ({
                id: `${index} ${model}`,
                share,
                isReady: configured,
                content: <Target model={model} isReady={configured} />,
              }))}
            />
          ))}
        </div>
      )}
    </Panel>
  );
}

function describeOrder(targets: RoutingTable["aliases"][number]["targets"]): string {
  if (targets.length === 1) return "another name";
  return targets.some(({ weight }) => weight !== null) ? "by weight" : "in order";
}

function Target({ model, isReady }: { readonly model: string; readonly isReady: boolean }) {
  const slash = model.indexOf("/") + 1;
  return (
    <>
      <Link className="row-link diagram-name" to={`/models?model=${encodeURIComponent(model)}&state=all`} title={model}>
        <span className="muted">{model.slice(0, slash)}</span>
        <span className="truncate">{model.slice(slash)}</span>
      </Link>
      {!isReady && <span className="muted">not set up</span>}
    </>
  );
}

function Deployments() {
  const providers = useApi<ProviderList>("/v3/manage/providers");
  return (
    <Loaded query={providers} height={160}>
      {({ items }) => <DeploymentPanel items={items.filter(({ deployments }) => deployments.length > 1)} />}
    </Loaded>
  );
}

function DeploymentPanel({ items }: { readonly items: readonly Provider[] }) {
  return (
    <Panel
      title="Deployments"
      description="Providers with several keys or addresses: each takes its share of the calls."
    >
      {items.length === 0 ? (
        <Text size="sm" c="dimmed">
          Every provider has a single deployment. <code>providers.&lt;name&gt;.deployments</code> in{" "}
          <code>switchyard.yaml</code> adds others.
        </Text>
      ) : (
        <div className="diagrams">
          {items.map(({ name, title, deployments }) => {
            const total = deployments.reduce((sum, { weight }) => sum + weight, 0);
            return (
              <Diagram
                key={name}
                label={`Deployments of ${title}`}
                from={
                  <>
                    <strong>{title}</strong>
                    <div className="muted">{name}</div>
                  </>
                }
                branches={deployments.map((deployment) => ({
                  id: deployment.name,
                  share: deployment.weight / total,
                  isReady: deployment.offers.every(({ state }) => state === "closed"),
                  content: (
                    <>
                      <span className="truncate" title={deployment.base_url ?? undefined}>
                        {deployment.name.replace(`${name}#`, "")}
                      </span>
                      <span className="muted truncate">
                        {deployment.models === null ? "all models" : deployment.models.join(", ")}
                      </span>
                    </>
                  ),
                }))}
              />
            );
          })}
        </div>
      )}
    </Panel>
  );
}
