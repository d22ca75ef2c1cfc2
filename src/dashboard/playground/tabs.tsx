// The parts of the playground, as links at the top of each of them.

import { Link, useLocation } from "react-router";

const parts = [
  { path: "/playground", title: "Chat" },
  { path: "/playground/responses", title: "Responses" },
  { path: "/playground/tasks", title: "Tasks" },
];

export function PlaygroundTabs() {
  const { pathname } = useLocation();
  return (
    <nav className="playground-tabs" aria-label="Parts of the playground">
      {parts.map(({ path, title }) => (
        <Link key={path} to={path} aria-current={pathname === path ? "page" : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
