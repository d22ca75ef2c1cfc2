// The frame around every page: navigation at the side, or behind a button on a phone, and the person's menu.

import {
  ActionIcon,
  Drawer,
  Menu,
  NavLink,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { Link, useLocation } from "react-router";
import { Mark } from "./components/mark.tsx";
import { notifyError } from "./components/notify-error.ts";
import { IconChevronDown, IconExternal, IconMenu, IconMoon, IconSignOut, IconSun } from "./icons.ts";
import { pages, sections } from "./pages.ts";
import { mayOpen, useSession, useSignIn } from "./session/session.ts";

export function Frame({ children }: { readonly children: ReactNode }) {
  const [isMenuOpen, menu] = useDisclosure();
  return (
    <div className="frame">
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <aside className="sidebar">
        <div className="sidebar-content">
          <Brand />
          <Navigation />
          <Person />
        </div>
      </aside>
      <header className="topbar">
        <ActionIcon onClick={menu.open} aria-label="Open the menu" size="lg">
          <IconMenu size={20} />
        </ActionIcon>
        <Brand />
      </header>
      <Drawer
        opened={isMenuOpen}
        onClose={menu.close}
        title={<Brand />}
        size={280}
        closeButtonProps={{ "aria-label": "Close the menu" }}
      >
        <div className="drawer-menu">
          <Navigation onNavigate={menu.close} />
          <Person />
        </div>
      </Drawer>
      <main id="content" className="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

export function Brand() {
  return (
    <Link to="/" className="brand">
      <Mark size={26} />
      Switchyard
    </Link>
  );
}

function Navigation({ onNavigate }: { readonly onNavigate?: () => void }) {
  const session = useSession();
  const { pathname } = useLocation();
  const allowed = pages.filter((page) => mayOpen(session, page));
  return (
    <nav className="navigation" aria-label="Pages">
      {sections.map((section) => {
        const links = allowed.filter((page) => page.section === section);
        if (links.length === 0) return null;
        return (
          <div key={section} className="navigation-section">
            <p className="navigation-title">{section}</p>
            {links.map(({ path, title, icon: Icon }) => {
              const isActive = path === "/" ? pathname === "/" : pathname === path || pathname.startsWith(`${path}/`);
              return (
                <NavLink
                  key={path}
                  component={Link}
                  to={path}
                  label={title}
                  leftSection={<Icon size={17} />}
                  active={isActive}
                  aria-current={isActive ? "page" : undefined}
                  onClick={onNavigate}
                  className="navigation-link"
                />
              );
            })}
          </div>
        );
      })}
    </nav>
  );
}

function Person() {
  const { name, role, team_name: team } = useSession();
  const { signOut } = useSignIn();
  return (
    <div className="person">
      <Menu position="top-start" width={220} shadow="md">
        <Menu.Target>
          <UnstyledButton className="person-button">
            <span className="person-name">
              <Text size="sm" fw={500} truncate>
                {name}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {team === null ? role : `${role} of ${team}`}
              </Text>
            </span>
            <IconChevronDown size={16} />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            component="a"
            href="/docs"
            target="_blank"
            rel="noreferrer"
            leftSection={<IconExternal size={15} />}
          >
            API reference
          </Menu.Item>
          <Menu.Item
            leftSection={<IconSignOut size={15} />}
            onClick={() => signOut().catch((error: unknown) => notifyError("You are still signed in", error))}
          >
            Sign out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ColorSchemeButton />
    </div>
  );
}

export function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme("light") === "dark";
  const label = isDark ? "Use light colours" : "Use dark colours";
  return (
    <Tooltip label={label}>
      <ActionIcon size="lg" onClick={() => setColorScheme(isDark ? "light" : "dark")} aria-label={label}>
        {isDark ? <IconSun size={17} /> : <IconMoon size={17} />}
      </ActionIcon>
    </Tooltip>
  );
}
