import { NavLink } from '@mantine/core'
import type { IconProps } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { listIssuesOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS, type PagePath } from '../../contract/page-paths.ts'
import { messages } from '../messages.ts'
import { pages } from '../pages/index.ts'
import { type MenuEntry, NAVIGATION_GROUPS } from '../pages/page.ts'
import classes from './navigation.module.css'

const IN_NAVIGATION = pages.flatMap(({ path, menu }) => {
  const { title, navigation } = menu ?? {}
  return title && navigation ? [{ path, title, ...navigation }] : []
})

/** Links to all pages. `onGo` is called on a click. */
export function Navigation({ onGo }: { onGo?: () => void }) {
  const open = useOpenIssues()
  return (
    <nav aria-label={messages.shell.main} className={classes.navigation}>
      {NAVIGATION_GROUPS.map((group) => (
        <div key={group} className={classes.group}>
          {group !== 'first' && <div className={classes.title}>{messages.shell.groups[group]}</div>}
          {IN_NAVIGATION.filter((entry) => entry.group === group).map((entry) => (
            <PageLink
              key={entry.path}
              {...entry}
              count={entry.path === PAGE_PATHS.issues.list ? open : 0}
              onGo={onGo}
            />
          ))}
        </div>
      ))}
    </nav>
  )
}

/** The first segment of a path, which the pages of an entry have in common. */
const sectionOf = (path: string) => path.split('/')[1]

interface PageLinkProps extends Pick<MenuEntry, 'title'> {
  path: PagePath
  icon: ComponentType<IconProps>
  count: number
  onGo?: () => void
}

function PageLink({ path, title, icon: Icon, count, onGo }: PageLinkProps) {
  const isHere = useLocation({ select: ({ pathname }) => sectionOf(pathname) }) === sectionOf(path)
  const label = title()
  return (
    <NavLink
      component={Link}
      to={path}
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
