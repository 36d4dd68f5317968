import { NavLink } from '@mantine/core'
import {
  IconActivity,
  IconAlertTriangle,
  IconBell,
  IconCompass,
  IconFlask,
  IconGitCommit,
  IconLayoutDashboard,
  IconPlug,
  type IconProps,
  IconSend,
  IconShieldCheck,
  IconWorld,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps, useLocation, useMatchRoute } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { listIssuesOptions } from '#client/@tanstack/react-query.gen'
import { messages } from '../messages.ts'
import classes from './navigation.module.css'

interface Entry {
  name: keyof typeof messages.shell.pages
  to: NonNullable<LinkProps['to']>
  icon: ComponentType<IconProps>
  /** Second key of the shortcut, after `g`. */
  key: string
  /** Path prefix of the entry's pages; default: `to`. */
  under?: string
}

/** Navigation entries by group, in display order. */
export const NAVIGATION: readonly { group: keyof typeof messages.shell.groups | null; entries: readonly Entry[] }[] = [
  {
    group: null,
    entries: [
      { name: 'overview', to: '/', icon: IconLayoutDashboard, key: 'o' },
      { name: 'issues', to: '/issues', icon: IconAlertTriangle, key: 'i' },
    ],
  },
  {
    group: 'watch',
    entries: [
      { name: 'alerts', to: '/alerts', icon: IconBell, key: 'a' },
      { name: 'signals', to: '/signals', icon: IconActivity, key: 's' },
      { name: 'domains', to: '/domains', icon: IconWorld, key: 'd' },
    ],
  },
  {
    group: 'understand',
    entries: [
      { name: 'explore', to: '/explore/dictionary', under: '/explore', icon: IconCompass, key: 'e' },
      { name: 'changes', to: '/changes', icon: IconGitCommit, key: 'c' },
      { name: 'compliance', to: '/compliance', icon: IconShieldCheck, key: 'p' },
      { name: 'tests', to: '/tests', icon: IconFlask, key: 't' },
    ],
  },
  {
    group: 'connect',
    entries: [
      { name: 'integrations', to: '/integrations', icon: IconPlug, key: 'n' },
      { name: 'deliveries', to: '/deliveries', icon: IconSend, key: 'l' },
    ],
  },
]

/** Links to all pages. `onGo` is called on a click. */
export function Navigation({ onGo }: { onGo?: () => void }) {
  const open = useOpenIssues()
  return (
    <nav aria-label={messages.shell.main} className={classes.navigation}>
      {NAVIGATION.map(({ group, entries }) => (
        <div key={group} className={classes.group}>
          {group && <div className={classes.title}>{messages.shell.groups[group]}</div>}
          {entries.map((entry) => (
            <PageLink key={entry.name} entry={entry} count={entry.name === 'issues' ? open : 0} onGo={onGo} />
          ))}
        </div>
      ))}
    </nav>
  )
}

function PageLink({
  entry: { name, to, under, icon: Icon },
  count,
  onGo,
}: {
  entry: Entry
  count: number
  onGo?: () => void
}) {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const isBelow = useMatchRoute()({ to, fuzzy: to !== '/' }) !== false
  const isHere = under === undefined ? isBelow : path.startsWith(`${under}/`)
  const label = messages.shell.pages[name]
  return (
    <NavLink
      component={Link}
      to={to}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      aria-label={count > 0 ? `${label}, ${count}` : label}
      title={label}
      label={label}
      leftSection={<Icon size={16} stroke={1.75} aria-hidden />}
      // Drawn by CSS, because the accessible name already contains the count.
      rightSection={count > 0 && <span className={classes.count} data-count={count} aria-hidden />}
      onClick={onGo}
      classNames={{ label: classes.label, root: classes.link }}
    />
  )
}

/** Number of open issues; 0 while loading. */
function useOpenIssues(): number {
  const { data } = useQuery(listIssuesOptions({ query: { limit: 1 } }))
  return Object.values(data?.openCounts ?? {}).reduce((sum, count) => sum + count, 0)
}
