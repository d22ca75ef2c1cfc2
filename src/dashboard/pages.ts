// The pages, in the order of the navigation. To add one: a folder in pages/ whose page.tsx exports the component as default, and a row here.
// Each page is a chunk of its own, which the browser loads when the page is opened.

import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import {
  IconActivity,
  IconBoxes,
  IconDollar,
  IconFile,
  IconGauge,
  IconJobs,
  IconKey,
  IconPlayground,
  IconProvider,
  IconRouting,
  IconSettings,
  IconShield,
  IconTasks,
  IconTeam,
} from "./icons.ts";
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
  /** `gateway`: a role that is limited to a team may not open it. */
  readonly reach?: "gateway";
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
    path: "/jobs",
    title: "Jobs",
    section: "Monitor",
    icon: IconJobs,
    role: "viewer",
    Page: lazy(() => import("./pages/jobs/page.tsx")),
  },
  {
    path: "/jobs/:jobId",
    title: "Job",
    section: null,
    icon: IconJobs,
    role: "viewer",
    Page: lazy(() => import("./pages/job/page.tsx")),
  },
  {
    path: "/files",
    title: "Files",
    section: "Monitor",
    icon: IconFile,
    role: "viewer",
    Page: lazy(() => import("./pages/files/page.tsx")),
  },
  {
    path: "/playground",
    title: "Playground",
    section: "Try",
    icon: IconPlayground,
    role: "viewer",
    Page: lazy(() => import("./pages/playground-chat/page.tsx")),
  },
  {
    path: "/playground/responses",
    title: "Playground",
    section: null,
    icon: IconPlayground,
    role: "viewer",
    Page: lazy(() => import("./pages/playground-responses/page.tsx")),
  },
  {
    path: "/models",
    title: "Models",
    section: "Try",
    icon: IconBoxes,
    role: "viewer",
    Page: lazy(() => import("./pages/models/page.tsx")),
  },
  {
    path: "/playground/tasks",
    title: "Task playground",
    section: null,
    icon: IconPlayground,
    role: "viewer",
    Page: lazy(() => import("./pages/playground-tasks/page.tsx")),
  },
  {
    path: "/tasks",
    title: "Tasks",
    section: "Try",
    icon: IconTasks,
    role: "viewer",
    Page: lazy(() => import("./pages/tasks/page.tsx")),
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
  {
    path: "/providers",
    title: "Providers",
    section: "Operate",
    icon: IconProvider,
    role: "viewer",
    Page: lazy(() => import("./pages/providers/page.tsx")),
  },
  {
    path: "/routing",
    title: "Routing",
    section: "Operate",
    icon: IconRouting,
    role: "viewer",
    Page: lazy(() => import("./pages/routing/page.tsx")),
  },
  {
    path: "/settings",
    title: "Settings",
    section: "Operate",
    icon: IconSettings,
    role: "viewer",
    reach: "gateway",
    Page: lazy(() => import("./pages/settings/page.tsx")),
  },
  {
    path: "/audit",
    title: "Audit log",
    section: "Operate",
    icon: IconShield,
    role: "viewer",
    Page: lazy(() => import("./pages/audit/page.tsx")),
  },
];
