// Signs people in, then shows the page of the address inside the frame.

import { Center, Loader } from "@mantine/core";
import { Component, type ReactNode, Suspense } from "react";
import { Navigate, Route, Routes, useLocation } from "react-router";
import { ErrorNotice } from "./components/error-notice.tsx";
import { Page } from "./components/page.tsx";
import { Frame } from "./frame.tsx";
import { pages } from "./pages.ts";
import { mayOpen, SessionContext, toPerson, useSession, useSessionQuery } from "./session/session.ts";
import { SignIn } from "./session/sign-in.tsx";

export function App() {
  const session = useSessionQuery();
  if (session.isPending) return <Waiting />;
  if (session.data === undefined)
    return (
      <main className="centred">
        <ErrorNotice error={session.error} onRetry={() => void session.refetch()} />
      </main>
    );
  if (session.data === null) return <SignIn />;
  return (
    <SessionContext value={session.data}>
      <Frame key={toPerson(session.data)}>
        <Pages />
      </Frame>
    </SessionContext>
  );
}

function Pages() {
  const session = useSession();
  const { pathname } = useLocation();
  return (
    <FailedPage key={pathname}>
      <Suspense fallback={<Waiting />}>
        <Routes>
          {pages
            .filter((page) => mayOpen(session, page))
            .map(({ path, Page }) => (
              <Route key={path} path={path} element={<Page />} />
            ))}
          <Route path="/overview" element={<Navigate to="/" replace />} />
          <Route path="*" element={<UnknownPage />} />
        </Routes>
      </Suspense>
    </FailedPage>
  );
}

function UnknownPage() {
  return (
    <Page title="Page not found" description="There is no such page, or your role does not include it.">
      {null}
    </Page>
  );
}

function Waiting() {
  return (
    <Center h="60vh">
      <Loader aria-label="Loading" />
    </Center>
  );
}

/** Shows what a page threw while it was rendered, such as a chunk that could not be loaded after an upgrade. */
class FailedPage extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <Page title="This page cannot be shown">
        <ErrorNotice error={this.state.error} onRetry={() => location.reload()} />
      </Page>
    );
  }
}
