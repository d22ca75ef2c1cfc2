// The pages, in the order of the navigation. To add one: a folder in pages/ whose page.tsx exports the component as default, and a row here.
// Each page is a chunk of its own, which the browser loads when the page is opened.

import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { IconActivity, IconDollar, IconGauge, IconKey, IconTeam } from "./icons.ts";
import type { Role } from "./session/session.ts";

export const sections = ["Monitor", "Try", "Access", "Operate"] as const;

export interface DashboardPage {
  /** Below `/dashboard`, in the syntax of the router. */
  readonly path: string;
  readonly title: string;
  /** Null: not in the navigation. */
  readonly section: (typeof sections)[number] | null;
  readonly icon: ComponentType<{ readonly size?: number | string }>;
  /** The lowest role that may open it. */
  readonly role: Role;
  readonly Page: LazyExoticComponent<ComponentType>;
}

export const pages: readonly DashboardPage[] = [
  {
    path: "/",
    title: "Overview",
    section: "Monitor",
    icon: IconGauge,
    role: "viewer",
    Page: lazy(() => import("./pages/overview/page.tsx")),
  },
  {
    path: "/requests",
    title: "Requests",
    section: "Monitor",
    icon: IconActivity,
    role: "viewer",
    Page: lazy(() => import("./pages/requests/page.tsx")),
  },
  {
    path: "/requests/:requestId",
    title: "Request",
    section: null,
    icon: IconActivity,
    role: "viewer",
    Page: lazy(() => import("./pages/request/page.tsx")),
  },
  {
    path: "/spend",
    title: "Spend",
    section: "Monitor",
    icon: IconDollar,
    role: "viewer",
    Page: lazy(() => import("./pages/spend/page.tsx")),
  },
  {
    path: "/keys",
    title: "Keys",
    section: "Access",
    icon: IconKey,
    role: "viewer",
    Page: lazy(() => import("./pages/keys/page.tsx")),
  },
  {
    path: "/teams",
    title: "Teams",
    section: "Access",
    icon: IconTeam,
    role: "viewer",
    Page: lazy(() => import("./pages/teams/page.tsx")),
  },
];
