// Leads from an answer to its attempts and the formula of its cost.

import { Button } from "@mantine/core";
import { Link } from "react-router";
import { IconActivity } from "../icons.ts";

export function RequestLink({ requestId }: { readonly requestId: string }) {
  return (
    <Button
      component={Link}
      to={`/requests/${encodeURIComponent(requestId)}`}
      variant="subtle"
      color="gray"
      size="compact-xs"
      leftSection={<IconActivity size={14} />}
      aria-label={`Details of the request ${requestId}`}
    >
      Details
    </Button>
  );
}
