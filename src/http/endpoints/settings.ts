// GET /v3/manage/settings: the settings in force.

import { settingsInForce } from "../../contract/settings.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

export function settingsRoutes({
  describeSettings,
  readStatus,
}: Pick<RouteDependencies, "describeSettings" | "readStatus">): Route[] {
  return [
    defineRoute("retrieveSettings", "Show the settings in force", {
      tag: "Service",
      description:
        "Every setting with its value and where it comes from, as the processes that answer use it; secrets are hidden. Also the version, the store and the local engines.",
      method: "GET",
      path: "/v3/manage/settings",
      key: "management",
      role: "viewer",
      // They are the gateway's, not a team's.
      reach: "gateway",
      answers: [{ status: 200, description: "The settings.", schema: settingsInForce }],
      async run() {
        const status = await readStatus();
        return replyJson({ ...describeSettings(), configuration: status?.configuration ?? null });
      },
    }),
  ];
}
