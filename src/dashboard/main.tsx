// The entry of the dashboard.

import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { ApiClient, ApiError } from "./api/client.ts";
import { ClientContext } from "./api/hooks.ts";
import { App } from "./app.tsx";
import { forgetSession, readSessionAgain } from "./session/session.ts";
import { theme } from "./theme.ts";

const basePath = "/dashboard";
const maxRetries = 2;

const nonce = document.getElementById("style-nonce")?.nonce ?? "";
// The library that keeps the page from scrolling behind a dialog reads this name.
Object.assign(globalThis, { __webpack_nonce__: nonce });

// The charts read it, and a browser in a POSIX locale states one that no formatter accepts.
if (!isLocale(navigator.language)) Object.defineProperty(navigator, "language", { value: "en-US" });

const client = new ApiClient();
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      // The same request would be refused again.
      retry: (failures, error) =>
        failures < maxRetries && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});
client.onSignedOut = () => forgetSession(client, queries);
client.readSession = () => readSessionAgain(client, queries);

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root element");
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Notifications position="bottom-right" />
      <ClientContext value={client}>
        <QueryClientProvider client={queries}>
          <BrowserRouter basename={basePath}>
            <App />
          </BrowserRouter>
        </QueryClientProvider>
      </ClientContext>
    </MantineProvider>
  </StrictMode>,
);

function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length > 0;
  } catch {
    return false;
  }
}
